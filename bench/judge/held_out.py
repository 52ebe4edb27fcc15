"""Models of the embedded judge that never saw a set, one for each set: python bench/judge/held_out.py FILE

`bench.real_models --embedded FILE` judges the rows of a set with the models that were fitted without it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from examples import load_examples
from fit import fit_models


def main(target: Path) -> None:
    """Fit without each set in turn and write the weights as JSON."""
    examples = load_examples()
    held_out = {}
    for name in dict.fromkeys(example.name for example in examples):
        models = fit_models([example for example in examples if example.name != name])
        held_out[name] = {
            part: {
                "mean": model.mean.tolist(),
                "scale": model.scale.tolist(),
                "weights": model.weights.tolist(),
                "bias": model.bias,
            }
            for part, model in models.items()
        }
    target.write_text(json.dumps(held_out), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
