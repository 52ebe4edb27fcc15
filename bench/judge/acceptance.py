"""What users expect of a judge: python -m bench.judge.acceptance [--judge SPEC]

Reads the acceptance examples beside the checkout (never part of the project) and prints which
expectations hold."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import ragstone
from bench.judge.rows import data_folder

EXAMPLES = data_folder().parent / "acceptance" / "examples.jsonl"
_FIELDS = ("id", "question", "contexts", "answer", "reference", "language")


class Expectation(NamedTuple):
    """One expectation and what came of it."""

    sample: str
    name: str
    wanted: str
    got: str
    met: bool


def check(judge: Any = "offline", path: Path = EXAMPLES) -> Iterator[Expectation]:
    """Score every example and compare it with what is expected."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    scores = {row["id"]: _score(row, judge) for row in rows}
    for row in rows:
        own = scores[row["id"]]
        for name, wanted in row["expect"].items():
            if name.startswith("quote"):
                yield _check_quote(row["id"], name, wanted, own["faithfulness"])
                continue
            metric = own[name]
            got = "-" if metric.value is None else f"{metric.value:.3f}"
            met = metric.value is not None and _holds(metric.value, wanted, name, scores)
            yield Expectation(row["id"], name, wanted, got, met)


def _score(row: Mapping[str, Any], judge: Any) -> dict[str, Any]:
    metrics = [name for name in row["expect"] if not name.startswith("quote")]
    sample = {name: row[name] for name in _FIELDS if name in row}
    run = ragstone.evaluate([sample], metrics=metrics, judge=judge, store=":memory:")
    return dict(run.scores()[row["id"]])


def _holds(value: float, wanted: str, name: str, scores: Mapping[str, Any]) -> bool:
    if " .. " in wanted:
        low, high = wanted.split(" .. ")
        return float(low) <= value <= float(high)
    sign, bound = wanted.split(" ", 1)
    if sign == "<":
        other = scores[bound][name].value
        return other is not None and value < other
    return value >= float(bound) if sign == ">=" else value <= float(bound)


def _check_quote(sample: str, name: str, wanted: str, score: Any) -> Expectation:
    part = name.split("'")[1] if "'" in name else ""
    quotes = [finding.quote for finding in score.findings if part in finding.text]
    got = " … ".join(quotes)
    return Expectation(sample, name, wanted, got[:60], wanted in got)


def main() -> None:
    """Print every expectation that does not hold, and how many do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judge", default="offline")
    found = list(check(parser.parse_args().judge))
    for expectation in found:
        if not expectation.met:
            print(*expectation[:4], sep=" | ")
    print(f"{sum(each.met for each in found)} of {len(found)} expectations met")


if __name__ == "__main__":
    main()
