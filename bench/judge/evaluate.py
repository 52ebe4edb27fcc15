"""Measure the embedded judge and write the tables into its page, in English and Spanish.

python bench/judge/evaluate.py [--quick]"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import acceptance
import adversarial
import pages
import pairs
import speed
import tasks
from examples import load_examples
from measures import auroc, balanced_accuracy
from validate import Prediction, fold_of, format_table, predict

from ragstone.judges.offline.verdicts import SUPPORT_BAR

QUALITY = pages.LEARNED / "quality.json"


def main() -> None:
    """All tables, in the pages and on the screen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="fewer pairs and samples for the later tables"
    )
    quick = parser.parse_args().quick
    examples = load_examples()
    unseen = predict(examples, lambda example: example.name)
    count = 150 if quick else 400
    measured = tasks.measure_all(count)
    _write_quality(examples, unseen, measured, count)
    tables = [
        format_table("Sets that no weight has seen (leave one set out)", examples, unseen),
        format_table("Other documents of the same sets", examples, predict(examples, fold_of)),
        pairs.format_table(),
        tasks.format_table(measured),
        _format_adversarial(100 if quick else 500),
        _format_speed(100 if quick else 300),
    ]
    text = "\n\n".join(tables)
    print(text)
    pages.write(text)
    met = [expectation.met for expectation in acceptance.check()]
    print(f"\nacceptance examples: {sum(met)} of {len(met)} met")


def _write_quality(
    examples: Sequence[Any],
    unseen: Sequence[Prediction],
    measured: dict[str, dict[str, float]],
    count: int,
) -> None:
    """What a report says of the judge, beside the weights it is about: always of the number that is shown."""

    def support(name: str, data: str, language: str) -> dict[str, Any]:
        mine = [n for n, example in enumerate(examples) if example.name == name]
        label = [examples[n].label for n in mine]
        flagged = [int(unseen[n].probability < SUPPORT_BAR) for n in mine]
        accuracy = balanced_accuracy([1 - each for each in label], flagged)
        area = auroc(label, [unseen[n].value for n in mine])
        return _to_line(data, language, len(mine), area, accuracy)

    table = {
        "support": [
            support("ragtruth_test", "RAGTruth", "en"),
            support("inferes", "InferES", "es"),
        ],
        **tasks.list_quality(measured, count),
    }
    QUALITY.write_text(json.dumps(table, indent=1) + "\n", "utf-8")


def _to_line(
    data: str, language: str, rows: int, area: float, accuracy: float | None = None
) -> dict[str, Any]:
    return {
        "data": data,
        "language": language,
        "rows": rows,
        "auroc": round(area, 3),
        "accuracy": None if accuracy is None else round(accuracy, 3),
    }


def _format_adversarial(count: int) -> str:
    lines = [
        "| the answer … | pairs | lower faithfulness | lower with answer_relevance added |",
        "| --- | ---: | ---: | ---: |",
    ]
    for kind in adversarial.KINDS:
        got = adversarial.below(kind, count)
        name = kind.__name__.replace("_", " ")
        lines.append(
            f"| {name} | {got['pairs']:.0f} | {got['faithfulness']:.1%} | {got['with answer_relevance']:.1%} |"
        )
    return "### Answers made to deceive, against the true answer\n\n" + "\n".join(lines)


def _format_speed(count: int) -> str:
    ran = subprocess.run(  # a process of its own: its memory is the judge's
        [sys.executable, str(Path(speed.__file__)), str(count)], check=True, capture_output=True
    )
    got = json.loads(ran.stdout)
    lines = ["| on one core, " + speed.SHAPE + " | measured |", "| --- | ---: |"]
    lines.append(
        f"| faithfulness + hallucination_rate | {got['two metrics']:.0f} samples a CPU second |"
    )
    lines.append(f"| six metrics | {got['six metrics']:.0f} samples a CPU second |")
    lines.append(f"| first verdict after process start | {got['first score s']:.2f} s |")
    lines.append(f"| peak memory | {got['peak MB']:.0f} MB |")
    return "### Speed (bench/judge/speed.py)\n\n" + "\n".join(lines)


if __name__ == "__main__":
    main()
