"""A summary says how good, how sure, out of how many, and why not for the rest."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ragstone.analysis import label_rates, summarise, values
from ragstone.analysis.stats import wilson_interval
from ragstone.config import Plan
from ragstone.errors import UnknownMetric
from ragstone.store import RunInfo
from ragstone.types import Score, Usage

NOT_APPLICABLE = Score(outcome="not_applicable", reason="the answer makes no claim")
MISSING = Score(outcome="missing_field", reason="the sample has no `relevant`")
REFUSED = Score(outcome="judge_error", kind="refusal", reason="the judge declined")


def described(name: str, **changes: Any) -> dict[str, Any]:
    known = {"name": name, "family": name, "higher_is_better": True, "bounds": [0, 1]}
    return known | {"binary": False, "judged": False, "labels": [], "meaning": ""} | changes


class Scores:
    """A run in memory."""

    def __init__(self, metrics: list[dict[str, Any]], rows: list[Any]) -> None:
        self.info = RunInfo(
            id="r1",
            name="test",
            created="2026-01-01T00:00:00Z",
            status="done",
            plan=Plan(),
            shape={},
            source="data.jsonl",
            format="native",
            metrics=tuple(metrics),
            total=len(rows),
        )
        self._rows = rows

    def scores(self) -> Iterator[tuple[int, str, str | None, dict[str, Score]]]:
        for position, row in enumerate(self._rows, 1):
            group, scores = row if isinstance(row, tuple) else (None, row)
            yield position, f"s{position}", group, scores


def run_of(*scores: Score | float, **changes: Any) -> Scores:
    """A run of one metric called `m`."""
    rows = [{"m": score if isinstance(score, Score) else Score(float(score))} for score in scores]
    return Scores([described("m", **changes)], rows)


def test_figures_of_a_small_run() -> None:
    one = summarise(run_of(0.0, 0.5, 1.0, 0.9, 0.6))["m"]
    assert (one.total, one.applicable, one.scored) == (5, 5, 5)
    assert one.mean == pytest.approx(0.6)
    assert one.sd == pytest.approx(np.std([0, 0.5, 1, 0.9, 0.6], ddof=1))
    assert (one.minimum, one.maximum, one.median) == (0.0, 1.0, 0.6)
    assert one.low is not None
    assert one.high is not None
    assert 0 < one.low < 0.6 < one.high < 1
    assert (one.method, one.clusters, one.complete) == ("t", None, True)
    assert (one.if_failures_low, one.if_failures_high) == (None, None)


def test_binary_metrics_get_wilson() -> None:
    one = summarise(run_of(1, 1, 1, 0, binary=True))["m"]
    assert one.method == "wilson"
    assert (one.low, one.high) == pytest.approx(wilson_interval(3, 4))
    assert (one.histogram, one.edges) == ((1, 3), (0.0, 0.5, 1.0))


def test_groups_make_the_interval_clustered() -> None:
    rows = [(f"doc{i // 5}", {"m": Score((i // 5) % 4 / 3)}) for i in range(200)]
    grouped = summarise(Scores([described("m")], rows))["m"]
    plain = summarise(Scores([described("m")], [row[1] for row in rows]))["m"]
    assert (grouped.method, grouped.clusters) == ("clustered t", 40)
    assert grouped.mean == plain.mean
    assert grouped.low is not None
    assert plain.low is not None
    assert grouped.mean is not None
    # Five equal values a group say as much as one: the interval is about √5 times as wide.
    assert (grouped.mean - grouped.low) / (grouped.mean - plain.low) == pytest.approx(  # type: ignore[operator]
        5**0.5, rel=0.1
    )


def test_few_groups_are_warned_about() -> None:
    rows = [(f"doc{i // 5}", {"m": Score(i % 3 / 2)}) for i in range(60)]
    one = summarise(Scores([described("m")], rows))["m"]
    assert "12 clusters: under 30 the interval may be too narrow" in one.warnings


def test_failures_count_against_coverage_and_bound_the_mean() -> None:
    one = summarise(run_of(0.5, 1.0, REFUSED, NOT_APPLICABLE, MISSING))["m"]
    assert (one.total, one.applicable, one.scored) == (5, 3, 2)
    assert one.outcomes == {"judge_error: refusal": 1, "missing_field": 1, "not_applicable": 1}
    assert one.if_failures_low == pytest.approx(0.5)
    assert one.if_failures_high == pytest.approx(2.5 / 3)
    assert one.coverage == pytest.approx(2 / 3)
    assert not one.complete
    assert one.incomplete.startswith("m: 2 of 3 applicable samples were scored, 66.7%")
    assert next(iter(one.reasons)) == "the judge declined"


def test_the_bounds_of_the_mean_follow_the_bounds_of_the_metric() -> None:
    one = summarise(run_of(3, 5, REFUSED, REFUSED, bounds=[1, 5]))["m"]
    assert (one.if_failures_low, one.if_failures_high) == (2.5, 4.5)
    assert summarise(run_of(3, 5, REFUSED, bounds=None))["m"].if_failures_low is None


def test_all_failed_leaves_the_whole_range() -> None:
    one = summarise(run_of(REFUSED, REFUSED))["m"]
    assert (one.mean, one.low, one.if_failures_low, one.if_failures_high) == (None, None, 0.0, 1.0)
    assert not one.complete


@pytest.mark.parametrize(("failed", "complete"), [(1, True), (2, False)])
def test_the_floor_is_met_exactly(failed: int, complete: bool) -> None:
    one = summarise(run_of(*[1.0] * (20 - failed), *[REFUSED] * failed))["m"]
    assert one.complete is complete


def test_a_metric_that_applies_nowhere_is_complete() -> None:
    summary = summarise(run_of(NOT_APPLICABLE, NOT_APPLICABLE))
    assert summary["m"].complete
    assert (summary["m"].mean, summary["m"].coverage) == (None, None)
    assert summary.exit_code == 0


def test_a_metric_whose_field_is_missing_everywhere_is_incomplete() -> None:
    summary = summarise(run_of(MISSING, MISSING))
    assert not summary["m"].complete
    assert (
        summary["m"].incomplete
        == "m: no sample can be scored: the sample has no `relevant` (2 of 2 samples)"
    )
    assert summary.exit_code == 3
    assert not summarise(run_of(MISSING, NOT_APPLICABLE))["m"].complete


def test_an_empty_run_is_incomplete() -> None:
    summary = summarise(run_of())
    assert summary["m"].incomplete == "m: the run has no samples"
    assert (summary["m"].histogram, summary.worst, summary.exit_code) == ((), (), 3)


def test_a_sample_without_a_stored_score_is_a_failure() -> None:
    run = Scores(
        [described("m"), described("k")], [{"m": Score(1.0), "k": Score(1.0)}, {"m": Score(1.0)}]
    )
    assert summarise(run)["k"].outcomes == {"metric_error": 1}
    assert summarise(run)["m"].outcomes == {}


def test_exit_codes_follow_gates() -> None:
    run = run_of(*[0.9, 0.8, 0.7] * 40)
    assert summarise(run, gates={"m": "mean >= 0.75"}).exit_code == 0
    missed = summarise(run, gates={"m": ">= 0.8"})
    assert (missed.exit_code, missed.gates[0].passed) == (1, False)
    undecided = summarise(run_of(0.9), gates={"m": ">= 0.8"})
    assert (undecided.exit_code, undecided.gates[0].passed) == (3, None)
    incomplete = summarise(run_of(0.1, 0.2, REFUSED), gates={"m": ">= 0.8"})
    assert (incomplete.exit_code, incomplete.gates[0].passed) == (3, False)


def test_a_gate_on_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(UnknownMetric, match="did you mean 'recall@5'"):
        summarise(Scores([described("recall@5")], []), gates={"recal@5": ">= 0.8"})


def test_labels_are_counted_whatever_the_outcome_and_rated_among_their_kin() -> None:
    labels = ["correct_refusal", "missed_refusal", "false_refusal", "answered"]
    answered = Score(outcome="not_applicable", reason="can be answered", label="answered")
    one = summarise(
        run_of(
            Score(1.0, label="correct_refusal"),
            Score(1.0, label="correct_refusal"),
            Score(0.0, label="missed_refusal"),
            *[answered] * 7,
            labels=labels,
            binary=True,
        )
    )["m"]
    assert one.labels == dict(zip(labels, (2, 1, 0, 7), strict=True))
    found = {rate.label: rate for rate in label_rates(one.labels)}
    assert found["correct_refusal"].rate == pytest.approx(2 / 3)
    assert (found["false_refusal"].rate, found["false_refusal"].total) == (0.0, 7)
    assert (found["answered"].low, found["answered"].high) == wilson_interval(7, 7)


def test_usage_and_warnings_add_up() -> None:
    used = Score(1.0, usage=Usage(2, 100, 10, 0.5), warnings=("duplicate document ids",))
    one = summarise(run_of(used, used, 1.0))["m"]
    assert one.usage == Usage(4, 200, 20, 1.0)
    assert "duplicate document ids (2 samples)" in one.warnings


def test_only_the_commonest_reasons_are_kept() -> None:
    texts = [f"reason {i}" for i in range(3000)]
    failures = [Score(outcome="metric_error", reason=text) for text in ["common"] * 50 + texts]
    one = summarise(run_of(*failures, *failures[:10]))["m"]
    assert len(one.reasons) == 5
    assert next(iter(one.reasons.items())) == ("common", 60)


def test_values_on_an_edge_fall_in_the_bin_above() -> None:
    one = summarise(run_of(*[i / 20 for i in range(21)]))["m"]
    assert one.histogram == (*[1] * 19, 2)
    assert one.edges[0] == 0
    assert one.edges[-1] == 1
    assert sum(one.histogram) == one.scored


def test_a_metric_without_bounds_is_binned_over_what_was_seen() -> None:
    one = summarise(run_of(10, 20, 30, bounds=None))["m"]
    assert (one.edges[0], one.edges[-1], sum(one.histogram)) == (10.0, 30.0, 3)
    flat = summarise(run_of(10, 10, bounds=None))["m"]
    assert (flat.histogram, flat.edges) == ((2,), (10.0, 10.0))


def test_the_worst_come_first_failures_ahead_and_ties_in_input_order() -> None:
    metrics = [described("up"), described("down", higher_is_better=False)]
    rows = [
        {"up": Score(1.0), "down": Score(0.0)},  # best possible
        {"up": Score(0.0), "down": Score(1.0)},  # worst possible
        {"up": Score(0.2), "down": NOT_APPLICABLE},
        {"up": Score(1.0), "down": Score(1.0)},
        {"up": NOT_APPLICABLE, "down": NOT_APPLICABLE},
        {"up": Score(1.0), "down": REFUSED},
        {"up": Score(0.2), "down": NOT_APPLICABLE},
        {"up": REFUSED, "down": REFUSED},
    ]
    assert summarise(Scores(metrics, rows)).worst == (8, 6, 2, 3, 7, 4, 1, 5)


def test_failures_leave_room_for_bad_answers() -> None:
    run = run_of(*[REFUSED] * 1500, *[0.5] * 3000, 0.1, 0.3, *[0.9] * 3000)
    worst = summarise(run, worst=100).worst
    assert worst[:25] == tuple(range(1, 26))
    assert worst[25:28] == (4501, 4502, 1501)
    assert len(worst) == 100


def test_metrics_without_bounds_rank_only_when_alone() -> None:
    slow = described("latency", bounds=None, higher_is_better=False)
    seconds = [Score(1.0), Score(9.0), Score(3.0)]
    alone = Scores([slow], [{"latency": second} for second in seconds])
    assert summarise(alone).worst == (2, 3, 1)
    good = [Score(0.1), Score(0.9), Score(0.8)]
    both = [{"latency": a, "m": b} for a, b in zip(seconds, good, strict=True)]
    assert summarise(Scores([slow, described("m")], both)).worst == (1, 3, 2)


@pytest.mark.parametrize("bounds", [[0, 1], None])
def test_the_summary_is_plain_json_whatever_the_scores(bounds: list[float] | None) -> None:
    odd = run_of(1.0, 0.0, 1.0, 1e-300, REFUSED, MISSING, bounds=bounds)
    huge = run_of(1e308, -1e308, 1e308, bounds=None)
    for run in (odd, huge, run_of(), run_of(1.0), run_of(REFUSED)):
        text = json.dumps(summarise(run, gates={"m": ">= 0.8"}).to_dict(), allow_nan=False)
        assert json.loads(text)["metrics"][0]["metric"] == "m"


def test_memory_does_not_grow_with_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    # Small rooms fill up within a short test; the peak at 10^6 samples is measured in bench/.
    for room, size in (("BLOCK_VALUES", 256), ("MAX_DISTINCT_VALUES", 512), ("MAX_GROUPS", 256)):
        monkeypatch.setattr(values, room, size)

    def peak(n: int) -> int:
        rng = np.random.default_rng(1)

        class Endless(Scores):
            def scores(self) -> Iterator[tuple[int, str, str | None, dict[str, Score]]]:
                for position in range(n):
                    score = Score(float(rng.random()), warnings=(f"odd {position % 5000}",))
                    yield position + 1, str(position), f"g{position // 2}", {"m": score}

        tracemalloc.start()
        summarise(Endless([described("m")], []), worst=20)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(2000)  # the first call also imports
    assert peak(24_000) <= 1.1 * peak(4000)
