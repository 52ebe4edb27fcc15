"""How a benchmark opens: which configuration to choose, in a sentence, and the league of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.report import document as doc
from ragstone.report.amounts import format_amount, format_signed, format_signed_interval
from ragstone.report.builders.parts import build_list, choose_arrow
from ragstone.report.comparison.opening import describe_item
from ragstone.report.comparison.sentences import join_names, shorten_name
from ragstone.report.document import Remark
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.analysis.league import League, LeagueCell, LeagueColumn
    from ragstone.analysis.recommend import CostRatio, Recommendation

TERMINAL_WIDTHS = ((0, 99, 3), (100, 139, 4), (140, 1_000_000, 6))
"""Least and largest number of columns of a terminal, and how many metrics stand side by side on it."""
BEST, TIED = "★", "≈"
"""Marks of the best in a metric, and of those that may be as good."""


def build_league_section(league: League, remarks: Sequence[Remark], t: Translator) -> doc.Section:
    """The recommendation, the table and how to read it."""
    advice = build_list(remarks, flush=True, style="lines gist")
    note = doc.Paragraph(t("league.note", samples=_describe_samples(league, t)), style="note")
    return doc.Section(
        (
            doc.Heading(t("league.title")),
            advice,
            _build_table(league, league.columns, t, doc.WRITTEN),
            *_build_terminal_tables(league, t),
            note,
        ),
        "panel league",
        "league",
    )


def describe_recommendation(advice: Recommendation | None, t: Translator) -> list[Remark]:
    """Which configuration to choose and what it takes, or how many questions would tell."""
    if advice is None:
        return [Remark(t("choose.no_primary"))]
    values = {
        "choice": shorten_name(advice.choice, t),
        "against": shorten_name(advice.against, t),
        "metric": advice.metric,
        "difference": format_signed(advice.difference, t),
        "interval": format_signed_interval(advice.low, advice.high, t),
        "margin": format_amount(advice.margin, t),
        "n": t.whole(advice.questions),
    }
    rivals = [shorten_name(name, t) for name in advice.rivals]
    if advice.advice == "undecided":
        return [Remark(_describe_undecided(advice, values, t), "warn")]
    if advice.advice == "equal":
        names = join_names([values["choice"], *rivals], t)
        return [Remark(t("choose.equal", names=names, **values))]
    if advice.advice == "leader":
        names = join_names(rivals, t)
        return [Remark(t("choose.leader", names=names, count=len(rivals), **values), "good")]
    price = ""
    if advice.costs:
        price = t("choose.price", items=join_names([_format_cost(c, t) for c in advice.costs], t))  # fmt: skip
    lines = [Remark(t(f"choose.{advice.advice}", price=price, **values), "good")]
    if advice.losses:
        items = join_names([describe_item(loss, t) for loss in advice.losses], t)
        lines.append(Remark(t("choose.losses", items=items), "bad"))
    if rivals:
        lines.append(Remark(t("choose.rivals", names=join_names(rivals, t))))
    return lines


def _describe_undecided(advice: Recommendation, values: dict[str, str], t: Translator) -> str:
    others = [shorten_name(name, t) for name in advice.rivals if name != advice.against]
    text = t("choose.undecided" if advice.difference else "choose.even", **values)
    if others:
        text += " " + t("choose.nor", names=join_names(others, t))
    if advice.needed is not None:
        more = max(advice.needed - advice.questions, 0)
        text += " " + t("choose.needed", needed=t.whole(advice.needed), more=t.whole(more), **values)  # fmt: skip
    return text


def _format_cost(cost: CostRatio, t: Translator) -> str:
    ratio = format_amount(cost.ratio, t)
    if cost.low is None or cost.high is None:
        return t("choose.cost_alone", ratio=ratio, metric=cost.metric)
    ends = f"{format_amount(cost.low, t)} – {format_amount(cost.high, t)}"
    return t("choose.cost", ratio=ratio, metric=cost.metric, interval=ends)


def _build_terminal_tables(league: League, t: Translator) -> Iterator[doc.ReportTable]:
    """The table in as many parts as the width of the terminal makes necessary."""
    for low, high, most in TERMINAL_WIDTHS:
        where = doc.Where(("terminal",), low, high)
        for start in range(0, len(league.columns), most):
            yield _build_table(league, league.columns[start : start + most], t, where)


def _build_table(
    league: League, columns: Sequence[LeagueColumn], t: Translator, where: doc.Where
) -> doc.ReportTable:
    heads = (
        doc.TableColumn(t("configuration")),
        *(_build_head(column, t) for column in columns),
    )
    rows = []
    for run, name in league.names.items():
        # in Markdown a cell is one line
        in_brackets = "text" in where.media
        cells = [_build_cell(column.cells[run], in_brackets, t) for column in columns]
        rows.append(doc.TableRow((shorten_name(name, t), *cells)))
    return doc.ReportTable(heads, tuple(rows), style="league", id="league", where=where)


def _build_head(column: LeagueColumn, t: Translator) -> doc.TableColumn:
    unit = t.translate("unit", column.metric) if column.resource else ""
    shown = f" ({unit})" if unit and unit != column.metric else ""
    arrow = choose_arrow(column.higher_is_better)
    return doc.TableColumn((doc.Styled(column.metric, "code"), f" {arrow}{shown}"), numeric=True)


def _build_cell(cell: LeagueCell, in_brackets: bool, t: Translator) -> doc.TableCell:
    mark = f" {BEST}" if cell.best else f" {TIED}" if cell.tied else ""
    mean = f"{t.number(cell.mean)}{mark}"
    interval = t.interval(cell.low, cell.high)
    interval = f"({interval})" if in_brackets else interval
    style = "key" if cell.best or cell.tied else ""
    spans = (doc.Styled(mean, "strong") if cell.best else mean, doc.BREAK, doc.Styled(interval, "soft"))  # fmt: skip
    return doc.TableCell(spans, "good" if cell.best else "", style)


def _describe_samples(league: League, t: Translator) -> str:
    counts = sorted({column.samples for column in league.columns})
    if len(counts) == 1:
        return t.whole(counts[0])
    return f"{t.whole(counts[0])} – {t.whole(counts[-1])}" if counts else "0"
