"""The report of a comparison: verdicts on each difference to the baseline, and the samples that moved most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.analysis.pareto import TradeOff, build_trade_off
from ragstone.report import document as doc
from ragstone.report.amounts import format_p_value, format_signed, format_signed_interval
from ragstone.report.builders.league import build_league_section, describe_recommendation
from ragstone.report.builders.parts import (
    build_chart,
    build_list,
    build_number_columns,
    build_panel,
    build_remarks,
    build_table,
    build_text_columns,
    build_usage_cells,
    name_metric,
)
from ragstone.report.builders.preferences import build_preferences, list_preference_data
from ragstone.report.comparison import opening, sentences
from ragstone.report.comparison.samples import SamplePair, SampleSide, view_pairs
from ragstone.report.drawing.charts import draw_forest, draw_pareto
from ragstone.report.drawing.shapes import WIDE, Drawing, stack_drawings
from ragstone.report.figures import shorten
from ragstone.report.translator import Translator, load_translator
from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    from ragstone.analysis.columns import ComparableRun
    from ragstone.analysis.comparison import Comparison, Difference, RunComparison
    from ragstone.analysis.league import League
    from ragstone.analysis.preferences import PreferenceStudy
    from ragstone.analysis.recommend import Recommendation

PAIRS_IN_TEXT, PAIRS_ON_TERMINAL = 10, 3
"""Samples shown each way; a page has all that were kept."""
WIDE_COLUMNS = 100
"""Columns of a terminal from which the verdict has a column of the table; on a narrower one it stands below."""
SIGNS = {"better": "🟢", "worse": "🔴", "withheld": "🟡"}
"""Every other verdict is white."""


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """A comparison, and its runs by id for the samples."""

    kind: ClassVar[str] = "comparison"
    comparison: Comparison
    runs: Mapping[str, ComparableRun]
    language: str = "en"
    plain_intervals: bool = False
    """Whether the table shows the interval of each difference alone, not corrected for the others."""
    league: League | None = None
    """Opens the report when there are configurations to choose from."""
    recommendation: Recommendation | None = None
    remarks: Sequence[doc.Remark] | None = None
    """What is said above the league, instead of the recommendation."""
    extra: tuple[doc.Node, ...] = ()
    """What stands below the league."""
    preferences: PreferenceStudy | None = None
    """What a judge said that saw the answers side by side."""

    def document(self) -> doc.ReportDocument:
        """The report as a tree."""
        comparison, t = self.comparison, load_translator(self.language)
        baseline, state = comparison.baseline, opening.describe_state(self.comparison, t)
        names = ", ".join(shorten(t.name_run(versus.run.name), 80) for versus in comparison.versus)
        title = t("against", run=names, baseline=shorten(t.name_run(baseline.name), 80))
        facts = [f"{t('baseline')}: {t.name_run(baseline.name)}", baseline.source]
        facts += [t("judge_is", name=baseline.judge)] if baseline.judge else []
        head = (
            doc.Heading(t("comparison"), 1, where=doc.TEXT),
            doc.Heading(title, 1, where=doc.PAGE),
            doc.Byline(tuple(facts), where=doc.PAGE),
            doc.Status(state.text, state.severity, where=doc.WRITTEN),
        )
        method = opening.describe_method(comparison, t, plain_intervals=self.plain_intervals)
        body = (
            *self.build_opening(t),
            *(self._build_versus(*numbered, t) for numbered in enumerate(comparison.versus, 1)),
            *(
                build_preferences(self.preferences, dict(self.runs), t)
                if self.preferences is not None
                else ()
            ),
            *_build_costs(comparison, t),
            doc.Section((doc.Paragraph(method, style="note method"),)),
            doc.Section((doc.Status(state.text, state.severity, where=doc.TERMINAL),)),
        )
        return doc.ReportDocument("comparison", t, title, t("comparison"), head, body)

    def brief(self) -> list[doc.Node]:
        """What a notebook shows: the opening, and for each run the sentences and the table."""
        t = load_translator(self.language)
        nodes: list[doc.Node] = []
        if self.league is not None:
            nodes.append(build_league_section(self.league, self._list_remarks(t), t))
        for number, versus in enumerate(self.comparison.versus, 1):
            names = {
                "run": t.name_run(versus.run.name),
                "baseline": t.name_run(self.comparison.baseline.name),
            }
            gist = opening.describe_run_verdicts(versus, self.comparison, t)
            nodes.append(doc.Heading(shorten(t("against", **names), 200)))
            nodes.append(build_list(gist, style="gist"))
            nodes.append(self._build_table(versus, f"v{number}", t))
        state = opening.describe_state(self.comparison, t)
        return [*nodes, doc.Paragraph(state.text, state.severity)]

    def build_opening(self, t: Translator) -> list[doc.Node]:
        """The league with the recommendation, and the picture of quality against cost."""
        if self.league is None:
            return _build_trade_off(self.comparison, t)
        section = build_league_section(self.league, self._list_remarks(t), t)
        return [section, *self.extra, *_build_trade_off(self.comparison, t)]

    def _list_remarks(self, t: Translator) -> Sequence[doc.Remark]:
        if self.remarks is not None:
            return self.remarks
        return describe_recommendation(self.recommendation, t)

    def picture(self) -> Drawing:
        """The differences, and with several runs quality against cost."""
        t = load_translator(self.language)
        trade_off = _choose_trade_off(self.comparison)
        drawings = [draw_forest(self.comparison, t, WIDE)]
        return stack_drawings(
            [*drawings, draw_pareto(trade_off, t, WIDE)] if trade_off else drawings
        )

    def data(self) -> dict[str, Any]:
        """The comparison as JSON takes it."""
        plain = self.comparison.to_dict()
        if self.preferences is not None:
            plain["preferences"] = list_preference_data(self.preferences)
        if self.league is not None:
            plain["league"] = self.league.to_dict()
            advice = self.recommendation
            plain["recommendation"] = None if advice is None else asdict(advice)
        return plain

    def _build_versus(self, number: int, versus: RunComparison, t: Translator) -> doc.Section:
        comparison = self.comparison
        names = {
            "run": t.name_run(versus.run.name),
            "baseline": t.name_run(comparison.baseline.name),
        }
        gist = build_list(
            opening.describe_run_verdicts(versus, comparison, t), flush=True, style="lines gist"
        )
        notes = build_list(
            sentences.describe_pairing(versus, comparison, t), flush=True, style="lines"
        )
        # A chart of this run only: the picture of all runs together is `picture`.
        alone = replace(comparison, versus=(versus,))
        chart = build_chart(lambda width: draw_forest(alone, t, width))
        label = doc.Paragraph(
            t("forest_of", baseline=t.name_run(comparison.baseline.name)), style="note"
        )
        remarks = [
            (difference.metric, sentences.describe_exclusions(difference, versus, comparison, t))
            for difference in versus.differences
        ]
        return doc.Section(
            (
                doc.Heading(shorten(t("against", **names), 200)),
                replace(gist, where=doc.COMPACT),
                replace(notes, where=doc.COMPACT),
                doc.Section((gist, notes, chart, label), "panel", where=doc.PAGE),
                doc.Section(
                    (
                        self._build_table(versus, f"v{number}", t),
                        _list_verdicts(versus, comparison, t),
                        *_list_percentiles(versus, t),
                        *build_remarks(remarks, doc.WRITTEN, "lines asides"),
                    ),
                    "panel",
                ),
                *(self._build_moved(versus, t) if comparison.paired else ()),
            ),
            "versus",
            f"v{number}",
        )

    def _build_table(self, versus: RunComparison, id: str, t: Translator) -> doc.ReportTable:
        comparison = self.comparison
        columns = (
            *build_text_columns(t, "metric"),
            # One tuple serves all media: `_list_cells` must yield a cell for every column below, in
            # this order. A column stands twice where media want it in another place or with another
            # look.
            *build_text_columns(t, "verdict", where=doc.PAGE),
            *build_text_columns(t, "verdict", where=doc.TEXT),
            *build_number_columns(t, "before", "after"),
            *build_number_columns(t, "difference", where=doc.WRITTEN),
            *build_number_columns(t, "difference", where=doc.TERMINAL),
            *build_number_columns(t, "interval", f"p_corrected.{comparison.correction}"),
            *build_number_columns(t, "moved", where=doc.WRITTEN),
            *build_text_columns(t, "verdict", where=doc.wide_terminal(WIDE_COLUMNS)),
        )
        # The style of the first resource row draws the line between quality and resources.
        ordered = _order_rows(versus)
        first_resource = next((d for d in ordered if d.resource and d.family != "primary"), None)
        rows = [
            doc.TableRow(
                _list_cells(difference, comparison.floor, self.plain_intervals, t),
                "first-resource" if difference is first_resource else "",
            )
            for difference in ordered
        ]
        return doc.ReportTable(columns, tuple(rows), style="verdicts", id=id)

    def _build_moved(self, versus: RunComparison, t: Translator) -> Iterator[doc.Node]:
        before, after = self.runs[self.comparison.baseline.id], self.runs[versus.run.id]
        moved: tuple[tuple[str, doc.Severity, Sequence[SamplePair], int], ...] = (
            ("regressed", "bad", view_pairs(versus.regressed, before, after, t), versus.regressed_count),
            ("fixed", "good", view_pairs(versus.fixed, before, after, t), versus.fixed_count),
        )  # fmt: skip
        brief: list[doc.Node] = []
        ids = (self.comparison.baseline.id, versus.run.id)
        for key, severity, pairs, total in moved:
            note = _count_pairs(pairs, total, t)
            heading = doc.Heading(t(key), note=note)
            yield doc.Section(
                (heading, doc.SamplePairList(tuple(pairs), severity, ids)), "moved", where=doc.PAGE
            )
            yield _list_in_text(key, pairs[:PAIRS_IN_TEXT], total, t)
            few = pairs[:PAIRS_ON_TERMINAL]
            brief.append(doc.Heading(f"{t(key)}: {_count_pairs(few, total, t)}"))
            brief.append(build_list(_item_on_terminal(pair, t) for pair in few))
        yield doc.Section(tuple(brief), where=doc.TERMINAL)


def _order_rows(versus: RunComparison) -> list[Difference]:
    """The primary metric, then quality, then latency, tokens and cost, each part in the order of the run (`sorted` is stable)."""
    return sorted(versus.differences, key=lambda d: (d.family != "primary", d.resource))


def _list_cells(
    difference: Difference, floor: float, plain_intervals: bool, t: Translator
) -> doc.Cells:
    """A cell for each column of `_build_table`, in that order, whatever the medium."""
    low, high = difference.low, difference.high
    if plain_intervals:
        low, high = difference.plain_low, difference.plain_high
    verdict = sentences.describe_verdict(difference, floor, t)
    change = format_signed(difference.difference, t)
    severity: doc.Severity = "" if verdict.severity == "plain" else verdict.severity
    return (
        doc.TableCell(name_metric(difference.metric, difference.higher_is_better)),
        doc.TableCell(verdict.text, verdict.severity, "says"),
        f"{SIGNS.get(difference.verdict, '⚪')} {verdict.text}",
        t.number(difference.before),
        t.number(difference.after),
        doc.TableCell(doc.Styled(change, "strong")),
        doc.TableCell(change, severity, "key"),
        format_signed_interval(low, high, t),
        format_p_value(difference.adjusted, t),
        sentences.format_moved(difference, t),
        doc.TableCell(verdict.text, severity),
    )


def _list_verdicts(versus: RunComparison, comparison: Comparison, t: Translator) -> doc.BulletList:
    """The verdicts below the table, for a terminal that has no column for them."""
    items = []
    for difference in _order_rows(versus):
        verdict = sentences.describe_verdict(difference, comparison.floor, t)
        items.append(doc.ListItem(verdict.text, verdict.severity, label=difference.metric))
    return build_list(items, doc.narrow_terminal(WIDE_COLUMNS), flush=True)


def _list_percentiles(versus: RunComparison, t: Translator) -> list[doc.Node]:
    texts = [opening.describe_percentiles(difference, t) for difference in versus.differences]
    return (
        [build_list([text for text in texts if text], flush=True, style="lines")]
        if any(texts)
        else []
    )


def _count_pairs(pairs: Sequence[SamplePair], total: int, t: Translator) -> str:
    if not pairs:
        return t.whole(total) if total else t("none_moved")
    return t("shown_most", shown=t.whole(len(pairs)), total=t.whole(total))


def _list_in_text(key: str, pairs: Sequence[SamplePair], total: int, t: Translator) -> doc.Node:
    note = _count_pairs(pairs, total, t)
    if not pairs:
        return doc.Paragraph((doc.Styled(t(key), "strong"), f": {note}"), where=doc.TEXT)
    items = build_list(_item_in_text(pair, t) for pair in pairs)
    return doc.Details(f"{t(key)}: {note}", (items,), where=doc.TEXT)


def _item_in_text(pair: SamplePair, t: Translator) -> doc.ListItem:
    scores: list[str | doc.Styled] = []
    for name, change in pair.scores:
        scores += [", "] * bool(scores) + [doc.Styled(name, "code"), f" {change}"]
    sides = [
        doc.ListItem((f"{t(key)}: ", *_describe_side(side, t)))
        for key, side in (("before", pair.before), ("after", pair.after))
    ]
    nodes = (doc.Paragraph(tuple(scores)), build_list(sides))
    return doc.ListItem(shorten(pair.question, 240), id=shorten(pair.id, 60), nodes=nodes)


def _describe_side(side: SampleSide, t: Translator) -> Iterator[str | doc.Styled]:
    if side.error:
        yield t("system_error", error=side.error)
        return
    yield shorten(side.answer or t("no_answer"), 400)
    doubtful = [finding for finding in side.findings if finding.severity in ("bad", "warn")]
    for number, finding in enumerate(doubtful):
        yield f"{'; ' if number else ' ('}{shorten(finding.text, 120)} – "
        yield doc.Styled(finding.verdict, "emphasis")
    if doubtful:
        yield ")"


def _item_on_terminal(pair: SamplePair, t: Translator) -> doc.ListItem:
    scores = ", ".join(f"{name} {change}" for name, change in pair.scores[:4])
    lines = [scores]
    for sign, side in (("−", pair.before), ("+", pair.after)):
        text = side.error or side.answer or t("no_answer")
        lines.append(f"{sign} {shorten(text, 160)}")
    nodes = tuple(doc.Paragraph(line, style="soft") for line in lines)
    return doc.ListItem(shorten(pair.question, 100), id=pair.id, nodes=nodes)


def _choose_trade_off(comparison: Comparison) -> TradeOff | None:
    """Quality against cost, when there are enough runs for a choice."""
    return build_trade_off(comparison) if len(comparison.versus) > 1 else None


def _build_trade_off(comparison: Comparison, t: Translator) -> list[doc.Node]:
    # With two runs the table says it all; a front needs a third.
    trade_off = _choose_trade_off(comparison)
    if trade_off is None:
        return []
    chart = build_chart(lambda width: draw_pareto(trade_off, t, width))
    title = t("drawn.pareto", quality=trade_off.quality_metric, cost=trade_off.cost_metric)
    note = doc.Paragraph(t("drawn.front", cost=trade_off.cost_metric), style="note")
    nodes: list[doc.Node] = [build_panel("trade", title, chart, note, where=doc.PAGE)]
    front = [
        sentences.shorten_name(candidate.name, t)
        for candidate in trade_off.candidates
        if candidate.front
    ]
    if len(front) < len(trade_off.candidates):
        names = sentences.join_names(front, t)
        line = t("drawn.front_names", names=names, quality=trade_off.quality_metric, cost=trade_off.cost_metric)  # fmt: skip
        nodes.append(doc.Section((doc.Paragraph(line),), where=doc.COMPACT))
    return nodes


def _build_costs(comparison: Comparison, t: Translator) -> list[doc.Node]:
    infos = [comparison.baseline, *(versus.run for versus in comparison.versus)]
    if all(info.usage == NO_USAGE for info in infos):
        return []
    columns = (
        *build_text_columns(t, "run", where=doc.WRITTEN),
        *build_text_columns(t, "judging", where=doc.TERMINAL),
        *build_number_columns(t, "calls", "input_tokens", "output_tokens", "usd"),
    )
    rows = []
    for info in infos:
        names = shorten(t.name_run(info.name), 80), sentences.shorten_name(info.name, t)
        rows.append((*names, t.whole(info.usage.calls), *build_usage_cells(info.usage, t)))
    table = build_table(columns, rows)
    return [build_panel("usage", t("judging"), table, heading=doc.WRITTEN)]
