"""Faults planted into the built-in pipeline are called by their name, end to end on the built-in corpus with the offline judge.

Right means: an answerable question gets the planted class wherever the fault can show, which is where the pipeline's own
search had found the evidence (else `retrieval_failure` is right, fault or no fault); a question without an answer is a
missed refusal when something was answered and fine when nothing was."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from ragstone import evaluate
from ragstone.analysis.advice import load_symptoms
from ragstone.analysis.classify import Failure
from ragstone.analysis.diagnose import diagnose
from ragstone.analysis.failures import analyse_failures
from ragstone.data import corpora
from ragstone.experiments.blame import PARTS, blame
from ragstone.experiments.run import Run
from ragstone.systems.pipeline import Pipeline
from ragstone.systems.pipeline.extraction import REFUSALS, Passage
from ragstone.systems.protocol import SystemReply
from ragstone.types import Ranked, Sample

RIGHT = 0.95


class FindsNothing(Pipeline):
    """A retriever that returns nothing."""

    def retrieve(self, question: str, language: str | None = None) -> tuple[list[Passage], Ranked]:
        return [], Ranked()


class Refuses(Pipeline):
    """A generator that refuses whatever it is given."""

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        _, contexts = self.retrieve(question, sample.language)
        return SystemReply(REFUSALS[sample.language or "en"], contexts)


INVENTED = {
    "en": [
        "The mayor signed a treaty with the penguins of Antarctica in 1843.",
        "Every visitor receives a golden compass and a cup of cinnamon soup.",
        "It takes 71 days and costs 640 euros.",
    ],
    "es": [
        "El alcalde firmó un tratado con los pingüinos de la Antártida en 1843.",
        "Cada visitante recibe una brújula de oro y una taza de sopa de canela.",
        "Tarda 71 días y cuesta 640 euros.",
    ],
}


class Invents(Pipeline):
    """A generator that makes its answers up: out of the blue, or figures that would fit the question."""

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        _, contexts = self.retrieve(question, sample.language)
        made_up = random.Random(question).choice(INVENTED[sample.language or "en"])
        return SystemReply(made_up, contexts)


class ReadsTheFirst(Pipeline):
    """A generator that reads the first chunk only, and always answers."""

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        passages, contexts = self.retrieve(question, sample.language)
        return await self._first(question, sample, passages, contexts)

    async def answer_with(
        self, question: str, contexts: Ranked, sample: Sample | None = None
    ) -> SystemReply:
        passages = [Passage(chunk.text) for chunk in contexts]
        return await self._first(question, sample or Sample(""), passages, contexts)

    async def _first(
        self, question: str, sample: Sample, passages: Sequence[Passage], contexts: Ranked
    ) -> SystemReply:
        language = sample.language or "en"
        return await self._build_reply(
            question, language, list(passages[:1]), contexts, time.time()
        )


class Shuffles(ReadsTheFirst):
    """Search as it is, but its chunks come in random order."""

    def retrieve(self, question: str, language: str | None = None) -> tuple[list[Passage], Ranked]:
        passages, contexts = super().retrieve(question, language)
        order = list(range(len(contexts)))
        random.Random(question).shuffle(order)
        return [passages[at] for at in order], Ranked(contexts[at] for at in order)


def classed(
    system: Pipeline, metrics: Sequence[str], store: Path, limit: int | None = None
) -> tuple[Run, dict[str, Failure]]:
    """The run of a system and the class of each sample."""
    run = evaluate(
        corpora.questions(), metrics, system=system, store=store, judge="offline", limit=limit
    )
    failures = analyse_failures(run.stored, examples=10_000)
    return run, {one.id: one for some in failures.examples.values() for one in some}


def shares(run: Run, found: dict[str, Failure]) -> tuple[Counter[str], Counter[str]]:
    """Classes of answerable samples, and of those without an answer."""
    counts: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for row in run.rows():
        counts[row.sample.relevant is None][found[row.id].kind] += 1
    return counts


def rank_of_evidence(sample: Sample) -> int | None:
    """Of the first relevant document, each document counted once."""
    seen = list(dict.fromkeys((sample.contexts or Ranked()).ids))
    ranks = [seen.index(name) + 1 for name in sample.relevant or {} if name in seen and (sample.relevant or {})[name] > 0]  # fmt: skip
    return min(ranks, default=None)


def share(counts: Counter[str], *kinds: str) -> float:
    return sum(counts[kind] for kind in kinds) / sum(counts.values())


def test_a_retriever_that_returns_nothing(tmp_path: Path) -> None:
    run, found = classed(FindsNothing(), ["recall", "mrr", "token_f1"], tmp_path / "s.db")
    answerable, impossible = shares(run, found)
    assert share(answerable, "retrieval_failure") >= RIGHT
    assert share(impossible, "fine") >= RIGHT


def test_a_generator_that_always_refuses(tmp_path: Path) -> None:
    metrics = ["recall", "mrr", "faithfulness", "token_f1"]
    run, found = classed(Refuses(), metrics, tmp_path / "s.db")
    answerable, impossible = shares(run, found)
    del answerable["retrieval_failure"]
    assert share(answerable, "false_refusal") >= RIGHT
    assert sum(answerable.values()) >= 180
    assert share(impossible, "fine") >= RIGHT


def test_a_generator_that_invents(tmp_path: Path) -> None:
    metrics = ["recall", "mrr", "faithfulness", "token_f1"]
    run, found = classed(Invents(), metrics, tmp_path / "s.db")
    answerable, impossible = shares(run, found)
    del answerable["retrieval_failure"]
    assert share(answerable, "hallucination") >= RIGHT
    assert sum(answerable.values()) >= 180
    assert share(impossible, "missed_refusal") >= RIGHT
    accused = [one for one in found.values() if one.kind == "hallucination"]
    assert all(one.claims for one in accused)  # which claims


def order_runs(store: Path, limit: int | None = None) -> dict[str, tuple[Run, dict[str, Failure]]]:
    judged = ["recall", "mrr", "faithfulness", "answer_correctness"]
    settings = {"abstain": 0.0, "top_k": 8}
    return {
        "straight": classed(ReadsTheFirst(**settings), ["recall", "mrr", "token_f1"], store, limit),
        "shuffled": classed(Shuffles(**settings), judged, store, limit),
    }


@pytest.fixture(scope="module")
def ordered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Run, dict[str, Failure]]]:
    return order_runs(tmp_path_factory.mktemp("order") / "s.db", limit=100)


@pytest.mark.slow
def test_shuffled_order_is_a_ranking_failure_where_it_pushed_the_evidence_down(
    tmp_path: Path,
) -> None:
    run, found = order_runs(tmp_path / "s.db")["shuffled"]
    pushed = [
        found[row.id].kind
        for row in run.rows()
        if (rank_of_evidence(row.sample) or 0) > 2 and found[row.id].kind != "retrieval_failure"
    ]
    assert len(pushed) >= 60
    # a generator that reads the first chunk answers in its language: where that is another one, it is said first
    assert share(Counter(pushed), "ranking_failure", "wrong_language") >= RIGHT


def test_shuffled_order_is_the_first_cause_and_order_as_it_was_is_not(ordered) -> None:
    def symptoms(name: str) -> list[str]:
        run, _ = ordered[name]
        failures = analyse_failures(run.stored)
        shown = diagnose(run.stored, run.summary(), failures, load_symptoms())
        return [one.symptom for one in shown]

    assert symptoms("shuffled")[0] == "ranking_failure"
    assert symptoms("straight")[0] != "ranking_failure"


def test_the_loss_by_shuffled_order_is_blamed_on_order(ordered) -> None:
    run, _ = ordered["shuffled"]
    blame_report = blame(run, Shuffles(abstain=0.0, top_k=8), "token_f1", limit=60)
    parts = {part.name: part.loss for part in blame_report.parts}
    assert set(parts) == set(PARTS)
    assert sum(parts.values()) == pytest.approx(blame_report.loss)
    assert parts["ordering"] > max(parts["retrieval"], parts["noise"])


def test_blame_of_a_pipeline_that_finds_everything_is_not_on_retrieval(tmp_path: Path) -> None:
    pipeline = Pipeline()
    run = evaluate(corpora.questions(), ["recall", "token_f1"], system=pipeline, store=tmp_path / "s.db", limit=60)  # fmt: skip
    blame_report = blame(run, pipeline, "token_f1", limit=20)
    parts = {part.name: part.loss for part in blame_report.parts}
    assert max(parts, key=lambda name: parts[name]) == "generation"
    assert sum(parts.values()) == pytest.approx(blame_report.loss)
