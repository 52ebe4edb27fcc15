"""A comparison as one self-contained HTML page, in the look of the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragstone._version import __version__
from ragstone.analysis.pareto import trade_off
from ragstone.report.comparison import sentences
from ragstone.report.comparison.samples import moved_views
from ragstone.report.drawing.charts import forest, pareto
from ragstone.report.drawing.shapes import NARROW, WIDE
from ragstone.report.drawing.svg import inline
from ragstone.report.figures import shortened
from ragstone.report.page import policy, resource, template
from ragstone.report.words import Words, words
from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    from ragstone.analysis.compare import Comparison, Versus
    from ragstone.store import StoredRun


def render(comparison: Comparison, runs: Mapping[str, StoredRun], language: str = "en") -> str:
    """The page as text."""
    from markupsafe import Markup

    say = words(language)
    style = "".join(resource(name) for name in ("report.css", "drawing.css", "comparison.css"))
    names = [shortened(versus.run.name, 80) for versus in comparison.versus]
    title = say("against", run=", ".join(names), baseline=shortened(comparison.baseline.name, 80))
    infos = [comparison.baseline, *(versus.run for versus in comparison.versus)]
    usage = [(shortened(info.name, 80), info.usage) for info in infos]
    return str(
        template("comparison.html.j2").render(
            say=say,
            version=__version__,
            policy=policy(style),
            style=Markup(style),  # noqa: S704 - files of this package
            title=title,
            baseline=comparison.baseline,
            state=sentences.state(comparison, say),
            versus=[_versus(versus, comparison, runs, say) for versus in comparison.versus],
            p_head=say(f"p_corrected.{comparison.correction}"),
            trade_off=_trade_off(comparison, say),
            usage=usage if any(used != NO_USAGE for _, used in usage) else [],
            method=sentences.method(comparison, say),
        )
    )


def _trade_off(comparison: Comparison, say: Words) -> dict[str, Any] | None:
    """Quality against cost, when there are enough runs for a choice."""
    from markupsafe import Markup

    found = trade_off(comparison) if len(comparison.versus) > 1 else None
    if found is None:
        return None
    return {
        kind: Markup(inline(pareto(found, say, width), kind))  # noqa: S704 - every text in it is escaped
        for kind, width in (("wide", WIDE), ("narrow", NARROW))
    } | {
        "title": say("drawn.pareto", quality=found.quality, cost=found.cost),
        "note": say("drawn.front", cost=found.cost),
    }


def _versus(
    versus: Versus, comparison: Comparison, runs: Mapping[str, StoredRun], say: Words
) -> dict[str, Any]:
    from markupsafe import Markup

    alone = replace(comparison, versus=(versus,))
    drawings = {
        kind: Markup(inline(forest(alone, say, width), kind))  # noqa: S704 - every text in it is escaped
        for kind, width in (("wide", WIDE), ("narrow", NARROW))
    }
    before, after = runs[comparison.baseline.id], runs[versus.run.id]
    names = {"run": versus.run.name, "baseline": comparison.baseline.name}
    moved = [
        {
            "title": say(key),
            "note": say("shown_most", shown=say.whole(len(some)), total=say.whole(total))
            if some
            else say("none_moved"),
            "tone": tone,
            "views": moved_views(some, before, after, say),
        }
        for key, tone, some, total in (
            ("regressed", "bad", versus.regressed, versus.regressed_count),
            ("fixed", "good", versus.fixed, versus.fixed_count),
        )
    ]
    return {
        "title": say("against", **names),
        "notes": sentences.notes(versus, comparison, say),
        "forest_label": say("forest_of", baseline=comparison.baseline.name),
        "rows": _rows(versus, comparison, say),
        "metric_notes": [
            (one.metric, lines)
            for one in versus.differences
            if (lines := sentences.metric_notes(one, versus, comparison, say))
        ],
        "moved": moved,
    } | drawings


def _rows(versus: Versus, comparison: Comparison, say: Words) -> list[dict[str, Any]]:
    ordered = sorted(versus.differences, key=lambda one: one.resource)
    first = next((one for one in ordered if one.resource), None)
    return [
        {
            "one": one,
            "first_resource": one is first,
            "verdict": sentences.verdict(one, comparison.floor, say),
            "signed": sentences.signed(one.difference, say),
            "interval": sentences.signed_interval(one, say),
            "p": sentences.p_value(one.adjusted, say),
            "moved": sentences.moved(one, say),
        }
        for one in ordered
    ]
