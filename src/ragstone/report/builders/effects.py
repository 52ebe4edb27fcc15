"""The report on settings: what each level of each factor does to a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.report import document as doc
from ragstone.report.amounts import format_p_value, format_signed
from ragstone.report.builders.parts import (
    build_chart,
    build_number_columns,
    build_panel,
    build_table,
    build_text_columns,
    choose_arrow,
)
from ragstone.report.drawing.charts import draw_effects
from ragstone.report.drawing.shapes import WIDE, Caption, Drawing, stack_drawings
from ragstone.report.figures import shorten
from ragstone.report.translator import Translator, load_translator

if TYPE_CHECKING:
    from ragstone.analysis.effects import Effects, Level
    from ragstone.report.builders.comparison import ComparisonReport

WIDE_COLUMNS = 110
"""Columns that the whole table takes on a terminal."""
SEVERITIES: dict[str, doc.Severity] = {"better": "good", "worse": "bad", "unclear": "plain"}


@dataclass(frozen=True, slots=True)
class EffectsReport:
    """The effects on each metric, the name of the data and the runs behind them."""

    kind: ClassVar[str] = "effects"
    effects: Sequence[Effects]
    name: str = ""
    language: str = "en"
    runs: Sequence[Mapping[str, Any]] = ()
    comparison: ComparisonReport | None = None
    """The combinations against the current settings: its ranking table opens the report."""

    def document(self) -> doc.ReportDocument:
        """The report as a tree."""
        t = load_translator(self.language)
        title, name = t("effects"), shorten(self.name, 200)
        head = (doc.Heading(title, 1, where=doc.TEXT), doc.Heading(name, 1, where=doc.PAGE))
        notes = [_describe_design(effects, t) for effects in self.effects]
        # once, under the last table that it is true of
        sections = (
            _build_effects(effects, number, note if note not in notes[number:] else "", t)
            for number, (effects, note) in enumerate(zip(self.effects, notes, strict=True), 1)
        )
        # a blank line after the last table, for the notes on files follow
        end = doc.Section((doc.Paragraph(""),), where=doc.TERMINAL)
        opening = () if self.comparison is None else self.comparison.build_opening(t)
        body = (*opening, *sections, end)
        return doc.ReportDocument("effects", t, f"{title}: {name}", title, head, body)

    def picture(self) -> Drawing:
        """The levels of every factor, one chart per metric."""
        t, charts = load_translator(self.language), []
        for effects in self.effects:
            caption = Caption(0, 10, effects.metric, "ink", bold=True)
            charts.append(Drawing(WIDE, 8, (caption,), effects.metric))
            charts.append(draw_effects(effects, t, WIDE))
        return stack_drawings(charts)

    def data(self) -> dict[str, Any]:
        """The runs and effects as JSON takes them."""
        plain = {"runs": self.runs, "effects": [effects.to_dict() for effects in self.effects]}
        return plain | ({} if self.comparison is None else {"comparison": self.comparison.data()})


def _describe_design(effects: Effects, t: Translator) -> str:
    """What the figures of a table rest on."""
    design = t("effects_full" if effects.full else "effects_single", n=t.whole(effects.runs))
    return f"{design} {t.count('paired_on_all', effects.samples)}"


def _build_effects(effects: Effects, number: int, note: str, t: Translator) -> doc.Section:
    # a narrow terminal has no room for the interval of the mean and p: the other interval and the verdict say it
    wide_only = doc.Where(min_columns=WIDE_COLUMNS)
    columns = (
        *build_text_columns(t, "setting", "value"),
        *build_number_columns(t, "mean"),
        *build_number_columns(t, "interval_short", where=wide_only),
        *build_number_columns(t, "difference", "interval_short"),
        *build_number_columns(t, "p_corrected.bonferroni", where=wide_only),
        *build_text_columns(t, "verdict"),
    )
    rows = (
        [factor.name if index == 0 else "", *_list_cells(level, t)]
        for factor in effects.factors
        for index, level in enumerate(factor.levels)
    )
    return build_panel(
        str(number),
        f"{effects.metric} {choose_arrow(effects.higher_is_better)}",
        build_chart(lambda width: draw_effects(effects, t, width)),
        build_table(columns, rows, row_heads=False),
        *([doc.Paragraph(note, style="note")] if note else []),
    )


def _list_cells(level: Level, t: Translator) -> doc.Cells:
    """The cells of a level: one for each column of `_build_effects` after the name of the setting."""
    best = " ★" if level.best else ""
    mean_cells = [
        f"{level.value}{best}",
        t.number(level.mean),
        t.interval(level.low, level.high),
    ]
    if level.base:
        return [*mean_cells, "–", "–", "–", t("current")]
    ends = "–"
    if level.difference_low is not None and level.difference_high is not None:
        low, high = level.difference_low, level.difference_high
        ends = f"{format_signed(low, t)} – {format_signed(high, t)}"
    verdict = t.translate("verdict_word", level.verdict) if level.verdict else "–"
    return [
        *mean_cells,
        format_signed(level.difference, t),
        ends,
        format_p_value(level.adjusted, t),
        doc.TableCell(verdict, SEVERITIES.get(level.verdict, "")),
    ]
