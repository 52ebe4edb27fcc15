"""Train the offline judge from the shared data folder: python bench/judge/train.py

Writes frequencies.json, words.npz and support.npz into the package, the same bytes for the same data."""

from __future__ import annotations

import argparse
from pathlib import Path

import words

LEARNED = (
    Path(__file__).resolve().parents[2] / "src" / "ragstone" / "judges" / "offline" / "learned"
)


def main() -> None:
    """Count words, distil vectors, then fit the trees on what they give."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=Path, default=LEARNED, help="folder to write into")
    parser.add_argument(
        "--only-trees", action="store_true", help="keep the word tables as they are"
    )
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    if not options.only_trees:
        words.distil(words.count(options.target / "frequencies.json"), options.target / "words.npz")
    # read only now: the features below stand on the tables above
    from examples import examples
    from export import write
    from fit import fit

    from ragstone.judges.offline.spanish import KINDS

    fitted = fit(examples())
    whole = fitted.whole
    numbers = {
        "response_mean": whole.mean,
        "response_scale": whole.scale,
        "response_weights": whole.weights,
        "response_bias": whole.bias,
        **{f"response_bar_{language}": bar for language, bar in fitted.bars.items()},
    }
    forests = {"token": fitted.token, "claim": fitted.claim, "response": whole.trees}
    spanish = {"spanish": (fitted.spanish, KINDS)}
    write(options.target / "support.npz", forests, spanish, numbers)


if __name__ == "__main__":
    main()
