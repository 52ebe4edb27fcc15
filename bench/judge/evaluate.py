"""Measure the offline judge against people and write the tables into its page, in English and Spanish.

python bench/judge/evaluate.py [--predictions FILE] [--quick]: with a file that exists, nothing is fitted again."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import adversarial
import numpy as np
import pages
import speed
import tasks
import worked
from measures import auroc, balanced_accuracy, calibration_error, f1

from ragstone.judges.offline.responses import passed

QUALITY = pages.LEARNED / "quality.json"
Rows = list[dict[str, Any]]


def main() -> None:
    """All tables, in the pages and on the screen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--predictions", type=Path, help="cross-validated predictions to keep or reuse"
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer pairs and samples for the later tables"
    )
    options = parser.parse_args()
    target = options.predictions or Path("predictions.jsonl")
    if not target.exists():
        from predictions import predict_all

        predict_all(target)
    every = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
    rows = [row for row in every if not row["crowded"]]
    count = 100 if options.quick else 500
    found = _measured_tasks(150 if options.quick else 400)
    _write_quality(rows, found)
    tables = [
        _sets(rows, [row for row in every if row["crowded"]]),
        _ragtruth(rows),
        _calibration(rows),
        _tasks(found),
        _adversarial(count),
        _worked(),
        _speed(100 if options.quick else 300),
    ]
    text = "\n\n".join(tables)
    print(text)
    pages.write(text)


def score_of(row: dict[str, Any]) -> float:
    """The response model's chance for responses, the claim's own for claims."""
    return float(row["whole"] if row["level"] == "response" else min(row["claims"]))


def flagged(row: dict[str, Any]) -> bool:
    """Whether the judge finds a claim that is not supported, by the bar chosen without the row's fold."""
    return not all(_passed(row))


def _passed(row: dict[str, Any]) -> list[bool]:
    return passed(np.array(row["claims"]), row["whole"], row["hurdles"], row["bar"])


def _write_quality(rows: Rows, found: Tasks) -> None:
    """What a report says of the judge, beside the models it is about."""

    def support(name: str, data: str, language: str) -> dict[str, Any]:
        mine = [row for row in rows if row["set"] == name]
        label = [row["label"] for row in mine]
        wrong, said = [1 - one for one in label], [flagged(row) for row in mine]
        area = auroc(label, [score_of(row) for row in mine])
        return _line(data, language, len(mine), area, balanced_accuracy(wrong, said))

    table = {
        "support": [
            support("ragtruth_test", "RAGTruth", "en"),
            support("inferes", "InferES", "es"),
        ],
        "chunks": [
            _line("MS MARCO, hard negatives", "en", 240, found[HARD]["grades"]),
            _line("XQuAD, random negatives", "es", 800, found["the same, es"]["grades"]),
        ],
        "correctness": [_line("NQ-open", "en", 899, found[CORRECTNESS]["score"])],
        "relevance": [
            _line("XQuAD", "en", 800, found[RELEVANCE]["score"]),
            _line("XQuAD", "es", 800, found["the same, es "]["score"]),
        ],
    }
    QUALITY.write_text(json.dumps(table, indent=1) + "\n", "utf-8")


def _line(
    data: str, language: str, rows: int, area: float, accuracy: float | None = None
) -> dict[str, Any]:
    return {
        "data": data,
        "language": language,
        "rows": rows,
        "auroc": round(area, 3),
        "accuracy": None if accuracy is None else round(accuracy, 3),
    }


def _sets(rows: Rows, crowded: Rows) -> str:
    lines = [
        "| set | language | level | rows | AUROC | balanced accuracy | F1 of “has an unsupported claim” |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    values = []
    for name in dict.fromkeys(row["set"] for row in rows):
        mine = [row for row in rows if row["set"] == name]
        area, line = _of_set(name, mine)
        values.append(area)
        lines.append(line)
    lines.append(f"| **mean of the seven** | | | {len(rows)} | **{np.mean(values):.3f}** | | |")
    lines.append(_of_set("inferes among four other contexts", crowded)[1])
    return "### Supported or not, cross-validated by source document\n\n" + "\n".join(lines)


def _of_set(name: str, mine: Rows) -> tuple[float, str]:
    """The AUROC of a set and its line in the table."""
    label = [row["label"] for row in mine]
    area = auroc(label, [score_of(row) for row in mine])
    wrong, said = [1 - one for one in label], [flagged(row) for row in mine]
    language = "es" if mine[0]["set"] == "inferes" else "en"
    return area, (
        f"| {name} | {language} | {mine[0]['level']} | {len(mine)} | {area:.3f} | "
        f"{balanced_accuracy(wrong, said):.3f} | {f1(wrong, said):.3f} |"
    )


def _ragtruth(rows: Rows) -> str:
    mine = [row for row in rows if row["set"] == "ragtruth_test"]
    lines = [
        "| RAGTruth | rows | AUROC | balanced accuracy | F1 |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for kind in ("qa", "summary", "data2txt"):
        part = [row for row in mine if row["dataset"].endswith(kind)]
        wrong, said = [1 - row["label"] for row in part], [flagged(row) for row in part]
        area = auroc([row["label"] for row in part], [row["whole"] for row in part])
        lines.append(
            f"| responses, {kind} | {len(part)} | {area:.3f} | {balanced_accuracy(wrong, said):.3f} | "
            f"{f1(wrong, said):.3f} |"
        )
    label, chance, said = _sentences(mine)
    lines.append(
        f"| sentences (from spans) | {len(label)} | {auroc(label, chance):.3f} | "
        f"{balanced_accuracy(1 - label, said):.3f} | {f1(1 - label, said):.3f} |"
    )
    return "### Answers of RAG systems by task and level\n\n" + "\n".join(lines)


def _sentences(rows: Rows) -> tuple[Any, Any, Any]:
    label, chance, said = [], [], []
    for row in rows:
        passed = _passed(row)
        for sentence in dict.fromkeys(row["sentence"]):
            own = [n for n, of in enumerate(row["sentence"]) if of == sentence]
            label.append(min(row["labels"][n] for n in own))
            chance.append(min(row["claims"][n] for n in own))
            said.append(not all(passed[n] for n in own))
    return np.array(label), np.array(chance), np.array(said, int)


def _calibration(rows: Rows) -> str:
    mine = [row for row in rows if row["set"] == "ragtruth_test"]
    label = np.array([row["label"] for row in mine])
    chance = np.array([row["whole"] for row in mine])
    lines = ["| chance given | responses | supported in truth |", "| --- | ---: | ---: |"]
    for low in np.arange(0, 1, 0.2):
        inside = (chance >= low) & (chance < low + 0.2)
        if inside.any():
            lines.append(
                f"| {low:.1f}–{low + 0.2:.1f} | {inside.sum()} | {label[inside].mean():.2f} |"
            )
    error = calibration_error(label, chance)
    return f"### Calibration on RAGTruth responses (expected error {error:.3f})\n\n" + "\n".join(
        lines
    )


Tasks = dict[str, dict[str, float]]
CORRECTNESS = "answer correctness against people (nq301)"
HARD = "relevant chunk against hard negative (msmarco)"
RELEVANCE = "right answer against another question's (xquad sentences, en)"


def _measured_tasks(count: int) -> Tasks:
    return {
        HARD: tasks.hard_negatives(),
        "right paragraph against a random one (xquad, en)": tasks.right_paragraph(
            "en", count=count
        ),
        "the same, es": tasks.right_paragraph("es", count=count),
        "Spanish question, English paragraph": tasks.right_paragraph("en", "es", count=count),
        "English question, Spanish paragraph": tasks.right_paragraph("es", "en", count=count),
        "answerable against unanswerable (clapnq)": tasks.answerable(),
        CORRECTNESS: tasks.correctness(),
        RELEVANCE: tasks.right_answer("en", count),
        "the same, es ": tasks.right_answer("es", count),
    }


def _tasks(found: Tasks) -> str:
    lines = ["| question | measure | AUROC |", "| --- | --- | ---: |"]
    for name, values in found.items():
        lines += [f"| {name.strip()} | {kind} | {area:.3f} |" for kind, area in values.items()]
    return (
        "### Other kinds of question\n\n`grades` and `score` in context questions: the metric as reported (grades 0, 1, 2 in two "
        "wordings) and the number behind it.\n\n" + "\n".join(lines)
    )


def _adversarial(count: int) -> str:
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


def _worked() -> str:
    lines = ["| worked example | score |", "| --- | ---: |"]
    lines += [f"| {name} | {value:.2f} |" for name, value in worked.worked().items()]
    return "### Worked examples (bench/judge/worked.py)\n\n" + "\n".join(lines)


def _speed(count: int) -> str:
    ran = subprocess.run(  # a process of its own: its memory is the judge's
        [sys.executable, str(Path(speed.__file__)), str(count)], check=True, capture_output=True
    )
    got = json.loads(ran.stdout)
    lines = ["| on one core, " + speed.SHAPE + " | |", "| --- | ---: |"]
    lines.append(
        f"| faithfulness + hallucination_rate | {got['two metrics']:.0f} samples a CPU second |"
    )
    lines.append(f"| six metrics | {got['six metrics']:.0f} samples a CPU second |")
    lines.append(f"| first verdict after process start | {got['first score s']:.2f} s |")
    lines.append(f"| peak memory | {got['peak MB']:.0f} MB |")
    return "### Speed (bench/judge/speed.py)\n\n" + "\n".join(lines)


if __name__ == "__main__":
    main()
