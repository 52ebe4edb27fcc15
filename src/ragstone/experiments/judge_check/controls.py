"""Controls of known truth for each kind of Ask, made of the topics in `topics/`: samples that are good or bad by design.

Each topic gives every kind one good and one bad control. Half of the good answers use other words than the passage, and
bad ones its own, so that counting shared words hardly tells them apart."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

from ragstone.asks import Asking, Problem, ask, claims, solve, write
from ragstone.metrics import resolve
from ragstone.registry import Metric
from ragstone.text.content import find_content_words
from ragstone.text.evidence import find_quote
from ragstone.text.sentences import split_sentences
from ragstone.text.words import fold_text
from ragstone.types import Chunk, Ranked, Sample, Score

LANGUAGES = ("en", "es")
"""Languages in which there are topics."""
Topic = Mapping[str, Any]


class Control(NamedTuple):
    """A sample of known truth."""

    sample: Sample
    is_good: bool
    baseline: float
    """What the simplest rule gives it: the share of shared words, or 0 where there is none."""


@dataclass(frozen=True, slots=True)
class ControlSet:
    """The controls of one kind of Ask, with the metrics that ask it."""

    kind: str
    metrics: tuple[Metric, ...]
    """The first one is shown; the others take the same replies."""
    controls: tuple[Control, ...]
    has_bad: bool = True
    """Without bad controls the metric itself says whether a reply is right: 1 or 0."""


def build_control_sets(language: str) -> list[ControlSet]:
    """Return the controls of every kind in a language."""
    topics = _load_topics(language)
    # `_SOLVED`, `_SPLIT` and `_WRITTEN`, at the end of this file, are metrics for kinds that no metric of a run asks;
    # the first set stays that of `faithfulness`: `try_routes` takes it
    sets = [
        _build_set(kind, metrics, topics, language, build)
        for kind, metrics, build in (
            ("support", ("faithfulness", "hallucination_rate", "context_recall"), _build_support),
            ("support", ("answer_correctness",), _build_correctness),
            ("useful", ("context_relevance",), _build_usefulness),
            ("useful", ("context_precision",), _build_precision),
            ("aspects", ("completeness",), _build_completeness),
            ("questions", ("answer_relevance",), _build_relevance),
            ("rate", ("coherence",), _build_coherence),
            ("embed", ("answer_similarity",), _build_similarity),
            ("solve", (_SOLVED,), _build_problems),
        )
    ]
    split = _build_set("claims", (_SPLIT,), topics, language, _build_texts, has_bad=False)
    written = _build_set("write", (_WRITTEN,), topics, language, _build_sources, has_bad=False)
    return [*sets, split, written]


def build_answers(language: str) -> list[Control]:
    """Return four answers of two statements: in two both are true, in two the second is not."""
    topics = _load_topics(language)
    fields = (("half_answer", True), ("wrong", False), ("half_answer", True), ("invented", False))
    controls = []
    for number, (topic, (field, is_good)) in enumerate(zip(topics, fields, strict=False), 1):
        answer = f"{topic['answer']} {topic[field]}"
        contexts = Ranked([Chunk("d1", topic["passage"]), Chunk("d2", topic["neighbour"])])
        sample = Sample(
            f"{language}-{number}",
            question=topic["pair_question"],
            answer=answer,
            contexts=contexts,
            language=language,
        )
        baseline = share_words(answer, f"{topic['passage']} {topic['neighbour']}")
        controls.append(Control(sample, is_good, baseline))
    return controls


def _build_set(
    kind: str,
    metrics: Sequence[str | Metric],
    topics: Sequence[Topic],
    language: str,
    build: Callable[[int, Sequence[Topic]], Sequence[tuple[dict[str, Any], bool, float]]],
    has_bad: bool = True,
) -> ControlSet:
    rows = [row for index in range(len(topics)) for row in build(index, topics)]
    controls = [
        Control(Sample(f"{kind}-{number}", language=language, **fields), is_good, baseline)
        for number, (fields, is_good, baseline) in enumerate(rows, 1)
    ]
    return ControlSet(kind, tuple(map(resolve, metrics)), tuple(controls), has_bad)


ControlRows = list[tuple[dict[str, Any], bool, float]]
"""Fields of a sample, whether it is good, what the simplest rule gives it."""


def _build_support(index: int, topics: Sequence[Topic]) -> ControlRows:
    """A claim that the passages state, in other words or their own; one that contradicts them, or that they do not hold."""
    topic = topics[index]
    passages = [topic["passage"], topic["neighbour"]]
    contexts = Ranked(Chunk(f"d{n}", text) for n, text in enumerate(passages, 1))
    good, bad = ("answer", "invented") if index % 2 else ("half_answer", "wrong")
    return [
        (
            {"answer": claim, "reference": claim, "contexts": contexts},
            is_good,
            share_words(claim, " ".join(passages)),
        )
        for claim, is_good in ((topic[good], True), (topic[bad], False))
    ]


def _build_correctness(index: int, topics: Sequence[Topic]) -> ControlRows:
    topic = topics[index]
    return [
        (
            {"question": topic["question"], "answer": answer, "reference": topic["reference"]},
            is_good,
            share_words(topic["reference"], answer),
        )
        for answer, is_good in ((topic["answer"], True), (topic["wrong"], False))
    ]


def _build_usefulness(index: int, topics: Sequence[Topic]) -> ControlRows:
    """The passage that answers the question; one of the same subject, or the same one to a question that it does not answer."""
    topic = topics[index]
    bad = ("question", "neighbour") if index % 2 else ("unanswerable", "passage")
    return [
        (
            {"question": topic[question], "contexts": Ranked([Chunk("d1", topic[passage])])},
            is_good,
            share_words(topic[question], topic[passage]),
        )
        for (question, passage), is_good in ((("question", "passage"), True), (bad, False))
    ]


def _build_precision(index: int, topics: Sequence[Topic]) -> ControlRows:
    """The passage from which the reference follows, and one of the same subject from which it does not."""
    topic = topics[index]
    fields = {"question": topic["question"], "reference": topic["reference"]}
    return [
        (
            {**fields, "contexts": Ranked([Chunk("d1", passage)])},
            is_good,
            share_words(topic["reference"], passage),
        )
        for passage, is_good in ((topic["passage"], True), (topic["neighbour"], False))
    ]


def _build_completeness(index: int, topics: Sequence[Topic]) -> ControlRows:
    topic = topics[index]
    question, half = topic["pair_question"], topic.get("partial_answer", topic["half_answer"])
    return [
        ({"question": question, "answer": answer}, is_good, share_words(question, answer))
        for answer, is_good in ((topic["pair_answer"], True), (half, False))
    ]


def _build_relevance(index: int, topics: Sequence[Topic]) -> ControlRows:
    """An answer, and one that is evasive or beside the question."""
    topic = topics[index]
    question = topic["question"]
    return [
        ({"question": question, "answer": answer}, is_good, share_words(question, answer))
        for answer, is_good in ((topic["answer"], True), (topic["off"], False))
    ]


def _build_coherence(index: int, topics: Sequence[Topic]) -> ControlRows:
    """A passage, and the halves of sentences of three passages, mixed."""
    others = [topics[(index + step) % len(topics)]["passage"] for step in (0, 5, 10)]
    halves = [
        " ".join(words[: len(words) // 2] if step % 2 else words[len(words) // 2 :])
        for sentences in zip(*map(_cut_sentences, others), strict=False)
        for step, words in enumerate(sentence.split() for sentence in sentences)
    ]
    return [
        ({"answer": topics[index]["passage"]}, True, 0.0),
        ({"answer": " ".join(halves)}, False, 0.0),
    ]


def _build_similarity(index: int, topics: Sequence[Topic]) -> ControlRows:
    """The same statement in other words, and another statement about the same subject."""
    topic = topics[index]
    return [
        (
            {"answer": answer, "reference": topic["reference"]},
            is_good,
            share_words(topic["reference"], answer),
        )
        for answer, is_good in ((topic["answer"], True), (topic["invented"], False))
    ]


def _build_problems(index: int, topics: Sequence[Topic]) -> ControlRows:
    """A question that the passage answers, and one that it does not."""
    topic = topics[index]
    contexts = Ranked([Chunk("d1", topic["passage"])])
    return [
        (
            {"question": question, "contexts": contexts, "meta": {"key": topic["key"]}},
            is_good,
            share_words(question, topic["passage"]),
        )
        for question, is_good in ((topic["question"], True), (topic["unanswerable"], False))
    ]


def _build_texts(index: int, topics: Sequence[Topic]) -> ControlRows:
    """Texts of one and of two statements; the simplest rule takes sentences for statements."""
    topic = topics[index]
    return [
        (
            {"answer": text, "meta": {"claims": count}},
            True,
            float(len(_cut_sentences(text)) == count),
        )
        for text, count in ((topic["answer"], 1), (topic["pair_answer"], 2))
    ]


def _build_sources(index: int, topics: Sequence[Topic]) -> ControlRows:
    if index % 3:  # five are enough
        return []
    topic = topics[index]
    contexts = Ranked([Chunk("d1", topic["passage"])])
    fields = {"contexts": contexts, "question": topic["question"], "answer": topic["answer"]}
    return [(fields, True, 0.0)]


def _cut_sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def share_words(text: str, other: str) -> float:
    """Return the share of the content words of a text that another one has."""
    words = find_content_words(text)
    return len(words & find_content_words(other)) / max(1, len(words))


def _check_split(sample: Sample) -> Asking[Score]:
    """1 when the answer is split into as many claims as it makes."""
    reply = yield from ask(claims(sample.answer or "", language=sample.language))
    return Score(float(len(reply["claims"]) == sample.meta["claims"]))


def _check_solution(sample: Sample) -> Asking[Score]:
    """1 when the question is called answered with the right answer, 0 when it is called not answered or wrongly."""
    problem = Problem((sample.question or "",), tuple(sample.contexts or ()))
    reply = yield from ask(solve(problem, language=sample.language))
    (row,) = reply["answers"]
    answer = fold_text(row["answer"])
    is_known = any(fold_text(key) in answer for key in sample.meta["key"])
    return Score(float(row["told"] and is_known))


def _check_writing(sample: Sample) -> Asking[Score]:
    """1 when the sentence that is copied as the proof of an answer stands in its source."""
    source = (sample.contexts or Ranked())[0]
    question, answer = sample.question or "", sample.answer or ""
    asked = write("sentence", [source], question=question, answer=answer, language=sample.language)
    reply = yield from ask(asked)
    return Score(float(bool(reply["text"]) and find_quote(reply["text"], source.text) is not None))


def _build_check(name: str, function: Callable[[Sample], Asking[Score]]) -> Metric:
    return Metric(name, function, name, takes=("sample",), judged=True)


_SPLIT = _build_check("claims", _check_split)
_SOLVED = _build_check("solve", _check_solution)
_WRITTEN = _build_check("write", _check_writing)


@lru_cache(maxsize=len(LANGUAGES))
def _load_topics(language: str) -> tuple[Topic, ...]:
    file = resources.files("ragstone.experiments.judge_check") / "topics" / f"{language}.toml"
    return tuple(tomllib.loads(file.read_text("utf-8"))["topic"])
