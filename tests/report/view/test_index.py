"""The index of a run: which samples fit, in which order, how traits are spread, and which files it still reads."""

from __future__ import annotations

import json
import sqlite3

import pytest

from ragstone.report.view.index import RunIndex, SampleQuery, ValueRange
from ragstone.report.view.index_builder import FACTS_FILE, TEXTS_FILE, build_index
from ragstone.types import Finding, Score

METRIC = {
    "name": "m", "family": "m", "higher_is_better": True, "bounds": [0, 1], "binary": False,
    "judged": True, "labels": [], "meaning": "",
}  # fmt: skip
VALUES = (0.5, None, 0.9, 0.1, None, 0.5)
TOPICS = ("b", "a", "b", "c", "b", "c")
IDS = tuple(f"q{number}" for number in range(1, 7))


def make_score(value: float | None) -> Score:
    if value is None:
        return Score(outcome="judge_error", kind="refusal", reason="no")
    verdict = "supported" if value >= 0.5 else "contradicted"
    return Score(value, findings=(Finding("c", verdict),))


@pytest.fixture
def folder(build, tmp_path):
    cases = [
        ({"id": id, "question": f"About {id}", "answer": "blue", "topic": topic}, {"m": make_score(value)})
        for id, topic, value in zip(IDS, TOPICS, VALUES, strict=True)
    ]  # fmt: skip
    folder = tmp_path / "r.index"
    build_index(build(cases, metrics=(METRIC,)), folder, 7, lambda done: True)
    return folder


@pytest.fixture
def index(folder):
    index = RunIndex.open(folder)
    assert index is not None
    yield index
    index.close()


def list_positions(index: RunIndex, query: SampleQuery) -> list[int]:
    return index.order(index.select(query), query).tolist()


QUERIES = (
    (SampleQuery(), [1, 2, 3, 4, 5, 6]),
    (SampleQuery(descending=True), [6, 5, 4, 3, 2, 1]),
    (SampleQuery(sort="m"), [4, 1, 6, 3, 2, 5]),
    (SampleQuery(sort="m", descending=True), [3, 6, 1, 4, 2, 5]),
    (SampleQuery(sort="nonsense"), [1, 2, 3, 4, 5, 6]),
    (SampleQuery(ranges=(ValueRange("m", 0.1, 0.5),)), [1, 4, 6]),
    (SampleQuery(ranges=(ValueRange("m", 0.1, 0.5, excludes_high=True),)), [4]),
    (SampleQuery(ranges=(ValueRange("m", 0.5),)), [1, 3, 6]),
    (SampleQuery(ranges=(ValueRange("m"),)), [1, 3, 4, 6]),
    (SampleQuery(ranges=(ValueRange("nonsense"),)), []),
    (SampleQuery(positions=(1, 3, 99, 0)), [1, 3]),
    (SampleQuery(positions=()), []),
    (SampleQuery(excluded_positions=(1, 3, 99)), [2, 4, 5, 6]),
    (SampleQuery(traits=(("meta.topic", "b"),)), [1, 3, 5]),
    (SampleQuery(traits=(("meta.topic", "b"), ("outcome.m", "judge_error"))), [5]),
    (SampleQuery(traits=(("verdict", "supported"),)), [1, 3, 6]),
    (SampleQuery(traits=(("meta.topic", "nonsense"),)), []),
    (SampleQuery(text="q4"), [4]),
    (SampleQuery(text="blue", positions=(2, 6), sort="m"), [6, 2]),
)


def test_samples_are_chosen_and_sorted_and_what_has_no_value_comes_last(index: RunIndex) -> None:
    for query, positions in QUERIES:
        assert list_positions(index, query) == positions, query


def test_the_values_of_a_trait_are_counted_the_most_frequent_first(index: RunIndex) -> None:
    everything = index.select(SampleQuery())
    counts = index.count_trait("meta.topic", everything)
    assert [(count.value, count.count) for count in counts] == [("b", 3), ("c", 2), ("a", 1)]
    verdicts = index.count_trait("verdict", everything)
    assert [(count.value, count.count) for count in verdicts] == [("supported", 3), ("contradicted", 1)]  # fmt: skip
    some = index.count_trait("meta.topic", index.select(SampleQuery(positions=(2, 4))))
    assert [(count.value, count.count) for count in some] == [("a", 1), ("c", 1)]
    assert index.count_trait("nonsense", everything) == []


def test_ids_are_found_and_of_one_that_repeats_the_first(folder) -> None:
    with sqlite3.connect(folder / TEXTS_FILE) as texts:
        texts.execute("UPDATE rows SET id = 'twin' WHERE position IN (3, 5)")
    texts.close()
    index = RunIndex.open(folder)
    assert index is not None
    assert index.find_positions(["q6", "twin", "nobody"]) == {"q6": 6, "twin": 3}
    many = [f"x{number}" for number in range(600)]
    assert index.find_positions([*many, "q1"]) == {"q1": 1}
    index.close()


def test_heads_come_in_the_order_that_was_asked_for(index: RunIndex) -> None:
    heads = index.read_heads([4, 1, 99])
    assert [(head.position, head.id, head.title) for head in heads] == [(4, "q4", "About q4"), (1, "q1", "About q1")]  # fmt: skip
    assert index.read_heads([]) == []


def test_what_there_is_to_filter_by(index: RunIndex) -> None:
    assert set(index.list_traits()) >= {"verdict", "meta.topic", "outcome.m", "class", "language"}
    assert (index.rows, index.metrics, index.stamp) == (6, ("m",), 7)
    assert index.load_values("nonsense") is None


@pytest.mark.parametrize("facts", [{"version": 0}, {"version": None}, {"rows": "x"}])
def test_an_index_of_another_version_or_a_broken_one_is_taken_for_missing(folder, facts) -> None:
    path = folder / FACTS_FILE
    path.write_text(json.dumps(json.loads(path.read_text("ascii")) | facts), "ascii")
    assert RunIndex.open(folder) is None
    path.unlink()
    assert RunIndex.open(folder) is None
