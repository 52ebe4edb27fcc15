"""Faults planted into the built-in pipeline are called by their name, on the built-in corpus."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ragstone import corpora, evaluate
from ragstone.analysis.blame import PARTS
from ragstone.analysis.failures import analyse
from ragstone.benchmark import blame
from ragstone.systems.pipeline import Pipeline
from ragstone.types import Chunk, Ranked

REFUSAL = "It is not mentioned in the document."


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline()


def classes(system, store: Path) -> tuple[Counter[str], Counter[str]]:
    """How the samples of a system are classed: the answerable ones, and those without an answer."""
    run = evaluate(corpora.questions(), ["recall", "token_f1"], system=system, store=store)
    found = analyse(run.stored, examples=10_000)
    impossible = {row.id for row in run.rows() if row.sample.meta.get("type") == "impossible"}
    counts: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for kind, some in found.examples.items():
        for one in some:
            counts[one.id in impossible][kind] += 1
    return counts


def share(counts: Counter[str], kind: str) -> float:
    return counts[kind] / sum(counts.values())


GOLD: dict[str, Ranked] = {}


@pytest.fixture(scope="module", autouse=True)
def _gold() -> None:
    from ragstone.data import read

    for record in read(corpora.questions()):
        wanted = [name for name, grade in (record.sample.relevant or {}).items() if grade > 0]
        GOLD[record.sample.question or ""] = Ranked(Chunk(name, name) for name in wanted)


def test_a_retriever_that_returns_nothing(tmp_path: Path) -> None:
    def empty(question: str) -> dict:
        return {"answer": REFUSAL, "contexts": []}

    answerable, impossible = classes(empty, tmp_path / "s.db")
    assert share(answerable, "retrieval_failure") >= 0.95
    assert share(impossible, "fine") >= 0.95


def test_a_generator_that_always_refuses(tmp_path: Path) -> None:
    def refusing(question: str) -> dict:
        return {
            "answer": REFUSAL,
            "contexts": [{"id": c.id, "text": c.text} for c in GOLD[question]],
        }

    answerable, impossible = classes(refusing, tmp_path / "s.db")
    assert share(answerable, "false_refusal") >= 0.95
    assert share(impossible, "fine") >= 0.95


def test_a_generator_that_invents(tmp_path: Path) -> None:
    """Without a judge invention shows as a wrong answer from good evidence, and as an answer where there is none."""

    def inventing(question: str) -> dict:
        answer = "Quarterly zebra migration follows seventeen purple lighthouses"
        return {
            "answer": answer,
            "contexts": [{"id": c.id, "text": c.text} for c in GOLD[question]],
        }

    answerable, impossible = classes(inventing, tmp_path / "s.db")
    assert share(answerable, "generation_failure") >= 0.95
    assert share(impossible, "missed_refusal") >= 0.95


def test_blame_of_a_pipeline_that_finds_everything_is_not_on_retrieval(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    store = tmp_path / "s.db"
    run = evaluate(
        corpora.questions(), ["recall", "token_f1"], system=pipeline, store=store, limit=60
    )
    found = blame(run, pipeline, "token_f1", limit=20)
    parts = {part.name: part.loss for part in found.parts}
    assert set(parts) == set(PARTS)
    assert max(parts, key=lambda name: parts[name]) == "generation"
    assert sum(parts.values()) == pytest.approx(found.loss)
