"""Judges measured by labels: what each is fit for, its figures, and what it gets wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.analysis.corrected import MIN_LABELS
from ragstone.judges.scale import MIN_FIT_ACCURACY, MIN_RANK_AUROC
from ragstone.report.amounts import format_p_value, format_signed, format_signed_interval
from ragstone.report.pages import Page
from ragstone.report.remarks import Remark, Severity, shorten
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.labels.estimates import MeasuredItem, ShareEstimate
    from ragstone.labels.measure import JudgeMeasure, JudgeMeasurement
    from ragstone.report.drawing.shapes import Drawing

SEVERITIES: dict[str, Severity] = {
    "fit": "good",
    "rank_only": "warn",
    "unfit": "bad",
    "more_labels": "warn",
}
WRONG_ON_PAGE = 100
"""Wrong items shown of each judge."""


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """The figures of a judge."""

    name: str
    severity: Severity
    items: str
    failed: str
    accuracy: str
    interval: str
    kappa: str
    auroc: str
    bias: str
    brier: str
    seconds: str
    price: str


@dataclass(frozen=True, slots=True)
class WrongView:
    """An item that a judge got wrong."""

    text: str
    subject: str
    question: str
    reasons: str


@dataclass(frozen=True)
class JudgeMeasurePage(Page):
    """Judges on labelled items."""

    kind: ClassVar[str] = "judges"
    template: ClassVar[str] = "judge_measure"
    measurement: JudgeMeasurement

    @property
    def title(self) -> str:
        """What they were measured on."""
        m, t = self.measurement, self.t
        return t(
            "judge_measure_of",
            n=t.whole(m.labels),
            name=shorten(m.name, 80),
            target=t.translate("target", m.target),
        )

    @cached_property
    def verdicts(self) -> list[Remark]:
        """What each judge is fit for."""
        return [
            _describe_verdict(judge, self.measurement.target, self.t)
            for judge in self.measurement.judges
        ]

    @property
    def notes(self) -> list[str]:
        """How to read the figures."""
        t = self.t
        bar = t(
            "fitness_bar", accuracy=t.number(MIN_FIT_ACCURACY, 2), auroc=t.number(MIN_RANK_AUROC, 2)
        )
        return [bar] if self.measurement.drawn else [t("labels_not_drawn"), bar]

    @cached_property
    def rows(self) -> list[JudgeRow]:
        """The figures of each judge."""
        return [self._build_row(judge) for judge in self.measurement.judges]

    def _build_row(self, judge: JudgeMeasure) -> JudgeRow:
        t = self.t
        seconds = (
            None if judge.seconds is None or not judge.items else judge.seconds / judge.items * 1000
        )
        price = judge.usage.usd / judge.items * 1000 if judge.items else 0.0
        return JudgeRow(
            shorten(judge.judge, 60),
            SEVERITIES[judge.verdict],
            t.whole(judge.items),
            t.whole(judge.failed),
            *self.format_estimate(judge.accuracy),
            t.number(judge.kappa.value),
            t.number(judge.auroc.value),
            "–" if judge.bias.value is None else format_signed(judge.bias.value, t),
            t.number(judge.brier),
            t.number(seconds, 1),
            t.money(price),
        )

    @property
    def pairs(self) -> list[list[str]]:
        """Every two judges on the items of both: names, items, difference, interval, p."""
        t = self.t
        return [
            [
                shorten(pair.first, 60),
                shorten(pair.second, 60),
                t.whole(pair.items),
                format_signed(pair.difference, t),
                format_signed_interval(pair.low, pair.high, t),
                format_p_value(pair.p, t),
            ]
            for pair in self.measurement.pairs
        ]

    def name(self, judge: JudgeMeasure) -> str:
        """A judge's name on one line."""
        return shorten(judge.judge, 80)

    def drawing(self, judge: JudgeMeasure) -> partial[Drawing]:
        """What a judge expects against what people say."""
        from ragstone.report.drawing.charts import draw_calibration

        return partial(draw_calibration, judge.calibration, self.t)

    def list_calibration(self, judge: JudgeMeasure) -> list[list[str]]:
        """The same as a table."""
        t = self.t
        return [
            [
                t.number(part.expected),
                t.number(part.observed),
                t.interval(part.low, part.high),
                t.whole(part.items),
            ]
            for part in judge.calibration
        ]

    def list_slices(self, judge: JudgeMeasure) -> list[list[str]]:
        """How it does on parts of the items: name, items, accuracy, interval, bias."""
        t = self.t
        return [
            [
                f"{part.field}: {part.value}",
                t.whole(part.items),
                *self.format_estimate(part.accuracy),
                format_signed(part.bias, t),
            ]
            for part in judge.slices
        ]

    def list_wrong(self, judge: JudgeMeasure, most: int = WRONG_ON_PAGE) -> list[WrongView]:
        """Items that it got wrong."""
        return [self._view_wrong(item) for item in judge.wrong[:most]]

    def count_wrong(self, judge: JudgeMeasure, shown: Sequence[Any]) -> str:
        """How many of them are shown."""
        return self.t(
            "wrong_count", shown=self.t.whole(len(shown)), n=self.t.whole(len(judge.wrong))
        )

    def _view_wrong(self, item: MeasuredItem) -> WrongView:
        t, sample, finding = self.t, self.measurement.samples[item.sample], item.finding
        text = t(
            "wrong_line",
            sample=shorten(item.sample, 40),
            people=t("yes_word" if item.is_yes else "no_word"),
            judge=t.number(item.prediction),
        )
        subject = shorten(
            (item.item if finding is None else finding.text) or sample.answer or "", 400
        )
        if finding is None:
            return WrongView(text, subject, shorten(sample.question or "", 240), "")
        evidence = f"{finding.chunk}: “{finding.quote}”" if finding.quote else ""
        parts = (t.translate("verdict", finding.shown_verdict), t.message(finding.reason), evidence)
        return WrongView(text, subject, "", shorten("; ".join(filter(None, parts)), 500))

    def format_estimate(self, estimate: ShareEstimate) -> tuple[str, str]:
        """A share and its interval."""
        return self.t.number(estimate.value), self.t.interval(estimate.low, estimate.high)

    def data(self) -> dict[str, Any]:
        """The figures as JSON takes them."""
        measurement = self.measurement
        return {
            "name": measurement.name,
            "target": measurement.target,
            "labels": measurement.labels,
            "drawn": measurement.drawn,
            "judges": [asdict(judge) for judge in measurement.judges],
            "pairs": [asdict(pair) for pair in measurement.pairs],
            "scales": [scale.to_json() for scale in measurement.scales],
        }


def open_page(result: JudgeMeasurement, t: Translator) -> JudgeMeasurePage:
    """The page of a measurement."""
    return JudgeMeasurePage(t, result)


def _describe_verdict(judge: JudgeMeasure, target: str, t: Translator) -> Remark:
    text = t(
        f"fitness.{judge.verdict}",
        judge=shorten(judge.judge, 80),
        target=t.translate("target", target),
        accuracy=t.number(judge.accuracy.value),
        low=t.number(judge.accuracy.low),
        high=t.number(judge.accuracy.high),
        n=t.whole(judge.more or 0),
    )
    bias = judge.bias
    # mentioned only where the interval leaves out 0 (both ends have the same sign), of labels enough for an interval
    if (
        judge.items >= MIN_LABELS
        and bias.value is not None
        and bias.low is not None
        and bias.high is not None
        and bias.low * bias.high > 0
    ):
        direction = t("too_high" if bias.value > 0 else "too_low")
        text = f"{text} {t('judge_biased', bias=t.number(abs(bias.value)), direction=direction)}"
    if judge.unsure is not None and judge.unsure_share is not None:
        low, high = judge.unsure
        bounds, share = f"{low:g}..{high:g}", t.percent(judge.unsure_share)
        text = f"{text} {t('judge_unsure', bounds=bounds, share=share)}"
    return Remark(text, SEVERITIES[judge.verdict])
