"""The other kinds of question against people: relevance, correctness, answerability."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
from drive import chunks, value
from measures import auroc
from rows import load

from ragstone.judges.offline.reading import read
from ragstone.judges.offline.usefulness import judge_chunks
from ragstone.metrics.answer import answer_correctness, answer_relevance, answer_similarity
from ragstone.metrics.context import context_relevance
from ragstone.text.sentences import split_sentences


def hard_negatives() -> dict[str, float]:
    """Relevant chunk against hard negative, by grades (as reported) and by the number behind them."""
    rows = load("qa", "msmarco_hard_negatives")
    label = [row["relevant"] for row in rows]
    graded = [
        value(context_relevance, question=row["question"], contexts=chunks(row["chunk"]))
        for row in rows
    ]
    return {"grades": auroc(label, graded), "score": auroc(label, _relevance(rows, "chunk"))}


def answerable() -> dict[str, float]:
    """Passage that answers against one that does not."""
    rows = load("qa", "clapnq_dev")
    label = [row["answerable"] for row in rows]
    graded = [
        value(context_relevance, question=row["question"], contexts=chunks(row["passage"]))
        for row in rows
    ]
    return {"grades": auroc(label, graded), "score": auroc(label, _relevance(rows, "passage"))}


def _relevance(rows: list[dict[str, str]], field: str) -> list[float]:
    return [judge_chunks(r["question"], [read(r[field])], None)[0].helps for r in rows]


def right_paragraph(language: str, asked: str | None = None, count: int = 400) -> dict[str, float]:
    """The paragraph of a question against a random other one; questions may be in another language."""
    luck = random.Random(1)
    texts = {row["doc_id"]: row["text"] for row in load("qa", f"xquad_{language}")}
    items = [(d, q) for d, q, _, _ in _questions(asked or language)]
    graded, label, scores = [], [], []
    for doc, question in luck.sample(items, count):
        other = luck.choice([d for d in texts if d != doc])
        for name, right in ((doc, 1), (other, 0)):
            label.append(right)
            graded.append(value(context_relevance, question=question, contexts=chunks(texts[name])))
            scores.append(judge_chunks(question, [read(texts[name], language)], None)[0].helps)
    return {"grades": auroc(label, graded), "score": auroc(label, scores)}


def right_answer(language: str, count: int = 400) -> dict[str, float]:
    """The sentence that answers a question against one that answers another question."""
    luck = random.Random(2)
    items = luck.sample([item for item in _questions(language) if item[2]], count)
    label, found = [], []
    for doc, question, sentence, _ in items:
        other = luck.choice([item for item in items if item[0] != doc])
        for answer, right in ((sentence, 1), (other[2], 0)):
            label.append(right)
            found.append(
                value(answer_relevance, question=question, answer=answer, language=language)
            )
    return {"score": auroc(label, found)}


def _questions(language: str) -> Iterator[tuple[str, str, str, str]]:
    """Document, question, the sentence that holds the answer (or ""), the answer."""
    for row in load("qa", f"xquad_{language}"):
        parts = [row["text"][a:b] for a, b in split_sentences(row["text"], language)]
        for question in row["questions"]:
            holding = [part for part in parts if question["answer"] in part]
            yield row["doc_id"], question["question"], (holding or [""])[0], question["answer"]


def correctness() -> dict[str, float]:
    """Answers that people accept against those they do not; the best of several references counts."""
    rows = load("qa", "answer_equivalence_nq301")
    label = [row["acceptable"] for row in rows]
    found = {"score": [], "with similarity 0.25": [], "similarity alone": []}
    for row in rows:
        plain = [
            value(
                answer_correctness,
                question=row["question"],
                answer=row["answer"],
                reference=reference,
            )
            for reference in row["references"]
        ]
        alike = [
            value(answer_similarity, answer=row["answer"], reference=reference)
            for reference in row["references"]
        ]
        found["score"].append(max(plain))
        found["similarity alone"].append(max(alike))
        found["with similarity 0.25"].append(
            max(0.75 * p + 0.25 * a for p, a in zip(plain, alike, strict=True))
        )
    return {name: auroc(label, np.array(values)) for name, values in found.items()}


CORRECTNESS = "answer correctness against people (nq301)"
HARD = "relevant chunk against hard negative (msmarco)"
RELEVANCE = "right answer against another question's (xquad sentences, en)"


def measure_all(count: int) -> dict[str, dict[str, float]]:
    """Every task: its name, then AUROC by measure."""
    return {
        HARD: hard_negatives(),
        "right paragraph against a random one (xquad, en)": right_paragraph("en", count=count),
        "the same, es": right_paragraph("es", count=count),
        "Spanish question, English paragraph": right_paragraph("en", "es", count=count),
        "English question, Spanish paragraph": right_paragraph("es", "en", count=count),
        "answerable against unanswerable (clapnq)": answerable(),
        CORRECTNESS: correctness(),
        RELEVANCE: right_answer("en", count),
        "the same, es ": right_answer("es", count),
    }


def format_table(measured: dict[str, dict[str, float]]) -> str:
    """The tasks as a Markdown table."""
    lines = ["| question | measure | AUROC |", "| --- | --- | ---: |"]
    for name, values in measured.items():
        lines += [f"| {name.strip()} | {kind} | {area:.3f} |" for kind, area in values.items()]
    return (
        "### Other kinds of question\n\n`grades` and `score` in context questions: the metric as reported (grades 0, 1, 2 in two "
        "wordings) and the number behind it.\n\n" + "\n".join(lines)
    )


def list_quality(
    measured: dict[str, dict[str, float]], count: int
) -> dict[str, list[dict[str, object]]]:
    """What a report says of these metrics: data set, language, rows, AUROC; `count` questions were asked of XQuAD."""

    def line(data: str, language: str, rows: int, area: float) -> dict[str, object]:
        return {
            "data": data,
            "language": language,
            "rows": rows,
            "auroc": round(area, 3),
            "accuracy": None,
        }

    return {
        "chunks": [
            line("MS MARCO, hard negatives", "en", 240, measured[HARD]["grades"]),
            line("XQuAD, random negatives", "es", 2 * count, measured["the same, es"]["grades"]),
        ],
        "correctness": [line("NQ-open", "en", 899, measured[CORRECTNESS]["score"])],
        "relevance": [
            line("XQuAD", "en", 2 * count, measured[RELEVANCE]["score"]),
            line("XQuAD", "es", 2 * count, measured["the same, es "]["score"]),
        ],
    }
