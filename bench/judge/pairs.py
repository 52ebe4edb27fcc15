"""Right verdicts on the hand-written claim pairs, by kind, beside plain containment: `python bench/judge/pairs.py [FOLDER]`.

A folder holds pairs_en.toml and pairs_es.toml; without one it is the set that the tests use."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import ragstone
from ragstone.text.terms import extract_terms

LANGUAGES = ("en", "es")
PAIRS_FOLDER = Path(__file__).resolve().parents[2] / "tests" / "judges" / "offline"
MIN_CONTAINMENT = 0.75
"""Share of a claim's content words that must stand in the source for the baseline to accept it."""


@dataclass(frozen=True)
class ClaimPair:
    """A source with a claim that it supports and a close one that it does not."""

    id: str
    kind: str
    source: str
    true: str
    false: str


@dataclass(frozen=True)
class PairVerdict:
    """Whether a judge gave the true claim 1.0 and the false one 0.0."""

    pair: ClaimPair
    true_right: bool
    false_right: bool


Judging = Callable[[Sequence[ClaimPair], str], list[PairVerdict]]


def load_pairs(language: str, folder: Path = PAIRS_FOLDER) -> list[ClaimPair]:
    """Read the pairs of a language in the order of their file."""
    rows = tomllib.loads((folder / f"pairs_{language}.toml").read_text("utf-8"))["pairs"]
    return [ClaimPair(**row) for row in rows]


def judge_pairs(pairs: Sequence[ClaimPair], language: str) -> list[PairVerdict]:
    """Verdicts of the embedded judge's faithfulness; a claim without a value is wrong on either side."""
    samples = [
        {"id": f"{pair.id}/{side}", "answer": claim, "contexts": [pair.source]}
        for pair in pairs
        for side, claim in (("true", pair.true), ("false", pair.false))
    ]
    # the language is not passed on: users do not pass it either
    run = ragstone.evaluate(samples, ["faithfulness"], store=":memory:")
    values = {row.id: row.scores["faithfulness"].value for row in run.rows()}
    return [
        PairVerdict(pair, values[f"{pair.id}/true"] == 1.0, values[f"{pair.id}/false"] == 0.0)
        for pair in pairs
    ]


def contain_pairs(pairs: Sequence[ClaimPair], language: str) -> list[PairVerdict]:
    """Verdicts of the baseline: a claim is supported when most of its content words stand in the source."""

    def is_contained(claim: str, source: str) -> bool:
        words, known = set(extract_terms(claim, language)), set(extract_terms(source, language))
        return len(words & known) >= MIN_CONTAINMENT * len(words)

    return [
        PairVerdict(pair, is_contained(pair.true, pair.source), not is_contained(pair.false, pair.source))
        for pair in pairs
    ]  # fmt: skip


def compute_shares(verdicts: Iterable[PairVerdict]) -> tuple[float, float]:
    """Shares of right verdicts on true and on false claims."""
    rows = list(verdicts)
    return (
        sum(row.true_right for row in rows) / len(rows),
        sum(row.false_right for row in rows) / len(rows),
    )


def tabulate_shares(columns: Sequence[Sequence[PairVerdict]]) -> str:
    """One line a kind and one for all, with the shares of true and false claims of every column."""
    kinds = dict.fromkeys(row.pair.kind for row in columns[0])
    lines = [
        _to_line(kind, [[row for row in column if row.pair.kind == kind] for column in columns])
        for kind in kinds
    ]
    return "\n".join([*lines, _to_line("all", columns)])


def _to_line(name: str, columns: Sequence[Sequence[PairVerdict]]) -> str:
    shares = "   ".join("{:5.2f} {:5.2f}".format(*compute_shares(column)) for column in columns)
    return f"{name:24} {len(columns[0]):4}   {shares}"


def format_table() -> str:
    """The shares of both languages as a Markdown table, beside containment."""
    lines = [
        "| language | pairs | true claims right | false claims right | containment: true | containment: false |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for code in LANGUAGES:
        pairs = load_pairs(code, PAIRS_FOLDER)
        shares = (
            *compute_shares(judge_pairs(pairs, code)),
            *compute_shares(contain_pairs(pairs, code)),
        )
        lines.append(f"| {code} | {len(pairs)} | " + " | ".join(f"{x:.2f}" for x in shares) + " |")
    return "### Hand-written pairs of a true and a false claim\n\n" + "\n".join(lines)


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else PAIRS_FOLDER
    judges: tuple[Judging, ...] = (judge_pairs, contain_pairs)
    for code in LANGUAGES:
        loaded = load_pairs(code, chosen)
        print(f"\n{code}: shares right    n   judge: true false   containment: true false")
        print(tabulate_shares([judge(loaded, code) for judge in judges]))
