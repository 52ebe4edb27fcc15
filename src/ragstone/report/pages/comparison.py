"""A comparison: verdicts on the differences, configurations side by side, the samples that moved most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.analysis.pareto import TradeOff, build_trade_off
from ragstone.report.amounts import format_p_value, format_signed, format_signed_interval
from ragstone.report.comparison import opening, sentences
from ragstone.report.comparison.advice import describe_recommendation
from ragstone.report.comparison.samples import SamplePair, view_pairs
from ragstone.report.drawing.shapes import WIDE, Drawing, stack_drawings
from ragstone.report.figures import name_store
from ragstone.report.pages import Page
from ragstone.report.pages.preferences import PreferenceView
from ragstone.report.remarks import Remark, Severity, choose_arrow, shorten
from ragstone.report.translator import Translator
from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    from ragstone.analysis.columns import ComparableRun
    from ragstone.analysis.comparison import Comparison, Difference, RunComparison
    from ragstone.analysis.league import League, LeagueCell, LeagueColumn
    from ragstone.analysis.preferences import PreferenceStudy
    from ragstone.analysis.recommend import Recommendation
    from ragstone.experiments.bench import Bench
    from ragstone.experiments.compare import ComparisonResult
    from ragstone.report.pages.tuning import SearchView
    from ragstone.store import RunInfo

SIGNS = {"better": "🟢", "worse": "🔴", "withheld": "🟡"}
"""Every other verdict is white."""
BEST, TIED = "★", "≈"
"""Marks of the best in a metric, and of those that may be as good."""


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One metric in words and figures."""

    metric: str
    arrow: str
    verdict: Remark
    sign: str
    word: str
    """The verdict in a word."""
    before: str
    after: str
    change: str
    interval: str
    p: str
    moved: str
    severity: Severity
    """Of the change."""
    is_first_resource: bool
    """Whether it is the first below the line between quality and resources."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Samples that moved one way."""

    key: str
    severity: Severity
    pairs: tuple[SamplePair, ...]
    total: int


@dataclass(frozen=True)
class VersusView:
    """One run against the baseline."""

    page: ComparisonPage
    versus: RunComparison
    number: int

    @property
    def title(self) -> str:
        """Which runs it is of."""
        t = self.page.t
        names = {
            "run": t.name_run(self.versus.run.name),
            "baseline": t.name_run(self.page.comparison.baseline.name),
        }
        return shorten(t("against", **names), 200)

    @cached_property
    def gist(self) -> list[Remark]:
        """What a colleague would say."""
        return opening.describe_run_verdicts(self.versus, self.page.comparison, self.page.t)

    @property
    def pairing(self) -> list[Remark]:
        """How many samples were paired, what does not count, and what to beware of."""
        return sentences.describe_pairing(self.versus, self.page.comparison, self.page.t)

    @property
    def drawing(self) -> partial[Drawing]:
        """Each difference with its interval, of this run alone."""
        from ragstone.report.drawing.charts import draw_forest

        return partial(
            draw_forest, replace(self.page.comparison, versus=(self.versus,)), self.page.t
        )

    @cached_property
    def rows(self) -> list[DifferenceRow]:
        """The primary metric, then quality, then latency, tokens and cost, each part in the order of the run."""
        ordered = sorted(self.versus.differences, key=lambda d: (d.family != "primary", d.resource))
        first = next((d for d in ordered if d.resource and d.family != "primary"), None)
        return [self.page.format_difference(d, is_first_resource=d is first) for d in ordered]

    @property
    def percentiles(self) -> list[str]:
        """How the percentiles of resources moved."""
        texts = (opening.describe_percentiles(d, self.page.t) for d in self.versus.differences)
        return [text for text in texts if text]

    @cached_property
    def remarks(self) -> list[tuple[str, Remark]]:
        """Which samples do not count in a metric, and its warnings."""
        comparison, t = self.page.comparison, self.page.t
        return [
            (difference.metric, remark)
            for difference in self.versus.differences
            for remark in sentences.describe_exclusions(difference, self.versus, comparison, t)
        ]

    @cached_property
    def moved(self) -> list[Moved]:
        """Samples that became worse and better, the largest change first; none of independent sets."""
        page, versus = self.page, self.versus
        if not page.comparison.paired:
            return []
        before, after = page.runs[page.comparison.baseline.id], page.runs[versus.run.id]
        worse = tuple(view_pairs(versus.regressed, before, after, page.t))
        better = tuple(view_pairs(versus.fixed, before, after, page.t))
        return [
            Moved("regressed", "bad", worse, versus.regressed_count),
            Moved("fixed", "good", better, versus.fixed_count),
        ]

    def count(self, moved: Moved, most: int | None = None) -> str:
        """How many there are and how many of them are shown."""
        t = self.page.t
        if not moved.pairs:
            return t.whole(moved.total) if moved.total else t("none_moved")
        shown = len(moved.pairs[:most])
        return t("shown_most", shown=t.whole(shown), total=t.whole(moved.total))


@dataclass(frozen=True)
class ComparisonPage(Page):
    """A comparison, and its runs by id for the samples."""

    kind: ClassVar[str] = "comparison"
    template: ClassVar[str] = "comparison"
    styles: ClassVar[tuple[str, ...]] = ("comparison.css",)
    comparison: Comparison
    runs: Mapping[str, ComparableRun]
    plain_intervals: bool = False
    """Whether the table shows the interval of each difference alone, not corrected for the others."""
    league: League | None = None
    """Opens the report when there are configurations to choose from."""
    recommendation: Recommendation | None = None
    search: SearchView | None = None
    """The search that the second run won."""
    preferences: PreferenceStudy | None = None
    """What a judge said that saw the answers side by side."""

    @property
    def title(self) -> str:
        """Which runs it is of."""
        t, comparison = self.t, self.comparison
        names = ", ".join(shorten(t.name_run(versus.run.name), 80) for versus in comparison.versus)
        return t("against", run=names, baseline=shorten(t.name_run(comparison.baseline.name), 80))

    @property
    def facts(self) -> list[str]:
        """The baseline, its data and its judge."""
        t, baseline = self.t, self.comparison.baseline
        facts = [f"{t('baseline')}: {t.name_run(baseline.name)}", baseline.source]
        return facts + ([t("judge_is", name=baseline.judge)] if baseline.judge else [])

    @cached_property
    def state(self) -> Remark:
        """Which regressions are shown, or that none is and which may have been missed."""
        return opening.describe_state(self.comparison, self.t)

    @property
    def method(self) -> str:
        """How the figures were found."""
        return opening.describe_method(
            self.comparison, self.t, plain_intervals=self.plain_intervals
        )

    @cached_property
    def versus(self) -> list[VersusView]:
        """Each run against the baseline."""
        return [VersusView(self, versus, n) for n, versus in enumerate(self.comparison.versus, 1)]

    @property
    def told(self) -> list[VersusView]:
        """Those that are worth a part of their own: of several, not the ones that gave the baseline's answers."""
        return [v for v in self.versus if not (v.versus.same_answers and len(self.versus) > 1)]

    @cached_property
    def advice(self) -> list[Remark]:
        """What to do: what the search found, else which configuration to choose."""
        if self.search is not None:
            return self.search.describe(self.t)
        return [] if self.league is None else describe_recommendation(self.recommendation, self.t)

    @cached_property
    def alike(self) -> str:
        """The runs that gave the same answers as the baseline, in one line."""
        t = self.t
        names = [
            sentences.shorten_name(v.run.name, t) for v in self.comparison.versus if v.same_answers
        ]
        if not names or len(self.versus) == 1:
            return ""
        baseline = sentences.shorten_name(self.comparison.baseline.name, t)
        return t(
            "gist.alike",
            n=t.whole(len(names)),
            names=sentences.join_names(names, t),
            baseline=baseline,
        )

    def format_difference(
        self, difference: Difference, *, is_first_resource: bool = False
    ) -> DifferenceRow:
        """One metric as a row."""
        t = self.t
        low, high = difference.low, difference.high
        if self.plain_intervals:
            low, high = difference.plain_low, difference.plain_high
        verdict = sentences.describe_verdict(difference, self.comparison.floor, t)
        return DifferenceRow(
            metric=difference.metric,
            arrow=choose_arrow(difference.higher_is_better),
            verdict=verdict,
            sign=SIGNS.get(difference.verdict, "⚪"),
            word=t(f"verdict_word.{difference.verdict}"),
            before=t.number(difference.before),
            after=t.number(difference.after),
            change=format_signed(difference.difference, t),
            interval=format_signed_interval(low, high, t),
            p=format_p_value(difference.adjusted, t),
            moved=sentences.format_moved(difference, t),
            severity="" if verdict.severity == "plain" else verdict.severity,
            is_first_resource=is_first_resource,
        )

    # ── configurations side by side ───────────────────────────────────────────────────────

    def name(self, run: str) -> str:
        """A run's name, short enough for a table."""
        return sentences.shorten_name(run, self.t)

    def name_unit(self, column: LeagueColumn) -> str:
        """What a resource is counted in, in parentheses."""
        unit = self.t.translate("unit", column.metric) if column.resource else ""
        return f" ({unit})" if unit and unit != column.metric else ""

    def mark(self, cell: LeagueCell) -> str:
        """A mean with the mark of the best, or of what may be as good."""
        mark = f" {BEST}" if cell.best else f" {TIED}" if cell.tied else ""
        return f"{self.t.number(cell.mean)}{mark}"

    @property
    def league_note(self) -> str:
        """How to read the table of configurations."""
        assert self.league is not None
        t = self.t
        counts = sorted({column.samples for column in self.league.columns})
        samples = "0"
        if counts:
            samples = t.whole(counts[0])
            samples = samples if len(counts) == 1 else f"{samples} – {t.whole(counts[-1])}"
        return t("league.note", samples=samples)

    @cached_property
    def trade_off(self) -> TradeOff | None:
        """Quality against cost, when there are enough runs for a choice; with two the table says it all."""
        return build_trade_off(self.comparison) if len(self.comparison.versus) > 1 else None

    @property
    def trade_off_drawing(self) -> partial[Drawing]:
        """The same as a picture."""
        from ragstone.report.drawing.charts import draw_pareto

        assert self.trade_off is not None
        return partial(draw_pareto, self.trade_off, self.t)

    @property
    def front(self) -> str:
        """The configurations that no other beats in quality and cost; empty where that is all of them."""
        if self.trade_off is None:
            return ""
        names = [self.name(c.name) for c in self.trade_off.candidates if c.front]
        if len(names) == len(self.trade_off.candidates):
            return ""
        metrics = {"quality": self.trade_off.quality_metric, "cost": self.trade_off.cost_metric}
        return self.t("drawn.front_names", names=sentences.join_names(names, self.t), **metrics)

    @property
    def judging(self) -> list[RunInfo]:
        """The runs whose judge took something."""
        infos = [self.comparison.baseline, *(versus.run for versus in self.comparison.versus)]
        return [] if all(info.usage == NO_USAGE for info in infos) else infos

    @property
    def preferred(self) -> PreferenceView | None:
        """What a judge said that saw the answers side by side."""
        return (
            None
            if self.preferences is None
            else PreferenceView(self.preferences, self.runs, self.t)
        )

    @property
    def next_command(self) -> str:
        """The command that shows more of the recommended run, else of the first; empty for runs not kept."""
        advice, others = self.recommendation, self.comparison.versus
        named = next(
            (v for v in others if advice is not None and v.run.name == advice.choice), others[0]
        )
        baseline = self.comparison.baseline
        if not (baseline.id and baseline.place and named.run.id):  # windows of traffic are no runs
            return ""
        return f"ragstone compare {baseline.id} {named.run.id}{name_store(baseline)} --details"

    def picture(self) -> Drawing:
        """The differences, and with several runs quality against cost."""
        from ragstone.report.drawing.charts import draw_forest

        drawings = [draw_forest(self.comparison, self.t, WIDE)]
        return stack_drawings(
            [*drawings, self.trade_off_drawing(WIDE)] if self.trade_off else drawings
        )

    def data(self) -> dict[str, Any]:
        """The comparison as JSON takes it."""
        plain = self.comparison.to_dict()
        if self.preferences is not None:
            plain["preferences"] = self.preferences.to_dict()
        if self.league is not None:
            plain["league"] = self.league.to_dict()
            advice = self.recommendation
            plain["recommendation"] = None if advice is None else asdict(advice)
        return plain


def open_page(result: ComparisonResult | Bench, t: Translator, **options: Any) -> Page:
    """The page of a comparison; of a benchmark with one configuration that of its run."""
    compared: Any = getattr(result, "result", result)
    if compared is None:
        from ragstone.report.pages import run

        return run.open_page(next(iter(result.runs.values())), t)  # type: ignore[arg-type]
    return ComparisonPage(
        t,
        compared.comparison,
        compared.runs,
        league=compared.league,
        recommendation=compared.recommendation,
        preferences=compared.preferences,
        **options,
    )
