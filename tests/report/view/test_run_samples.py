"""The samples of a run in the viewer: which fit, in which order, and how traits are spread."""

from __future__ import annotations

import pytest

from ragstone.report.view.run_samples import Place, RunSamples, SampleQuery, ValueRange
from ragstone.report.view.traits import find_stamp, write_traits
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
def run(build):
    cases = [
        ({"id": id, "question": f"About {id}", "answer": "blue", "topic": topic}, {"m": make_score(value)})
        for id, topic, value in zip(IDS, TOPICS, VALUES, strict=True)
    ]  # fmt: skip
    return build(cases, metrics=(METRIC,))


@pytest.fixture
def samples(run):
    write_traits(run, 7, lambda done: True)
    return RunSamples(run)


QUERIES = (
    (SampleQuery(), [1, 2, 3, 4, 5, 6]),
    (SampleQuery(descending=True), [6, 5, 4, 3, 2, 1]),
    (SampleQuery(sort="m"), [4, 1, 6, 3, 2, 5]),
    (SampleQuery(sort="m", descending=True), [3, 1, 6, 4, 2, 5]),
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


def test_samples_are_chosen_and_sorted_and_what_has_no_value_comes_last(
    samples: RunSamples,
) -> None:
    for query, positions in QUERIES:
        assert samples.page(query) == positions, query
        assert samples.count(query) == len(positions), query
        assert samples.page(query, 1, 2) == positions[1:3], query
        for rank, at in enumerate(positions):
            before = positions[rank - 1] if rank else None
            after = positions[rank + 1] if rank + 1 < len(positions) else None
            assert samples.find_place(query, at) == Place(rank, before, after), (query, at)
    assert samples.find_place(SampleQuery(text="q4"), 1) is None


def test_the_values_of_a_trait_are_counted_the_most_frequent_first(samples: RunSamples) -> None:
    everything = SampleQuery()
    counts = samples.count_trait("meta.topic", everything)
    assert [(count.value, count.count) for count in counts] == [("b", 3), ("c", 2), ("a", 1)]
    verdicts = samples.count_trait("verdict", everything)
    assert [(count.value, count.count) for count in verdicts] == [("supported", 3), ("contradicted", 1)]  # fmt: skip
    some = samples.count_trait("meta.topic", SampleQuery(positions=(2, 4)))
    assert [(count.value, count.count) for count in some] == [("a", 1), ("c", 1)]
    good = SampleQuery(ranges=(ValueRange("m", 0.5),))
    assert [(c.value, c.count) for c in samples.count_trait("verdict", good)] == [("supported", 3)]
    failed = samples.count_trait("outcome.m", SampleQuery(positions=(1, 2)))
    assert [(c.value, c.count) for c in failed] == [("judge_error", 1)]
    assert samples.count_trait("nonsense", everything) == []


def test_a_metric_is_summed_up_by_the_values_of_a_trait(samples: RunSamples) -> None:
    found = {value: (count, moments) for value, count, moments in samples.summarise_by("meta.topic", "m", SampleQuery())}  # fmt: skip
    count, moments = found["b"]
    assert (count, moments.n, moments.mean) == (3, 2, pytest.approx(0.7))
    assert moments.squares == pytest.approx(0.08)
    assert found["a"][1].n == 0
    some = samples.summarise_by("verdict", "m", SampleQuery(positions=(3, 4)))
    assert {value: moments.mean for value, _, moments in some} == {
        "supported": pytest.approx(0.9), "contradicted": pytest.approx(0.1),
    }  # fmt: skip


def test_ids_are_found_and_of_one_that_repeats_the_first(samples: RunSamples, run) -> None:
    twins = "UPDATE samples SET id = 'twin' WHERE position IN (3, 5)"
    run.store.write(lambda db: db.execute_many(twins, [()])).result()
    assert samples.find_positions(["q6", "twin", "nobody"]) == {"q6": 6, "twin": 3}


def test_heads_come_in_the_order_that_was_asked_for(samples: RunSamples) -> None:
    heads = samples.read_heads([4, 1])
    assert [(head.position, head.id, head.title) for head in heads] == [(4, "q4", "About q4"), (1, "q1", "About q1")]  # fmt: skip
    assert samples.read_heads([]) == []
    cells = samples.read_cells([4, 2], ["m"])
    assert cells[4, "m"].value == 0.1
    assert cells[2, "m"].outcome == "judge_error"
    assert samples.read_traits("meta.topic", [4, 2]) == {4: "c", 2: "a"}


def test_what_there_is_to_filter_by(samples: RunSamples, run) -> None:
    assert set(samples.list_traits()) == {"verdict", "meta.topic", "outcome.m"}
    assert (samples.rows, samples.metrics, find_stamp(run)) == (6, ("m",), 7)
    assert samples.load_values("nonsense") == []
    assert sorted(samples.load_values("m")) == [0.1, 0.5, 0.5, 0.9]


def test_traits_are_replaced_and_without_them_values_still_filter(run) -> None:
    bare = RunSamples(run)
    assert not bare.has_traits
    assert bare.list_traits() == []
    assert bare.page(SampleQuery(ranges=(ValueRange("m", 0.9),))) == [3]
    for stamp in (1, 2):
        write_traits(run, stamp, lambda done: True)
        assert find_stamp(run) == stamp
    assert RunSamples(run).count_trait("meta.topic", SampleQuery())[0].count == 3
