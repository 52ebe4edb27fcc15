"""Train the embedded judge from the shared data folder: python bench/judge/train.py [--only-weights]

Writes frequencies.json, words.npz and weights.json into the package, the same bytes for the same data."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import words

LEARNED = (
    Path(__file__).resolve().parents[2] / "src" / "ragstone" / "judges" / "offline" / "learned"
)


def main() -> None:
    """Count words, distil vectors, then fit the weights on what they give."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=Path, default=LEARNED, help="folder to write into")
    parser.add_argument(
        "--only-weights", action="store_true", help="keep the word tables as they are"
    )
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    if not options.only_weights:
        words.distil(words.count(options.target / "frequencies.json"), options.target / "words.npz")
    # read only now: the figures below stand on the tables above
    from examples import load_examples
    from fit import fit_models

    table = {
        name: {
            "mean": [round(value, 6) for value in model.mean.tolist()],
            "scale": [round(value, 6) for value in model.scale.tolist()],
            "weights": [round(value, 6) for value in model.weights.tolist()],
            "bias": round(model.bias, 6),
        }
        for name, model in fit_models(load_examples()).items()
    }
    target = options.target / "weights.json"
    target.write_text(json.dumps(table, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
