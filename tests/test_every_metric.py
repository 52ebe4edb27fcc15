"""What holds for every registered metric: a new one is tested by being registered."""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragstone.asks import Ask, Reply
from ragstone.errors import JUDGE_FAULTS, JudgeFailed, MissingExtra, Unscored
from ragstone.metrics import REGISTERED, resolve
from ragstone.registry import Metric
from ragstone.types import OUTCOMES, ChatMessage, Chunk, Ranked, Sample, Score, ToolStep

BUILT_IN = sorted(
    name for name, one in REGISTERED.items() if one.function.__module__.startswith("ragstone.")
)


def variants(family: str) -> list[Metric]:
    """The metric as it is, and with each of its options set to other values in turn."""
    found = REGISTERED[family]
    hints = typing.get_type_hints(found.function)
    return [
        found,
        *(
            resolve({family: {name: value}})
            for name, default in found.options.items()
            for value in others(family, name, hints[name])
            if value != default
        ),
    ]


def others(family: str, name: str, hint: Any) -> list[Any]:
    """Values that an option's annotation allows, awkward to print where it is free text."""
    if family == "overall":
        return [{"recall@3": 1.0, "token_f1": 0.5}, {"hallucination_rate": 1.0}]
    if family == "rubric" and name == "fields":
        return [["answer"], ["contexts", "reference"]]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return list(inner)
    if hint is bool:
        return [True, False]
    if hint in (int, int | None):
        return [1, 3]
    if hint is float:
        return [0.25]
    if hint is str:
        return ["plain", 'two "words", (and) a\\b', "años = ¿qué?"]
    if origin not in (tuple, Sequence) and str in inner:  # a text or several
        return ["N/A", ["none", "no, sé (nada)"]]
    return [['say "a", or b', "ñ)", "(c"]]


VARIANTS = [one for family in BUILT_IN for one in variants(family)]

words = st.sampled_from(
    [
        "",
        " ",
        "Paris is the capital [1].",
        "It is not mentioned in the document.",
        "A. B? C!\n\nD",
        "ﬁ İ ß \u200b\ufeff",
        "[1][2] [99] [0]",
        "no " * 200,
        "\x00\x1c\u2028",
        "!?",
        "the",
    ]
)
texts = words | st.text(max_size=60) | st.lists(words, max_size=4).map(" ".join)
ids = st.sampled_from(["a", "b", "c", "\n", "ñ"])
grades = st.sampled_from([0.0, 1.0, 3.0, -1.0, 5e-324, 1.7e308]) | st.floats(
    allow_nan=False, allow_infinity=False
)
chunk = st.builds(Chunk, id=ids | st.just(""), text=texts)
meta = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["impossible", "unanswerable", "factual", 3, None]),
        "answerable": st.booleans() | st.just("no"),
        "latency": st.floats() | st.text(max_size=3),
        "tokens": st.integers() | st.none(),
        "cost": st.floats(),
    },
)
message = st.builds(ChatMessage, st.sampled_from(["user", "assistant", "system"]), texts)
arguments = st.none() | st.dictionaries(ids, st.integers(0, 2), max_size=2)
step = st.builds(
    ToolStep, st.sampled_from(["search", "book"]), arguments, st.none() | texts, st.none() | texts
)
steps = st.none() | st.lists(step, max_size=3).map(tuple)
samples = st.builds(
    Sample,
    id=st.just("1"),
    question=st.none() | texts,
    answer=st.none() | texts,
    contexts=st.none() | st.lists(chunk, max_size=6).map(Ranked),
    reference=st.none() | texts,
    relevant=st.none() | st.dictionaries(ids, grades, max_size=5),
    language=st.sampled_from([None, "en", "es", "es-MX", "de", "zz"]),
    meta=meta,
    messages=st.none() | st.lists(message, max_size=4).map(tuple),
    steps=steps,
    expected_steps=steps,
)


def replies(ask: Ask) -> st.SearchStrategy[Any]:
    """What a judge may send back: its schema filled at random, its schema filled from the question, or a failure."""
    failure = st.builds(JudgeFailed, st.sampled_from(JUDGE_FAULTS), st.just("it failed"))
    return st.one_of(
        fitting(ask).map(Reply),
        fitting(ask).map(Reply),
        by_schema(ask.schema).map(Reply),
        failure,
    )


def by_schema(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Any JSON value that a schema of the portable subset allows."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "object":
            return st.fixed_dictionaries(
                {name: by_schema(inner) for name, inner in schema["properties"].items()}
            )
        case "array":
            return st.lists(by_schema(schema["items"]), max_size=4)
        case "string":
            return st.sampled_from(["t1", "c1", "k1", ""]) | st.text(max_size=10)
        case "integer":
            return st.integers(-1, 5)
        case "number":
            return st.floats(allow_nan=False, allow_infinity=False)
        case "boolean":
            return st.booleans()
    raise AssertionError(f"the portable subset has no {schema!r}")


def fitting(ask: Ask) -> st.SearchStrategy[Any]:
    """A reply that covers every id of the question once, as a sound judge's does."""
    given, row = ask.values, st.fixed_dictionaries
    match ask.kind:
        case "claims":
            places = [
                (text["id"], n) for text in given["texts"] for n in range(len(text["sentences"]))
            ]
            claim = st.sampled_from(["Paris is big", "It is old", "x"])
            return lists_of(
                [
                    row({"text_id": st.just(i), "sentence": st.just(n), "claim": claim})
                    for i, n in places
                ]
            ).map(lambda rows: {"claims": rows})
        case "support":
            return lists_of(
                [
                    row(
                        {
                            "id": st.just(claim["id"]),
                            "verdict": st.sampled_from(["supported", "contradicted", "not_found"]),
                            "evidence": evidence(case["sources"]),
                            "reason": st.just("so"),
                        }
                    )
                    for case in given["cases"]
                    for claim in case["claims"]
                ]
            ).map(lambda rows: {"verdicts": rows})
        case "useful":
            return lists_of(
                [
                    row(
                        {
                            "id": st.just(chunk["id"]),
                            "target": st.just(target),
                            "grade": st.integers(0, 2),
                            "reason": st.just("so"),
                        }
                    )
                    for chunk in given["chunks"]
                    for target in given["targets"]
                ]
            ).map(lambda rows: {"grades": rows})
        case "turns":
            return lists_of(
                [
                    row(
                        {
                            "id": st.just(turn["id"]),
                            "addresses": st.booleans(),
                            "contradicts": st.sampled_from(["", "n1"]),
                            "quote": st.just(turn["answer"][:5]),
                            "reason": st.just("so"),
                        }
                    )
                    for turn in given["turns"]
                ]
            ).map(lambda rows: {"turns": rows})
        case "goal":
            return row({"turn": st.sampled_from(["", "n1"]), "reason": st.just("so")})
        case "embed":
            number = st.sampled_from([0.0, 1.0, -1.0, 1e200, 1e-200]) | st.floats(-1, 1)
            return st.integers(1, 4).flatmap(
                lambda width: lists_of(
                    [st.lists(number, min_size=width, max_size=width) for _ in given["texts"]]
                ).map(lambda vectors: {"vectors": vectors})
            )
    return by_schema(ask.schema)


def evidence(sources: list[dict[str, str]]) -> st.SearchStrategy[list[dict[str, str]]]:
    quotes = [
        {"source": source["id"], "quote": quote}
        for source in sources
        for quote in (source["text"], source["text"][:9], "not there")
    ]
    return st.lists(st.sampled_from(quotes), max_size=2) if quotes else st.just([])


def lists_of(rows: list[st.SearchStrategy[Any]]) -> st.SearchStrategy[list[Any]]:
    return st.tuples(*rows).map(list)


def ended(metric: Metric, sample: Sample, data: st.DataObject) -> Score | Unscored:
    """How the metric ends on the sample when the judge replies as drawn."""
    fields = [sample if name == "sample" else getattr(sample, name) for name in metric.takes]
    try:
        result = metric.function(*fields, **metric.options)
        assert isinstance(result, Generator) == metric.judged
        if not metric.judged:
            return result
        asks = next(result)
        while True:
            asks = result.send(tuple(data.draw(replies(ask)) for ask in asks))
    except StopIteration as end:
        return end.value
    except Unscored as outcome:
        return outcome


@pytest.mark.parametrize("metric", VARIANTS, ids=str)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(sample=samples, data=st.data())
def test_ends_in_a_finite_score_within_bounds_or_a_typed_outcome(metric, sample, data):
    if any(getattr(sample, name) is None for name in metric.needs):
        return
    if metric.extra:
        installed(metric)
    result = ended(metric, sample, data)
    if isinstance(result, Unscored):
        assert result.outcome in OUTCOMES
        assert result.outcome != "ok"
        assert result.reason
    else:
        assert type(result) is Score
        assert result.ok
        assert math.isfinite(result.value)
        low, high = metric.bounds or (-math.inf, math.inf)
        assert low <= result.value <= high
        assert not metric.binary or result.value in (0.0, 1.0)
    assert result.label is None or result.label in metric.labels


def installed(metric: Metric) -> None:
    try:
        metric.function("a", "a", **metric.options)
    except MissingExtra as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("metric", VARIANTS, ids=str)
def test_prints_as_it_is_typed(metric):
    again = resolve(str(metric))
    assert again.name == metric.name
    assert again.options == metric.options
    assert again.judged == metric.judged


@pytest.mark.parametrize("family", BUILT_IN)
def test_says_in_one_sentence_what_it_means(family):
    meaning = REGISTERED[family].meaning
    assert len(meaning.split()) >= 4
    assert meaning.endswith(".")


@pytest.mark.parametrize("family", BUILT_IN)
def test_needs_fields_and_options_are_its_signature(family):
    found = REGISTERED[family]
    parameters = inspect.signature(found.function).parameters.values()
    assert [p.name for p in parameters if p.kind is p.KEYWORD_ONLY] == list(found.options)
    assert set(found.needs) <= set(found.takes)


def test_every_documented_metric_without_a_judge_is_registered():
    wanted = {"precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg", "exact_match"}
    wanted |= {"token_f1", "rouge_l", "bleu", "chrf", "abstention_accuracy"}
    assert wanted <= {name for name in BUILT_IN if not REGISTERED[name].judged}
