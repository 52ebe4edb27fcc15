"""The report on judges measured by labels: what each is fit for, its figures, and what it gets wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.analysis.corrected import MIN_LABELS
from ragstone.judges.scale import MIN_FIT_ACCURACY, MIN_RANK_AUROC
from ragstone.report import document as doc
from ragstone.report.amounts import format_p_value, format_signed
from ragstone.report.builders.parts import (
    build_chart,
    build_list,
    build_number_columns,
    build_panel,
    build_table,
    build_text_columns,
)
from ragstone.report.drawing.charts import draw_calibration
from ragstone.report.figures import shorten
from ragstone.report.translator import Translator, load_translator

if TYPE_CHECKING:
    from ragstone.labels.estimates import MeasuredItem, ShareEstimate
    from ragstone.labels.measure import JudgeMeasure, JudgeMeasurement

SEVERITIES: dict[str, doc.Severity] = {
    "fit": "good",
    "rank_only": "warn",
    "unfit": "bad",
    "more_labels": "warn",
}
WRONG_ON_PAGE, WRONG_ON_TERMINAL = 100, 5
"""Wrong items shown of each judge."""
WIDE_COLUMNS = 150
"""Columns of a terminal from which cost, time and failures stand in the table."""


@dataclass(frozen=True, slots=True)
class JudgeMeasureReport:
    """Judges on labelled items."""

    kind: ClassVar[str] = "judges"
    measurement: JudgeMeasurement
    language: str = "en"

    def document(self) -> doc.ReportDocument:
        """The report as a tree."""
        t, measurement = load_translator(self.language), self.measurement
        title = t(
            "judge_measure_of",
            n=t.whole(measurement.labels),
            name=shorten(measurement.name, 80),
            target=t.translate("target", measurement.target),
        )
        verdicts = [_describe_verdict(judge, measurement.target, t) for judge in measurement.judges]
        notes = [
            t(
                "fitness_bar",
                accuracy=t.number(MIN_FIT_ACCURACY, 2),
                auroc=t.number(MIN_RANK_AUROC, 2),
            )
        ]
        if not measurement.drawn:
            notes.insert(0, t("labels_not_drawn"))
        body = (
            doc.Section((build_list(verdicts, flush=True, style="lines"),), "panel"),
            build_panel(
                "judges", t("judge_measure"), _build_table(measurement, t),
                *(doc.Paragraph(note, style="note") for note in notes), heading=doc.WRITTEN,
            ),
            *_build_pairs(measurement, t),
            *(
                node
                for number, judge in enumerate(measurement.judges, 1)
                for node in self._build_judge(judge, number, t)
            ),
        )  # fmt: skip
        head = (doc.Heading(title, 1),)
        return doc.ReportDocument("judges", t, title, t("judge_measure"), head, body)

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

    def _build_judge(self, judge: JudgeMeasure, number: int, t: Translator) -> Iterator[doc.Node]:
        name = shorten(judge.judge, 80)
        if judge.calibration:
            yield build_panel(
                f"calibration{number}",
                t("calibration", judge=name),
                build_chart(lambda width: draw_calibration(judge.calibration, t, width)),
                _build_calibration(judge, t),
                doc.Paragraph(t("calibration_note"), style="note"),
                where=doc.WRITTEN,
            )
        if judge.slices:
            columns = (
                *build_text_columns(t, "slice"),
                *build_number_columns(t, "items", "balanced_accuracy", "interval", "bias"),
            )
            rows = [
                (
                    f"{part.field}: {part.value}",
                    t.whole(part.items),
                    *_format_estimate(part.accuracy, t),
                    format_signed(part.bias, t),
                )
                for part in judge.slices
            ]
            yield build_panel(
                f"slices{number}", t("slices_of", judge=name), build_table(columns, rows)
            )
        if judge.wrong:
            yield from self._build_wrong(judge, number, t)

    def _build_wrong(self, judge: JudgeMeasure, number: int, t: Translator) -> Iterator[doc.Node]:
        title = t("wrong_of", judge=shorten(judge.judge, 80))
        for where, most in ((doc.WRITTEN, WRONG_ON_PAGE), (doc.TERMINAL, WRONG_ON_TERMINAL)):
            shown = judge.wrong[:most]
            note = t("wrong_count", shown=t.whole(len(shown)), n=t.whole(len(judge.wrong)))
            items = build_list(self._describe_wrong(item, t) for item in shown)
            yield doc.Section(
                (doc.Heading(title, note=note), items), "panel", f"wrong{number}", where
            )

    def _describe_wrong(self, item: MeasuredItem, t: Translator) -> doc.ListItem:
        sample = self.measurement.samples[item.sample]
        text = t(
            "wrong_line",
            sample=shorten(item.sample, 40),
            people=t("yes_word" if item.is_yes else "no_word"),
            judge=t.number(item.prediction),
        )
        finding, lines = item.finding, []
        subject = item.item if finding is None else finding.text
        lines += [doc.Paragraph(shorten(subject or sample.answer or "", 400))]
        if finding is not None:
            evidence = f"{finding.chunk}: “{finding.quote}”" if finding.quote else ""
            verdict, reason = (
                t.translate("verdict", finding.shown_verdict),
                t.message(finding.reason),
            )
            parts = [part for part in (verdict, reason, evidence) if part]
            lines.append(doc.Paragraph(shorten("; ".join(parts), 500), style="soft"))
        elif sample.question:
            lines.insert(0, doc.Paragraph(shorten(sample.question, 240), style="soft"))
        return doc.ListItem(text, nodes=tuple(lines))


def _describe_verdict(judge: JudgeMeasure, target: str, t: Translator) -> doc.Remark:
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
    return doc.Remark(text, SEVERITIES[judge.verdict])


def _build_table(measurement: JudgeMeasurement, t: Translator) -> doc.ReportTable:
    wide_only = doc.Where(min_columns=WIDE_COLUMNS)
    columns = (
        *build_text_columns(t, "judge_says"),
        *build_number_columns(t, "items"),
        *build_number_columns(t, "failed_items", where=wide_only),
        *build_number_columns(t, "balanced_accuracy", "interval", "kappa", "auroc", "bias"),
        *build_number_columns(t, "brier", "seconds_per_1000", "usd_per_1000", where=wide_only),
    )
    rows = [_list_cells(judge, t) for judge in measurement.judges]
    return build_table(columns, rows, id="judges")


def _list_cells(judge: JudgeMeasure, t: Translator) -> doc.Cells:
    seconds = (
        None if judge.seconds is None or not judge.items else judge.seconds / judge.items * 1000
    )
    price = judge.usage.usd / judge.items * 1000 if judge.items else 0.0
    return [
        doc.TableCell(shorten(judge.judge, 60), SEVERITIES[judge.verdict]),
        t.whole(judge.items),
        t.whole(judge.failed),
        *_format_estimate(judge.accuracy, t),
        t.number(judge.kappa.value),
        t.number(judge.auroc.value),
        "–" if judge.bias.value is None else format_signed(judge.bias.value, t),
        t.number(judge.brier),
        t.number(seconds, 1),
        t.money(price),
    ]


def _build_pairs(measurement: JudgeMeasurement, t: Translator) -> list[doc.Node]:
    if not measurement.pairs:
        return []
    columns = (
        *build_text_columns(t, "first_judge", "second_judge"),
        *build_number_columns(t, "items", "difference", "interval"),
        doc.TableColumn("p", True),
    )
    rows = [
        (
            shorten(pair.first, 60),
            shorten(pair.second, 60),
            t.whole(pair.items),
            format_signed(pair.difference, t),
            "–"
            if pair.low is None
            else f"{format_signed(pair.low, t)} – {format_signed(pair.high, t)}",
            format_p_value(pair.p, t),
        )
        for pair in measurement.pairs
    ]
    note = doc.Paragraph(t("judges_paired_note"), style="note")
    table = build_table(columns, rows, row_heads=False)
    return [build_panel("pairs", t("judges_paired"), table, note)]


def _build_calibration(judge: JudgeMeasure, t: Translator) -> doc.ReportTable:
    columns = build_number_columns(t, "judge_expects", "people_say", "interval", "items")
    rows = [
        (t.number(part.expected), t.number(part.observed), t.interval(part.low, part.high), t.whole(part.items))
        for part in judge.calibration
    ]  # fmt: skip
    return build_table(columns, rows, row_heads=False)


def _format_estimate(estimate: ShareEstimate, t: Translator) -> tuple[str, str]:
    return t.number(estimate.value), t.interval(estimate.low, estimate.high)
