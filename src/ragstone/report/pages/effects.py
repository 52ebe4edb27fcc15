"""What each level of each setting does to a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.report.amounts import format_p_value, format_signed, format_signed_interval
from ragstone.report.drawing.shapes import WIDE, Caption, Drawing, stack_drawings
from ragstone.report.pages import Page
from ragstone.report.pages.comparison import ComparisonPage
from ragstone.report.remarks import Remark, Severity, choose_arrow, shorten
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.analysis.effects import Effects, Level
    from ragstone.experiments.ablate import Ablation

SEVERITIES: dict[str, Severity] = {"better": "good", "worse": "bad", "unclear": "plain"}


@dataclass(frozen=True, slots=True)
class LevelRow:
    """One value of a setting."""

    setting: str
    """Its name, in the first row of each."""
    value: str
    mean: str
    interval: str
    difference: str
    difference_interval: str
    p: str
    verdict: Remark


@dataclass(frozen=True)
class EffectsPage(Page):
    """The effects on each metric, the name of the data and the runs behind them."""

    kind: ClassVar[str] = "effects"
    template: ClassVar[str] = "effects"
    styles: ClassVar[tuple[str, ...]] = ("comparison.css", "failures.css")
    effects: Sequence[Effects]
    name: str = ""
    runs: Sequence[Mapping[str, Any]] = ()
    comparison: ComparisonPage | None = None
    """The combinations against the current settings: its table of configurations opens the report."""

    @property
    def title(self) -> str:
        """What it is of."""
        return f"{self.t('effects')}: {self.heading}"

    @property
    def heading(self) -> str:
        """The data."""
        return shorten(self.name, 200)

    def name_metric(self, effects: Effects) -> str:
        """A metric with the direction that is good."""
        return f"{effects.metric} {choose_arrow(effects.higher_is_better)}"

    def describe_design(self, effects: Effects) -> str:
        """What the figures of a table rest on; empty where a later table says the same."""
        note = self._describe_design(effects)
        later = self.effects[list(self.effects).index(effects) + 1 :]
        return "" if note in map(self._describe_design, later) else note

    def _describe_design(self, effects: Effects) -> str:
        t = self.t
        design = t("effects_full" if effects.full else "effects_single", n=t.whole(effects.runs))
        return f"{design} {t.count('paired_on_all', effects.samples)}"

    def drawing(self, effects: Effects) -> partial[Drawing]:
        """The mean at each level of each factor."""
        from ragstone.report.drawing.charts import draw_effects

        return partial(draw_effects, effects, self.t)

    def list_rows(self, effects: Effects) -> list[LevelRow]:
        """A row for each level of each factor."""
        return [
            self._build_row("" if index else factor.name, level)
            for factor in effects.factors
            for index, level in enumerate(factor.levels)
        ]

    def _build_row(self, setting: str, level: Level) -> LevelRow:
        t = self.t
        value, mean = f"{level.value}{' ★' if level.best else ''}", t.number(level.mean)
        interval = t.interval(level.low, level.high)
        if level.base:
            return LevelRow(setting, value, mean, interval, "–", "–", "–", Remark(t("current"), ""))
        ends = format_signed_interval(level.difference_low, level.difference_high, t)
        verdict = t.translate("verdict_word", level.verdict) if level.verdict else "–"
        return LevelRow(
            setting,
            value,
            mean,
            interval,
            format_signed(level.difference, t),
            ends,
            format_p_value(level.adjusted, t),
            Remark(verdict, SEVERITIES.get(level.verdict, "")),
        )

    def picture(self) -> Drawing:
        """The levels of every factor, one chart per metric."""
        from ragstone.report.drawing.charts import draw_effects

        charts = []
        for effects in self.effects:
            caption = Caption(0, 10, effects.metric, "ink", bold=True)
            charts.append(Drawing(WIDE, 8, (caption,), effects.metric))
            charts.append(draw_effects(effects, self.t, WIDE))
        return stack_drawings(charts)

    def data(self) -> dict[str, Any]:
        """The runs and effects as JSON takes them."""
        plain = {"runs": self.runs, "effects": [effects.to_dict() for effects in self.effects]}
        return plain | ({} if self.comparison is None else {"comparison": self.comparison.data()})


def open_page(result: Ablation, t: Translator) -> EffectsPage:
    """The page of an ablation."""
    from ragstone.report.pages import comparison

    compared = None if result.result is None else comparison.open_page(result.result, t)
    assert compared is None or isinstance(compared, ComparisonPage)
    runs = [
        {"name": name, "run": run.id, "settings": settings}
        for (name, run), settings in zip(result.runs.items(), result.settings, strict=True)
    ]
    source = next(iter(result.runs.values())).info.source
    return EffectsPage(t, result.effects, PurePath(source).name or source, runs, compared)
