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
from ragstone.report.words import Words, load_words
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
        comparison, say = self.comparison, load_words(self.language)
        baseline, state = comparison.baseline, opening.describe_state(self.comparison, say)
        names = ", ".join(
            shorten(say.name_run(versus.run.name), 80) for versus in comparison.versus
        )
        title = say("against", run=names, baseline=shorten(say.name_run(baseline.name), 80))
        facts = [f"{say('baseline')}: {say.name_run(baseline.name)}", baseline.source]
        facts += [say("judge_is", name=baseline.judge)] if baseline.judge else []
        head = (
            doc.Heading(say("comparison"), 1, where=doc.TEXT),
            doc.Heading(title, 1, where=doc.PAGE),
            doc.Byline(tuple(facts), where=doc.PAGE),
            doc.Status(state.text, state.tone, where=doc.WRITTEN),
        )
        method = opening.describe_method(comparison, say, plain_intervals=self.plain_intervals)
        body = (
            *self.build_opening(say),
            *(self._build_versus(*numbered, say) for numbered in enumerate(comparison.versus, 1)),
            *(
                build_preferences(self.preferences, dict(self.runs), say)
                if self.preferences is not None
                else ()
            ),
            *_build_costs(comparison, say),
            doc.Section((doc.Paragraph(method, style="note method"),)),
            doc.Section((doc.Status(state.text, state.tone, where=doc.TERMINAL),)),
        )
        return doc.ReportDocument("comparison", say, title, say("comparison"), head, body)

    def brief(self) -> list[doc.Node]:
        """What a notebook shows: the opening, and for each run the sentences and the table."""
        say = load_words(self.language)
        nodes: list[doc.Node] = []
        if self.league is not None:
            nodes.append(build_league_section(self.league, self._list_remarks(say), say))
        for number, versus in enumerate(self.comparison.versus, 1):
            names = {
                "run": say.name_run(versus.run.name),
                "baseline": say.name_run(self.comparison.baseline.name),
            }
            gist = opening.describe_run_verdicts(versus, self.comparison, say)
            nodes.append(doc.Heading(shorten(say("against", **names), 200)))
            nodes.append(build_list(gist, style="gist"))
            nodes.append(self._build_table(versus, f"v{number}", say))
        state = opening.describe_state(self.comparison, say)
        return [*nodes, doc.Paragraph(state.text, state.tone)]

    def build_opening(self, say: Words) -> list[doc.Node]:
        """The league with the recommendation, and the picture of quality against cost."""
        if self.league is None:
            return _build_trade_off(self.comparison, say)
        section = build_league_section(self.league, self._list_remarks(say), say)
        return [section, *self.extra, *_build_trade_off(self.comparison, say)]

    def _list_remarks(self, say: Words) -> Sequence[doc.Remark]:
        if self.remarks is not None:
            return self.remarks
        return describe_recommendation(self.recommendation, say)

    def picture(self) -> Drawing:
        """The differences, and with several runs quality against cost."""
        say = load_words(self.language)
        trade_off = _choose_trade_off(self.comparison)
        drawings = [draw_forest(self.comparison, say, WIDE)]
        return stack_drawings(
            [*drawings, draw_pareto(trade_off, say, WIDE)] if trade_off else drawings
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

    def _build_versus(self, number: int, versus: RunComparison, say: Words) -> doc.Section:
        comparison = self.comparison
        names = {
            "run": say.name_run(versus.run.name),
            "baseline": say.name_run(comparison.baseline.name),
        }
        gist = build_list(
            opening.describe_run_verdicts(versus, comparison, say), flush=True, style="lines gist"
        )
        notes = build_list(
            sentences.describe_pairing(versus, comparison, say), flush=True, style="lines"
        )
        # A chart of this run only: the picture of all runs together is `picture`.
        alone = replace(comparison, versus=(versus,))
        chart = build_chart(lambda width: draw_forest(alone, say, width))
        label = doc.Paragraph(
            say("forest_of", baseline=say.name_run(comparison.baseline.name)), style="note"
        )
        remarks = [
            (difference.metric, sentences.describe_exclusions(difference, versus, comparison, say))
            for difference in versus.differences
        ]
        return doc.Section(
            (
                doc.Heading(shorten(say("against", **names), 200)),
                replace(gist, where=doc.COMPACT),
                replace(notes, where=doc.COMPACT),
                doc.Section((gist, notes, chart, label), "panel", where=doc.PAGE),
                doc.Section(
                    (
                        self._build_table(versus, f"v{number}", say),
                        _list_verdicts(versus, comparison, say),
                        *_list_percentiles(versus, say),
                        *build_remarks(remarks, doc.WRITTEN, "lines asides"),
                    ),
                    "panel",
                ),
                *(self._build_moved(versus, say) if comparison.paired else ()),
            ),
            "versus",
            f"v{number}",
        )

    def _build_table(self, versus: RunComparison, id: str, say: Words) -> doc.ReportTable:
        comparison = self.comparison
        columns = (
            *build_text_columns(say, "metric"),
            # One tuple serves all media: `_list_cells` must yield a cell for every column below, in
            # this order. A column stands twice where media want it in another place or with another
            # look.
            *build_text_columns(say, "verdict", where=doc.PAGE),
            *build_text_columns(say, "verdict", where=doc.TEXT),
            *build_number_columns(say, "before", "after"),
            *build_number_columns(say, "difference", where=doc.WRITTEN),
            *build_number_columns(say, "difference", where=doc.TERMINAL),
            *build_number_columns(say, "interval", f"p_corrected.{comparison.correction}"),
            *build_number_columns(say, "moved", where=doc.WRITTEN),
            *build_text_columns(say, "verdict", where=doc.wide_terminal(WIDE_COLUMNS)),
        )
        # The style of the first resource row draws the line between quality and resources.
        ordered = _order_rows(versus)
        first_resource = next((d for d in ordered if d.resource and d.family != "primary"), None)
        rows = [
            doc.TableRow(
                _list_cells(difference, comparison.floor, self.plain_intervals, say),
                "first-resource" if difference is first_resource else "",
            )
            for difference in ordered
        ]
        return doc.ReportTable(columns, tuple(rows), style="verdicts", id=id)

    def _build_moved(self, versus: RunComparison, say: Words) -> Iterator[doc.Node]:
        before, after = self.runs[self.comparison.baseline.id], self.runs[versus.run.id]
        moved: tuple[tuple[str, doc.Tone, Sequence[SamplePair], int], ...] = (
            ("regressed", "bad", view_pairs(versus.regressed, before, after, say), versus.regressed_count),
            ("fixed", "good", view_pairs(versus.fixed, before, after, say), versus.fixed_count),
        )  # fmt: skip
        brief: list[doc.Node] = []
        ids = (self.comparison.baseline.id, versus.run.id)
        for key, tone, pairs, total in moved:
            note = _count_pairs(pairs, total, say)
            heading = doc.Heading(say(key), note=note)
            yield doc.Section(
                (heading, doc.SamplePairList(tuple(pairs), tone, ids)), "moved", where=doc.PAGE
            )
            yield _list_in_text(key, pairs[:PAIRS_IN_TEXT], total, say)
            few = pairs[:PAIRS_ON_TERMINAL]
            brief.append(doc.Heading(f"{say(key)}: {_count_pairs(few, total, say)}"))
            brief.append(build_list(_item_on_terminal(pair, say) for pair in few))
        yield doc.Section(tuple(brief), where=doc.TERMINAL)


def _order_rows(versus: RunComparison) -> list[Difference]:
    """The primary metric, then quality, then latency, tokens and cost, each part in the order of the run (`sorted` is stable)."""
    return sorted(versus.differences, key=lambda d: (d.family != "primary", d.resource))


def _list_cells(
    difference: Difference, floor: float, plain_intervals: bool, say: Words
) -> doc.Cells:
    """A cell for each column of `_build_table`, in that order, whatever the medium."""
    low, high = difference.low, difference.high
    if plain_intervals:
        low, high = difference.plain_low, difference.plain_high
    verdict = sentences.describe_verdict(difference, floor, say)
    change = format_signed(difference.difference, say)
    tone: doc.Tone = "" if verdict.tone == "plain" else verdict.tone
    return (
        doc.TableCell(name_metric(difference.metric, difference.higher_is_better)),
        doc.TableCell(verdict.text, verdict.tone, "says"),
        f"{SIGNS.get(difference.verdict, '⚪')} {verdict.text}",
        say.number(difference.before),
        say.number(difference.after),
        doc.TableCell(doc.Styled(change, "strong")),
        doc.TableCell(change, tone, "key"),
        format_signed_interval(low, high, say),
        format_p_value(difference.adjusted, say),
        sentences.format_moved(difference, say),
        doc.TableCell(verdict.text, tone),
    )


def _list_verdicts(versus: RunComparison, comparison: Comparison, say: Words) -> doc.BulletList:
    """The verdicts below the table, for a terminal that has no column for them."""
    items = []
    for difference in _order_rows(versus):
        verdict = sentences.describe_verdict(difference, comparison.floor, say)
        items.append(doc.ListItem(verdict.text, verdict.tone, label=difference.metric))
    return build_list(items, doc.narrow_terminal(WIDE_COLUMNS), flush=True)


def _list_percentiles(versus: RunComparison, say: Words) -> list[doc.Node]:
    texts = [opening.describe_percentiles(difference, say) for difference in versus.differences]
    return (
        [build_list([text for text in texts if text], flush=True, style="lines")]
        if any(texts)
        else []
    )


def _count_pairs(pairs: Sequence[SamplePair], total: int, say: Words) -> str:
    if not pairs:
        return say.whole(total) if total else say("none_moved")
    return say("shown_most", shown=say.whole(len(pairs)), total=say.whole(total))


def _list_in_text(key: str, pairs: Sequence[SamplePair], total: int, say: Words) -> doc.Node:
    note = _count_pairs(pairs, total, say)
    if not pairs:
        return doc.Paragraph((doc.Styled(say(key), "strong"), f": {note}"), where=doc.TEXT)
    items = build_list(_item_in_text(pair, say) for pair in pairs)
    return doc.Details(f"{say(key)}: {note}", (items,), where=doc.TEXT)


def _item_in_text(pair: SamplePair, say: Words) -> doc.ListItem:
    scores: list[str | doc.Styled] = []
    for name, change in pair.scores:
        scores += [", "] * bool(scores) + [doc.Styled(name, "code"), f" {change}"]
    sides = [
        doc.ListItem((f"{say(key)}: ", *_describe_side(side, say)))
        for key, side in (("before", pair.before), ("after", pair.after))
    ]
    nodes = (doc.Paragraph(tuple(scores)), build_list(sides))
    return doc.ListItem(shorten(pair.question, 240), id=shorten(pair.id, 60), nodes=nodes)


def _describe_side(side: SampleSide, say: Words) -> Iterator[str | doc.Styled]:
    if side.error:
        yield say("system_error", error=side.error)
        return
    yield shorten(side.answer or say("no_answer"), 400)
    doubtful = [finding for finding in side.findings if finding.tone in ("bad", "warn")]
    for number, finding in enumerate(doubtful):
        yield f"{'; ' if number else ' ('}{shorten(finding.text, 120)} – "
        yield doc.Styled(finding.verdict, "emphasis")
    if doubtful:
        yield ")"


def _item_on_terminal(pair: SamplePair, say: Words) -> doc.ListItem:
    scores = ", ".join(f"{name} {change}" for name, change in pair.scores[:4])
    lines = [scores]
    for sign, side in (("−", pair.before), ("+", pair.after)):
        text = side.error or side.answer or say("no_answer")
        lines.append(f"{sign} {shorten(text, 160)}")
    nodes = tuple(doc.Paragraph(line, style="soft") for line in lines)
    return doc.ListItem(shorten(pair.question, 100), id=pair.id, nodes=nodes)


def _choose_trade_off(comparison: Comparison) -> TradeOff | None:
    """Quality against cost, when there are enough runs for a choice."""
    return build_trade_off(comparison) if len(comparison.versus) > 1 else None


def _build_trade_off(comparison: Comparison, say: Words) -> list[doc.Node]:
    # With two runs the table says it all; a front needs a third.
    trade_off = _choose_trade_off(comparison)
    if trade_off is None:
        return []
    chart = build_chart(lambda width: draw_pareto(trade_off, say, width))
    title = say("drawn.pareto", quality=trade_off.quality_metric, cost=trade_off.cost_metric)
    note = doc.Paragraph(say("drawn.front", cost=trade_off.cost_metric), style="note")
    nodes: list[doc.Node] = [build_panel("trade", title, chart, note, where=doc.PAGE)]
    front = [
        sentences.shorten_name(candidate.name, say)
        for candidate in trade_off.candidates
        if candidate.front
    ]
    if len(front) < len(trade_off.candidates):
        names = sentences.join_names(front, say)
        line = say("drawn.front_names", names=names, quality=trade_off.quality_metric, cost=trade_off.cost_metric)  # fmt: skip
        nodes.append(doc.Section((doc.Paragraph(line),), where=doc.COMPACT))
    return nodes


def _build_costs(comparison: Comparison, say: Words) -> list[doc.Node]:
    infos = [comparison.baseline, *(versus.run for versus in comparison.versus)]
    if all(info.usage == NO_USAGE for info in infos):
        return []
    columns = (
        *build_text_columns(say, "run", where=doc.WRITTEN),
        *build_text_columns(say, "judging", where=doc.TERMINAL),
        *build_number_columns(say, "calls", "input_tokens", "output_tokens", "usd"),
    )
    rows = []
    for info in infos:
        names = shorten(say.name_run(info.name), 80), sentences.shorten_name(info.name, say)
        rows.append((*names, say.whole(info.usage.calls), *build_usage_cells(info.usage, say)))
    table = build_table(columns, rows)
    return [build_panel("usage", say("judging"), table, heading=doc.WRITTEN)]
