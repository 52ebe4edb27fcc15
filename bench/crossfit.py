"""What the embedded judge says of the labelled sets, by models that never saw the row's document.

The shipped weights have seen these rows, so benches that need predictions on unseen data fit five models, each without
a fifth of the documents. That takes some minutes; the figures are kept in the user's cache, by the judge's version."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ragstone.judges.offline import VERSION

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Predictions:
    """Rows of one or several sets, and their claims."""

    name: Array
    """The set of each row."""
    group: Array
    """Its source document."""
    language: Array
    label: Array
    """1.0 when people find all of it supported."""
    probability: Array
    """Chance that all of it is supported."""
    value: Array
    """Share of its claims that the judge calls supported."""
    claim_row: Array
    """Row of each claim."""
    claim_label: Array
    """1 supported, 0 not, -1 unknown."""
    claim_chance: Array
    claim_supported: Array
    """The judge's verdict on the claim."""
    claim_certain: Array
    """Whether a rule is certain that the claim is wrong."""

    def select(self, name: str) -> Predictions:
        """The rows of one set."""
        rows = self.name == name
        numbers = np.cumsum(rows) - 1
        claims = rows[self.claim_row]
        parts = {
            field: getattr(self, field)[claims if field.startswith("claim_") else rows]
            for field in self.__dataclass_fields__
        }
        return Predictions(**(parts | {"claim_row": numbers[self.claim_row[claims]]}))


def load_predictions() -> Predictions:
    """The predictions of all labelled sets, from the cache or fitted anew (about five minutes)."""
    from platformdirs import user_cache_dir

    path = Path(user_cache_dir("ragstone")) / f"crossfit-{VERSION}.npz"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            np.savez_compressed(file, **_fit_predictions())
    with np.load(path, allow_pickle=False) as table:
        return Predictions(**{name: table[name] for name in Predictions.__dataclass_fields__})


def _fit_predictions() -> dict[str, Array]:
    sys.path.insert(0, str(Path(__file__).parent / "judge"))
    from examples import load_examples
    from validate import fold_of, predict_claims

    examples = load_examples()
    given = predict_claims(examples, fold_of)
    sizes = [len(example.labels) for example in examples]
    return {
        "name": np.array([example.name for example in examples]),
        "group": np.array([example.group for example in examples]),
        "language": np.array([example.language for example in examples]),
        "label": np.array([float(example.label) for example in examples]),
        "probability": np.array([row.probability for row, _ in given]),
        "value": np.array([row.value for row, _ in given]),
        "claim_row": np.repeat(np.arange(len(examples)), sizes),
        "claim_label": np.concatenate([np.array(example.labels) for example in examples]),
        "claim_chance": np.concatenate([claims.chances for _, claims in given]),
        "claim_supported": np.concatenate([claims.supported for _, claims in given]),
        "claim_certain": np.concatenate([np.array(example.refuted) for example in examples]),
    }


def measure_pairs(rows: Predictions) -> tuple[int, float, float]:
    """Pairs of texts on one document of which people support one: how often the judge's chance, and the shorter text, tell it."""
    counts = np.bincount(rows.claim_row, minlength=len(rows.label))
    told: list[tuple[float, float]] = []
    for group in np.unique(rows.group):
        members = np.flatnonzero(rows.group == group)
        good, bad = (members[rows.label[members] == label] for label in (1, 0))
        gaps = np.subtract.outer(rows.probability[good], rows.probability[bad])
        lengths = -np.subtract.outer(counts[good], counts[bad])
        told += zip(*(np.sign(part).ravel() / 2 + 0.5 for part in (gaps, lengths)), strict=True)
    means = np.mean(told, axis=0)
    return len(told), float(means[0]), float(means[1])


def main() -> None:
    """Print how many rows there are, and what the judge tells of pairs."""
    everything = load_predictions()
    print(f"{len(everything.label):,} rows")
    for name in ("ragtruth_test", "inferes"):
        pairs, judge, shorter = measure_pairs(everything.select(name))
        print(f"{name}: of {pairs:,} pairs the judge tells {judge:.2f}, fewer claims {shorter:.2f}")


if __name__ == "__main__":
    main()
