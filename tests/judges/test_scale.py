"""Scales: what values are worth with a judge, from controls of known truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import evaluate
from ragstone.judges.factory import make_judge
from ragstone.judges.offline import OfflineJudge
from ragstone.judges.scale import (
    JudgeScale,
    find_threshold,
    fingerprint_judge,
    load_bundled_scales,
    measure_auroc,
    measure_scale,
)
from ragstone.store import Store, load_scales, save_scales


def build(good: list[float], bad: list[float], **changes: object) -> JudgeScale:
    given: dict[str, object] = {
        "judge": "j1", "name": "a judge", "language": "en", "metric": "faithfulness",
        "reply_rate": 1.0, "source": "check", "measured": "2026-11-17",
    }  # fmt: skip
    scale = measure_scale(good, bad, **{**given, **changes})  # type: ignore[arg-type]
    assert scale is not None
    return scale


def test_the_threshold_is_nearer_to_the_side_that_spreads_less() -> None:
    assert find_threshold([1.0, 1.0, 1.0], [0.0, 0.0]) == pytest.approx(0.5)
    assert find_threshold([0.9, 1.0, 0.95], [0.0, 0.4, 0.6]) > 0.75


def test_ties_count_one_half() -> None:
    assert measure_auroc([1.0, 0.5], [0.5, 0.0]) == 0.875


def test_controls_that_part_are_fit() -> None:
    scale = build([0.9] * 10 + [1.0] * 5, [0.1] * 10 + [0.3] * 5)
    assert (scale.balanced_accuracy, scale.auroc, scale.fitness) == (1.0, 1.0, "fit")
    assert scale.is_bad(0.3)
    assert not scale.is_bad(0.9)
    assert not scale.is_rough


def test_a_judge_that_says_the_same_of_everything_is_unfit() -> None:
    scale = build([1.0] * 15, [1.0] * 15)
    assert scale.auroc == 0.5
    assert scale.fitness == "unfit"


def test_values_that_overlap_may_rank_and_not_gate() -> None:
    scale = build([0.9] * 10 + [0.4] * 6, [0.2] * 10 + [0.5] * 5)
    assert scale.balanced_accuracy < 0.8 <= scale.auroc
    assert scale.fitness == "rank_only"


def test_a_judge_that_fails_to_reply_is_unfit_however_right_it_is() -> None:
    assert build([1.0] * 15, [0.0] * 15, reply_rate=0.8).fitness == "unfit"


def test_a_judge_below_the_simplest_rule_gates_nothing() -> None:
    good, bad = [1.0] * 17 + [0.0] * 3, [0.0] * 17 + [1.0] * 3
    assert build(good, bad).fitness == "fit"
    assert build(good, bad, baseline_accuracy=0.89).fitness == "fit"  # one of thirty less
    assert build(good, bad, baseline_accuracy=0.95).fitness == "rank_only"


def test_a_metric_that_is_better_when_lower_is_read_the_other_way() -> None:
    scale = build([0.1] * 12, [0.8] * 12, higher_is_better=False)
    assert scale.fitness == "fit"
    assert scale.is_bad(0.8)
    assert not scale.is_bad(0.1)


def test_each_control_is_judged_by_the_line_of_the_others() -> None:
    # with its own value the lone outlier would draw the line to itself
    assert build([0.0, 1.0, 1.0], [0.2, 0.1]).balanced_accuracy < 1.0


def test_one_control_of_a_side_makes_no_scale() -> None:
    assert measure_scale(
        [1.0], [0.0, 0.1], judge="j", name="n", language="en", metric="m",
        reply_rate=1.0, source="check", measured="2026-11-17",
    ) is None  # fmt: skip


def test_a_scale_survives_the_store_and_the_last_one_counts(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    first, second = build([1.0] * 3, [0.0] * 3), build([0.8] * 3, [0.2] * 3)
    save_scales(store, [first])
    save_scales(store, [second, build([1.0] * 2, [0.0] * 2, language="es")])
    stored = load_scales(store, "j1")
    assert stored["en", "faithfulness"] == second
    assert sorted(stored) == [("en", "faithfulness"), ("es", "faithfulness")]
    assert load_scales(store, "j2") == {}
    assert load_scales(store, None) == {}
    store.close()


def test_labels_count_before_corpora_and_corpora_before_our_items(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s.db")
    for source in ("labels", "check", "controls"):
        save_scales(store, [build([1.0] * 3, [0.0] * 3, source=source)])
    assert load_scales(store, "j1")["en", "faithfulness"].source == "labels"
    save_scales(store, [build([1.0] * 3, [0.0] * 3, source="check", judge="j2")])
    save_scales(store, [build([1.0] * 3, [0.0] * 3, source="controls", judge="j2")])
    assert load_scales(store, "j2")["en", "faithfulness"].source == "controls"
    store.close()


def test_a_fingerprint_tells_models_routes_and_settings_apart() -> None:
    server = {"model": "openai:m", "base_url": "http://127.0.0.1:9/v1"}
    judges = [
        make_judge("offline"),
        make_judge(server),
        make_judge({**server, "small": True}),
        make_judge({**server, "temperature": 0.5}),
    ]
    assert len({fingerprint_judge(judge) for judge in judges}) == 4
    assert fingerprint_judge(make_judge(server)) == fingerprint_judge(make_judge(dict(server)))


def test_a_run_keeps_the_fingerprint_of_its_judge() -> None:
    sample = {"answer": "Tea is hot.", "contexts": ["Tea is hot."]}
    run = evaluate([sample], ["faithfulness"], store=":memory:")
    assert run.stored.info.facts.judge_identity == fingerprint_judge(OfflineJudge())
    unjudged = evaluate([{"answer": "a", "reference": "a"}], ["exact_match"], store=":memory:")
    assert unjudged.stored.info.facts.judge_identity is None


def test_bundled_scales_are_those_of_the_embedded_judge_of_this_version() -> None:
    assert {scale.judge for scale in load_bundled_scales()} <= {fingerprint_judge(OfflineJudge())}


def test_controls_that_all_get_one_value_are_still_not_sharp() -> None:
    # the good side spreads by 0.1, the other by nothing, which counts as 0.05
    assert find_threshold([0.9, 1.0, 0.8, 1.0, 0.8], [0.3, 0.3]) == pytest.approx(0.5, abs=0.02)
