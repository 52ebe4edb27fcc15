"""Comparisons of runs: who is matched, what counts, and what the verdict is."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ragstone.analysis.columns import match_samples, read_columns
from ragstone.analysis.compare import compare
from ragstone.config import Plan
from ragstone.errors import RagstoneError, UnknownMetric
from ragstone.store import RunInfo
from ragstone.types import Score

FAILED = Score(outcome="judge_error", kind="refusal", reason="no")
NOT_APPLICABLE = Score(outcome="not_applicable", reason="nothing to judge")


def only(comparison):
    return comparison.versus[0].differences[0]


def test_a_clear_gain_is_better_and_a_clear_loss_worse(build) -> None:
    ease = np.random.default_rng(1).random(200) * 0.5
    old, new = build("old", {"score": ease}), build("new", {"score": ease + 0.2})
    assert only(compare([old, new])).verdict == "better"
    loss = only(compare([new, old]))
    assert (loss.verdict, loss.worsened, loss.improved) == ("worse", 200, 0)
    assert loss.difference == pytest.approx(-0.2)


def test_lower_is_better_turns_the_verdict(build) -> None:
    lower = {"score": {"higher_is_better": False}}
    ease = np.random.default_rng(1).random(200) * 0.5
    old = build("old", {"score": ease}, metrics=lower)
    new = build("new", {"score": ease + 0.2}, metrics=lower)
    assert only(compare([old, new])).verdict == "worse"


def test_samples_are_matched_by_id_in_any_order_and_the_others_are_counted(build) -> None:
    old = build("old", {"score": [0.1, 0.2, 0.3, 0.4]}, ids=["a", "b", "c", "d"])
    new = build("new", {"score": [0.4, 0.3, 0.9]}, ids=["d", "c", "x"])
    versus = compare([old, new]).versus[0]
    assert (versus.pairs, versus.only_before, versus.only_after) == (2, 2, 1)
    assert versus["score"].before == pytest.approx(0.35)
    assert versus["score"].unchanged == 2


def test_only_pairs_scored_on_both_sides_count_and_the_others_are_named(build) -> None:
    old = build("old", {"score": [0.5, FAILED, NOT_APPLICABLE, 0.5, FAILED]})
    new = build("new", {"score": [0.7, 0.7, NOT_APPLICABLE, FAILED, FAILED]})
    found = only(compare([old, new]))
    assert (found.pairs, found.applicable) == (1, 4)
    assert found.left_out == {
        "before: judge_error: refusal": 1,
        "both: not_applicable": 1,
        "after: judge_error: refusal": 1,
        "both: judge_error: refusal": 1,
    }


def test_under_the_floor_there_is_no_verdict_however_clear_the_difference(build) -> None:
    old = build("old", {"score": [0.1] * 100})
    new = build("new", {"score": [0.9] * 94 + [FAILED] * 6})
    assert only(compare([old, new])).verdict == "withheld"
    assert only(compare([old, new], floor=0.9)).verdict == "better"
    assert compare([old, new]).exit_code == 3


def test_a_metric_that_applies_on_one_side_only_is_warned_of(build) -> None:
    old = build("old", {"score": [0.1, 0.2] * 20})
    new = build("new", {"score": [0.1, NOT_APPLICABLE] * 20})
    found = only(compare([old, new]))
    assert found.coverage == 1
    assert found.warnings[-1].startswith("20 of 40 samples have this metric on one side only")


def test_close_systems_are_equivalent_when_the_questions_suffice_and_unclear_when_not(
    build,
) -> None:
    dice = np.random.default_rng(3)
    for count, verdict in ((2000, "equivalent"), (60, "unclear")):
        ease = dice.random(count)
        old = build(f"old{count}", {"score": ease})
        new = build(f"new{count}", {"score": np.clip(ease + dice.normal(0, 0.1, count), 0, 1)})
        assert only(compare([old, new])).verdict == verdict


def test_what_cannot_be_told_comes_with_what_would_settle_it(build) -> None:
    dice = np.random.default_rng(4)
    old = build("old", {"score": dice.random(100)})
    new = build("new", {"score": dice.random(100)})
    found = only(compare([old, new], effect=0.03))
    assert found.verdict == "unclear"
    assert found.detectable == pytest.approx(2.8 * (1 / 6) ** 0.5 / 10, rel=0.15)
    assert found.needed == pytest.approx(100 * (found.detectable / 0.03) ** 2, rel=0.1)


def test_groups_make_the_interval_wider(build) -> None:
    dice = np.random.default_rng(5)
    gain = np.repeat(dice.normal(0.05, 0.2, 40), 10)
    base, moved = np.full(400, 0.5), np.clip(0.5 + gain, 0, 1)
    groups = [f"g{n // 10}" for n in range(400)]
    plain = only(compare([build("a", {"s": base}), build("b", {"s": moved})]))
    kept = only(
        compare([build("c", {"s": base}, groups=groups), build("d", {"s": moved}, groups=groups)])
    )
    assert (kept.clusters, plain.clusters) == (40, None)
    assert kept.high - kept.low > 2.5 * (plain.high - plain.low)
    assert kept.p > plain.p


def test_yes_or_no_metrics_are_tested_by_mcnemar(build) -> None:
    binary = {"hit": {"binary": True}}
    old = build("old", {"hit": [0.0] * 6 + [1.0] * 14}, metrics=binary)
    new = build("new", {"hit": [1.0] * 20}, metrics=binary)
    found = only(compare([old, new]))
    assert (found.test, found.p) == ("mcnemar", pytest.approx(0.03125))


def test_everything_shown_is_corrected_together(build) -> None:
    dice = np.random.default_rng(6)
    columns_of = {f"m{n}": dice.random(80) for n in range(5)}
    runs = [build("base", columns_of)]
    runs += [build(f"r{k}", {n: dice.random(80) for n in columns_of}) for k in range(4)]
    comparison = compare(runs)
    assert comparison.tests == 20
    for versus in comparison.versus:
        for difference in versus.differences:
            assert difference.adjusted >= difference.p


@pytest.mark.parametrize("studies", [pytest.param(80, id="few"), pytest.param(1000, id="many", marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])  # fmt: skip
@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_twelve_equal_configurations_yield_a_false_better_in_at_most_one_study_of_twenty(
    studies: int, correction: str
) -> None:
    """The studies go through `compare` itself, on runs held in memory: 12 runs, 3 metrics, 60 questions."""
    dice = np.random.default_rng(7)
    alarms = 0
    for _ in range(studies):
        ease = dice.random(60)
        runs = [Made(f"r{k}", ease, dice) for k in range(12)]
        comparison = compare(runs, correction=correction, samples=0)
        verdicts = {
            difference.verdict for versus in comparison.versus for difference in versus.differences
        }
        alarms += bool(verdicts & {"better", "worse"})
    assert alarms / studies <= 0.05 + 3 * (0.05 * 0.95 / studies) ** 0.5


class Made:
    """A run of a 0/1, a graded and a lumpy metric that differ from another's by chance alone."""

    def __init__(self, name: str, ease: np.ndarray, dice: np.random.Generator) -> None:
        plain = {"higher_is_better": True, "bounds": [0.0, 1.0]}
        metrics = tuple(
            {**plain, "name": one, "family": one, "binary": one == "hit"}
            for one in ("hit", "graded", "lumpy")
        )
        self.info = RunInfo(
            id=name, name=name, created="", status="done", plan=Plan(), shape={}, source="", format="",
            metrics=metrics,
        )  # fmt: skip
        hit = (dice.random(len(ease)) < ease).astype(float)
        graded = np.clip(ease + dice.normal(0, 0.2, len(ease)), 0, 1)
        lumpy = np.round(np.clip(ease + dice.normal(0, 0.3, len(ease)), 0, 1) * 3) / 3
        self.table = np.stack([hit, graded, lumpy], axis=1)

    def values(self):
        for n, (hit, graded, lumpy) in enumerate(self.table.tolist()):
            yield n + 1, f"q{n}", None, {"hit": hit, "graded": graded, "lumpy": lumpy}

    def row(self, position: int):
        from types import SimpleNamespace

        return SimpleNamespace(sample=SimpleNamespace(question=f"q{position}"))


def test_the_samples_that_moved_most_come_first_with_both_values(build) -> None:
    old = build("old", {"a": [0.9, 0.5, 0.2, 0.5], "b": [1.0, 0.5, 0.0, 0.5]})
    new = build("new", {"a": [0.1, 0.4, 0.8, 0.5], "b": [0.0, 0.5, FAILED, 0.5]})
    versus = compare([old, new]).versus[0]
    assert [one.id for one in versus.regressed] == ["q0", "q2", "q1"]
    assert versus.regressed[0].metrics == {"a": (0.9, 0.1), "b": (1.0, 0.0)}
    assert versus.regressed[1].metrics["b"] == (0.0, "judge_error: refusal")
    assert (versus.regressed_count, versus.fixed_count) == (3, 0)


def test_a_sample_that_no_longer_fails_is_fixed(build) -> None:
    old, new = build("old", {"a": [FAILED, 0.5]}), build("new", {"a": [0.1, 0.5]})
    versus = compare([old, new]).versus[0]
    assert [(one.id, one.change) for one in versus.fixed] == [("q0", 1.0)]


def test_latency_is_shown_but_fails_nothing_unless_it_is_named(build) -> None:
    slow = {"latency": {"bounds": None, "higher_is_better": False}}
    dice = np.random.default_rng(8)
    times = dice.random(100) + 1
    old = build("old", {"latency": times}, metrics=slow)
    new = build("new", {"latency": times * 2}, metrics=slow)
    comparison = compare([old, new])
    assert only(comparison).verdict == "worse"
    assert comparison.regressions == ()
    assert len(compare([old, new], metrics=["latency"]).regressions) == 1


def test_runs_that_ask_other_questions_under_the_same_ids_are_noticed(build) -> None:
    old = build("old", {"a": [0.5, 0.5]}, rows=[{"question": "Who?"}, {"question": "What?"}])
    new = build("new", {"a": [0.5, 0.5]}, rows=[{"question": "Who?"}, {"question": "When?"}])
    assert compare([old, new]).versus[0].other_questions == ("q1",)


def test_runs_without_a_shared_sample_or_metric_are_refused(build) -> None:
    one = build("one", {"a": [0.5, 0.6]})
    with pytest.raises(RagstoneError, match="share no sample id"):
        compare([one, build("two", {"a": [0.5]}, ids=["z"])])
    with pytest.raises(RagstoneError, match="share no metric"):
        compare([one, build("three", {"b": [0.5, 0.6]})])
    with pytest.raises(UnknownMetric, match="not all runs have a metric 'b'"):
        compare([one, build("four", {"a": [0.5, 0.6]})], metrics=["b"])
    with pytest.raises(RagstoneError, match="at least two runs"):
        compare([one])


def test_the_comparison_is_plain_json(build) -> None:
    old, new = build("old", {"a": [0.5, FAILED, 0.1]}), build("new", {"a": [0.6, 0.2, 0.1]})
    plain = json.loads(json.dumps(compare([old, new]).to_dict(), allow_nan=False))
    assert plain["versus"][0]["differences"][0]["coverage"] == pytest.approx(2 / 3)


def test_columns_hold_values_and_how_the_others_ended(build) -> None:
    columns = read_columns(build("one", {"a": [0.5, FAILED, NOT_APPLICABLE]}))
    assert columns.values["a"][0] == 0.5
    assert np.isnan(columns.values["a"][1:]).all()
    assert columns.ends["a"] == {1: "judge_error: refusal", 2: "not_applicable"}
    assert match_samples(columns, columns).pairs == 3
