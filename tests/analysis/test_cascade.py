"""What a cascade asked and got wrong: counts, agreement, and the mean that the second judge alone would give."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ragstone.analysis.cascade import CascadeSummary, is_cascade, summarise_cascade
from ragstone.types import Finding, Score, SecondOpinion

CHECKED = 0.5
"""The chance with which a sure item was asked about."""
AGREE = ("supported", "supported", CHECKED)
DIFFER = ("supported", "not_found", CHECKED)
UNSURE = ("supported", "not_found", 1.0)
SURE = ("supported", "", CHECKED)


def find(first: str, second: str, chance: float, verified=None, probability=0.9) -> Finding:
    opinion = SecondOpinion(first, second, chance, probability)
    return Finding("c", second or first, verified=verified, opinion=opinion)


def summarise(samples, *, metric="faithfulness", judge="cascade(a, b)", groups=None, spec=None):
    """The summary of a metric over samples, each a list of findings or of their opinions."""
    rows = []
    for number, opinions in enumerate(samples, 1):
        findings = tuple(o if isinstance(o, Finding) else find(*o) for o in opinions)
        group = groups[number - 1] if groups else None
        rows.append((number, f"q{number}", group, {metric: Score(0.5, findings=findings)}))
    info = SimpleNamespace(
        judge=judge,
        plan=SimpleNamespace(judge=spec),
        metrics=[{"name": metric, "family": metric, "judged": True}],
    )
    return summarise_cascade(SimpleNamespace(info=info, scores=lambda: iter(rows))).get(metric)


def test_only_a_cascade_is_summarised() -> None:
    assert is_cascade("cascade(offline 1, openai:m)")
    assert not is_cascade("offline 1")
    assert not is_cascade(None)
    assert summarise([[AGREE]] * 20, judge="offline 1") is None
    assert summarise([[Finding("c", "supported")]] * 20) is None


def test_items_are_counted_by_why_the_second_was_asked() -> None:
    summary = summarise([[AGREE, DIFFER, UNSURE], [SURE, SURE], [Finding("c", "supported")]])
    assert (summary.items, summary.unsure, summary.checked, summary.disagreed) == (5, 1, 2, 1)
    assert (summary.samples, summary.samples_asked, summary.asked) == (2, 1, 3)


def test_a_disagreement_takes_ten_checked_items() -> None:
    nine = summarise([[SURE]] * 20 + [[DIFFER]] * 4 + [[AGREE]] * 5)
    assert (nine.checked, nine.disagreement, nine.second_mean) == (9, None, None)
    ten = summarise([[SURE]] * 20 + [[DIFFER]] * 4 + [[AGREE]] * 6)
    assert (ten.checked, ten.disagreement) == (10, 0.4)
    assert ten.low < 0.4 < ten.high
    everything = summarise([[UNSURE]] * 3)
    assert (everything.checked, everything.disagreement, everything.agreement) == (0, 0.0, 1.0)


def test_agreement_is_of_all_verdicts() -> None:
    """Of ten items four were asked; the other six are the first's, and half of those differ."""
    summary = CascadeSummary(10, 2, 2, 1, 5, 3, 0.5, 0.1, 0.9, 0.95)
    assert summary.asked == 4
    assert summary.agreement == pytest.approx(1 - 0.5 * 6 / 10)


@pytest.mark.parametrize(
    ("spec", "target"),
    [(None, 0.95), ("openai:m", 0.95), ({"agree": 0.8}, 0.8), ({"agree": "80 %"}, 0.8), ({"check": 0.1}, 0.95)],
)  # fmt: skip
def test_the_target_is_that_of_the_plan(spec, target: float) -> None:
    assert summarise([[AGREE]] * 12, spec=spec).target == target


def test_shares_of_the_supported_and_of_the_others_add_up_to_one() -> None:
    samples = [[AGREE], [DIFFER], [UNSURE], [SURE]] * 10
    of_supported = summarise(samples).second_mean
    of_others = summarise(samples, metric="hallucination_rate").second_mean
    assert of_supported.mean == pytest.approx(1 - of_others.mean)
    assert of_supported.judge_mean == pytest.approx(1.0)
    assert of_others.judge_mean == pytest.approx(0.0)
    assert of_supported.mean < 0.8
    assert summarise(samples, metric="context_recall").second_mean == of_supported
    assert summarise(samples, metric="context_relevance").second_mean is None


def test_a_checked_item_stands_for_those_that_were_not_asked_about() -> None:
    """Every unsure item is wrong, and of the forty sure ones the half that was checked is right."""
    samples = [[UNSURE]] * 20 + [[AGREE]] * 20 + [[SURE]] * 20
    assert summarise(samples).second_mean.mean == pytest.approx(40 / 60, abs=0.001)


def test_a_long_answer_counts_no_more_than_a_short_one() -> None:
    """Twenty items of one sample weigh as much as the one item of another."""
    long, short = [[DIFFER] * 20], [[AGREE]] * 3
    assert summarise(long + short).second_mean.mean == pytest.approx(0.75, abs=0.01)


def test_samples_of_one_group_say_less() -> None:
    samples = [[AGREE] if number % 3 else [DIFFER] for number in range(60)]
    alone = summarise(samples).second_mean
    grouped = summarise(
        samples, groups=[f"g{number // 20}{number % 3 == 0}" for number in range(60)]
    )
    grouped_mean = grouped.second_mean
    assert grouped_mean.mean == pytest.approx(alone.mean)
    assert grouped_mean.high - grouped_mean.low > 1.2 * (alone.high - alone.low)


UNPROVED = find("supported", "supported", CHECKED, verified=False)
PROVED = find("supported", "supported", CHECKED, verified=True)


@pytest.mark.parametrize(
    ("metric", "finding", "disagreed"),
    [
        ("faithfulness", PROVED, 0),
        ("faithfulness", UNPROVED, 12),
        ("faithfulness", find("contradicted", "not_found", CHECKED), 0),
        ("noise_sensitivity", PROVED, 0),
        ("noise_sensitivity", UNPROVED, 12),
        ("noise_sensitivity", find("not_found", "supported", CHECKED, verified=False), 0),
        ("noise_sensitivity", find("contradicted", "not_found", CHECKED), 12),
    ],
)
def test_a_quote_that_is_not_there_supports_nothing(metric, finding, disagreed: int) -> None:
    assert summarise([[finding]] * 12, metric=metric).disagreed == disagreed
    if metric == "faithfulness" and finding is UNPROVED:
        assert summarise([[finding]] * 12).second_mean.mean == pytest.approx(0)
