"""What tells good items made without an LLM from poor ones: a scorer and single rules, measured on the reading sheets.

    python -m bench.testset_quality

A scorer is fitted with one sheet left out at a time and keeps the best 70 % and 50 % of that sheet; the gate of records
(ragstone.testset.offline.quality) has no weights and keeps what its rules let through; they were chosen with all sheets in sight. Patterns that no longer exist are left out."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragstone.testset.offline.frames import drop_frame
from ragstone.testset.offline.page import GRAMMARS
from ragstone.testset.offline.quality import (
    MIN_NEWS,
    begins_with_verb,
    count_news,
    is_unclean,
)
from ragstone.text.encoder import encode

Array = npt.NDArray[np.float64]

SHEETS = Path(__file__).parent / "testset_reading"
RECORDS = ("option", "entry", "purpose_line")
PATTERNS = (*RECORDS, "definition", "table", "question", "heading", "section", "time", "cost", "where", "how_long", "how_many", "when", "size", "place")  # fmt: skip
"""Patterns that rules still make."""
_KEY = re.compile(r"`[^`]+`|“[^”]+”|«[^»]+»")
RIDGE = 10.0


@dataclass(frozen=True, slots=True)
class Read:
    """An item that somebody read."""

    sheet: str
    pattern: str
    question: str
    reference: str
    verdict: str

    @property
    def language(self) -> str:
        return self.sheet[:2]


def read_sheets() -> Iterator[Read]:
    """Items of all sheets that say how they were made, near misses apart: these have no reference."""
    for path in sorted(SHEETS.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                origin, _, pattern = (row.get("how") or "").partition(":")
                if row["verdict"] and origin != "swap" and pattern in PATTERNS:
                    question = _write_plain(row["question"])
                    yield Read(path.stem, pattern, question, row["reference"], row["verdict"])


def _write_plain(question: str) -> str:
    """The last question of a conversation as it would be asked alone."""
    first, last = question.partition("] ")[0].lstrip("["), question.rpartition("] ")[2]
    was, new = _KEY.search(first), _KEY.search(last)
    return first.replace(was[0], new[0], 1) if question.startswith("[") and was and new else last


def list_features(rows: Sequence[Read]) -> dict[str, Array]:
    """Every feature of every item, by name."""
    cosines = np.sum(encode([row.question for row in rows]) * encode([row.reference for row in rows]), axis=1)  # fmt: skip
    news = [count_news(row.question, row.reference, row.language) for row in rows]
    features: dict[str, Callable[[Read], float]] = {
        "verb first": lambda row: begins_with_verb(row.reference, GRAMMARS[row.language]),
        "unclean": lambda row: is_unclean(row.reference),
        "words": lambda row: np.log(len(row.reference.split())),
        "sentences": lambda row: len(re.findall(r"[.!?](?= [A-ZÁÉÍÓÚ])", row.reference)),
        "commas": lambda row: row.reference.count(","),
        "brackets": lambda row: "(" in row.reference,
        "code": lambda row: "`" in row.reference,
        "framed": lambda row: drop_frame(row.question) != row.question,
        "question words": lambda row: len(row.question.split()),
        "Spanish": lambda row: row.language == "es",
    }
    found = {name: np.array([float(read(row)) for row in rows]) for name, read in features.items()}
    found |= {f"is {one}": np.array([float(row.pattern == one) for row in rows]) for one in PATTERNS}  # fmt: skip
    return found | {"news": np.minimum(np.array(news, float), 8), "cosine": cosines.astype(float)}


def fit_weights(inputs: Array, good: Array) -> Array:
    """Weights of a logistic regression with a ridge, by Newton's method; the first column is the constant."""
    weights = np.zeros(inputs.shape[1])
    ridge = RIDGE * np.eye(inputs.shape[1])
    for _ in range(30):
        odds = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (odds - good) + ridge @ weights
        weights -= np.linalg.solve((inputs * (odds * (1 - odds))[:, None]).T @ inputs + ridge, slope)  # fmt: skip
    return weights


def score_left_out(columns: Array, good: Array, sheets: npt.NDArray[np.str_]) -> Array:
    """The score of every item by weights that were fitted without its sheet."""
    scores = np.zeros(len(good))
    spread = columns.std(axis=0)
    inputs = np.c_[np.ones(len(good)), (columns - columns.mean(axis=0)) / np.where(spread, spread, 1)]  # fmt: skip
    for sheet in sorted(set(sheets)):
        held = sheets == sheet
        scores[held] = inputs[held] @ fit_weights(inputs[~held], good[~held])
    return scores


def measure_auroc(scores: Array, good: Array) -> float:
    """How often a good item has a higher score than another."""
    differences = scores[good == 1][:, None] - scores[good == 0][None, :]
    return float(np.mean((differences > 0) + 0.5 * (differences == 0)))


def describe_kept(kept: npt.NDArray[np.bool_], verdicts: npt.NDArray[np.str_]) -> str:
    """Share of items kept, and what is good and wrong among them."""
    left = verdicts[kept]
    return f"{kept.mean():4.0%}: {np.mean(left == 'good'):5.1%} good {np.mean(left == 'wrong'):4.1%} wrong"


def keep_best(scores: Array, sheets: npt.NDArray[np.str_], share: float) -> npt.NDArray[np.bool_]:
    """The best share of every sheet."""
    kept = np.zeros(len(scores), bool)
    for sheet in sorted(set(sheets)):
        places = np.flatnonzero(sheets == sheet)
        kept[places[np.argsort(-scores[places], kind="stable")][: round(share * len(places))]] = True  # fmt: skip
    return kept


def keep_by_rules(found: dict[str, Array], bar: int = MIN_NEWS) -> npt.NDArray[np.bool_]:
    """What the gate of records lets through."""
    is_plain = (found["verb first"] == 1) & (found["unclean"] == 0)
    return np.asarray(is_plain & (found["news"] >= bar))


def report(title: str, rows: Sequence[Read]) -> None:
    """A line for each way of choosing."""
    verdicts, sheets = np.array([row.verdict for row in rows]), np.array([row.sheet for row in rows])  # fmt: skip
    good, found = (verdicts == "good").astype(float), list_features(rows)
    patterns = [name for name in found if name.startswith("is ")]
    ways = {"pattern alone": patterns, "news alone": ["news"], "cosine alone": ["cosine"], "verb alone": ["verb first"], "all but the encoder": [name for name in found if name != "cosine"], "all": list(found)}  # fmt: skip
    print(f"{title}: {len(rows)} items of {len(set(sheets))} sheets")
    print(f"  {'everything':20} {'':12} {describe_kept(np.ones(len(rows), bool), verdicts)}")
    for way, names in ways.items():
        scores = score_left_out(np.column_stack([found[name] for name in names]), good, sheets)
        shares = " | ".join(describe_kept(keep_best(scores, sheets, share), verdicts) for share in (0.7, 0.5))  # fmt: skip
        print(f"  {way:20} AUROC {measure_auroc(scores, good):.3f}  {shares}")
    if {row.pattern for row in rows} <= set(RECORDS):
        for bar in range(5):
            mark = " (shipped)" if bar == MIN_NEWS else ""
            print(
                f"  gate, news from {bar}: {describe_kept(keep_by_rules(found, bar), verdicts)}{mark}"
            )
        for sheet in sorted(set(sheets)):
            held, kept = sheets == sheet, keep_by_rules(found)
            print(f"    {sheet:10} {describe_kept(kept[held], verdicts[held])}")


def main() -> None:
    """All patterns, then records alone, which the gate is for."""
    rows = list(read_sheets())
    report("all patterns", rows)
    report("records", [row for row in rows if row.pattern in RECORDS])


if __name__ == "__main__":
    main()
