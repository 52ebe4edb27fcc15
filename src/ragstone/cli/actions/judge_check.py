"""`ragstone judge check`: measure a judge on controls, choose its route, and print the config section to paste."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ragstone.cli.actions.messages import Count, find_language, localize, note, translate
from ragstone.cli.actions.progress import Bar
from ragstone.config import load
from ragstone.engine import ProgressCallback
from ragstone.experiments.judge_check import (
    QUICK_CONTROLS,
    JudgeCheck,
    KindResult,
    check_judge,
)
from ragstone.experiments.judge_check.routes import (
    Route,
    RouteTrial,
    choose_route,
    limit_writing,
    list_routes,
    set_route,
    try_routes,
)
from ragstone.judges.discovery import find_settings
from ragstone.judges.factory import make_judge, to_public_spec
from ragstone.judges.limits import Budget
from ragstone.judges.scale import MIN_RANK_AUROC, MIN_REPLY_RATE, find_needed_accuracy
from ragstone.locale.messages import render
from ragstone.store import Store, save_scales

CHECK_CONCURRENCY = 4
"""Questions in flight where the user says nothing: a local server queues the rest until they time out."""
SHOWN_FAILURES = 3
INCOMPLETE_EXIT_CODE = 3
FITNESS_COLOURS = {"fit": "green", "rank_only": "yellow", "unfit": "red"}
"""KindResult.fitness → the colour it is printed in."""


def run_check(
    spec: str,
    base_url: str | None,
    config: str | None,
    language: str,
    *,
    route: Route | None,
    quick: bool,
    metrics: Sequence[str],
    limits: Mapping[str, Any],
    store: str | None,
) -> int:
    """Measure a judge, print the page, store its scales; returns 1 when not all is fit to gate on, 3 when the budget ended it."""
    given = load(config).judge_settings() if config else None
    with Bar() as bar:
        settings, trials, check = asyncio.run(
            _measure(given, spec, base_url, language, route, quick, metrics, limits, bar)
        )
    console = Console(highlight=False)
    _show_routes(console, trials, settings)
    _show_results(console, check)
    _show_costs(console, check)
    _show_section(console, settings)
    if check.skipped:
        note(
            "{controls} not reached: the budget was spent; nothing is stored",
            controls=Count(check.skipped, "control"),
        )
        return INCOMPLETE_EXIT_CODE
    if quick:
        note(
            "{controls} of each kind say little, so nothing is stored",
            controls=Count(QUICK_CONTROLS, "control"),
        )
    else:
        _store_scales(check, store)
    return 0 if check.is_fit else 1


async def _measure(
    given: dict[str, Any] | None,
    spec: str,
    base_url: str | None,
    language: str,
    route: Route | None,
    quick: bool,
    metrics: Sequence[str],
    limits: Mapping[str, Any],
    bar: Bar,
) -> tuple[dict[str, Any], list[RouteTrial], JudgeCheck]:
    settings = given or await find_settings(spec, base_url)
    if route is not None:
        settings = set_route(settings, route)
    budget = Budget(
        limits.get("max_usd", settings.get("max_usd")),
        limits.get("max_calls", settings.get("max_calls")),
        settings.get("run_deadline"),
        calls_per_second=settings.get("rate"),
    )
    # `settings` are printed for the config; `tried` has a concurrency that is for this check alone.
    tried = {"concurrency": CHECK_CONCURRENCY, **settings}
    trials: list[RouteTrial] = []
    if len(list_routes(settings)) > 1:
        bar.title = translate("trying both routes")
        trials = await try_routes(tried, language, budget, quick=quick, watch=bar)
        chosen = choose_route(trials)
        settings, tried = set_route(settings, chosen), set_route(tried, chosen)
    judge = make_judge(tried, budget=budget)
    limit_writing(judge)

    def start_kind(kind: str, number: int, count: int) -> ProgressCallback:
        bar.title = translate(
            "{kind} ({number} of {count})", kind=kind, number=number + 1, count=count
        )
        return bar

    try:
        check = await check_judge(
            judge,
            language,
            count=QUICK_CONTROLS if quick else None,
            metrics=metrics,
            watch=start_kind,
        )
    finally:
        await judge.close()
    return settings, trials, check


def _show_routes(
    console: Console, trials: Sequence[RouteTrial], settings: Mapping[str, Any]
) -> None:
    for trial in trials:
        result = trial.result
        sentence = translate(
            "{replies} of {controls} replies usable, {right} right; {tokens} tokens and {seconds:.1f} s a sample",
            replies=result.replies,
            controls=result.controls,
            right=result.right,
            tokens=_count_tokens(result),
            seconds=result.seconds / result.controls,
        )
        console.print(f"{trial.route:>8}: {sentence}", soft_wrap=True)
        _show_failures(console, result)
    if len(trials) < 2:
        return
    chosen = "plain" if settings["small"] else "json"
    json_result, plain_result = (trial.result for trial in trials)  # in the order of `list_routes`
    if chosen == "json":
        reason = translate("its JSON replies are usable, and no fewer are right")
    elif json_result.replies < MIN_REPLY_RATE * json_result.controls:
        reason = translate(
            "only {replies} of {controls} JSON replies are usable",
            replies=json_result.replies,
            controls=json_result.controls,
        )
    else:
        reason = translate(
            "{json:.0%} are right as JSON, {plain:.0%} with one token",
            json=json_result.agreement,
            plain=plain_result.agreement,
        )
    choice = translate("Route: {route}, because {reason}.", route=chosen, reason=reason)
    console.print(f"[bold]{choice}[/]\n")


def _show_results(console: Console, check: JudgeCheck) -> None:
    title = translate(
        "{judge} on controls of known truth ({language})",
        judge=check.judge,
        language=translate("Spanish" if check.language == "es" else "English"),
    )
    console.print(f"[bold]{escape(title)}[/]\n")
    console.print(_build_table(check))
    count = max(result.controls for result in check.results)
    console.print(
        translate(
            "bal. = balanced accuracy, rule = that of the simplest rule, ECE = calibration error, tokens and s a sample."
        ),
        soft_wrap=True,
    )
    margin = translate(
        "{count} controls tell a share of 80% to within about {margin:.0%}.",
        count=count,
        margin=margin_of(count),
    )
    console.print(f"{margin}\n")
    for result in check.results:
        if result.fitness != "fit" and not result.is_unanswered:
            console.print(f"{result.metric}: {_explain(result)}", soft_wrap=True)
            _show_failures(console, result)


def _build_table(check: JudgeCheck) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column(translate("metric"), no_wrap=True)
    heads = (translate("usable"), translate("right"), translate("bal."), translate("rule"))
    for head in (*heads, "AUROC", "ECE", "tokens", "s"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column(translate("verdict"), no_wrap=True)
    for result in check.results:
        scale = result.scale
        table.add_row(
            result.metric,
            f"{result.replies}/{result.controls}",
            f"{result.agreement:.0%}",
            _format_figure(scale.balanced_accuracy if scale else None),
            _format_figure(result.baseline_accuracy),
            _format_figure(scale.auroc if scale else None),
            _format_figure(result.calibration_error),
            localize(_count_tokens(result), find_language()),
            _format_figure(result.seconds / result.controls, ".1f"),
            _format_verdict(result),
        )
    return table


def _format_verdict(result: KindResult) -> str:
    if result.is_unanswered:
        return translate("not answered")
    if result.fitness == "fit":
        word = translate("fit")
    else:
        word = translate("rank only" if result.fitness == "rank_only" else "unfit")
    return f"[{FITNESS_COLOURS[result.fitness]}]{word}[/]"


def margin_of(count: int) -> float:
    """Return the half-width of a 95% interval of a share of 0.8 among so many."""
    return 1.96 * math.sqrt(0.8 * 0.2 / count)


def _explain(result: KindResult) -> str:
    """Say why a metric is not fit to gate on."""
    scale = result.scale
    if result.replies < MIN_REPLY_RATE * result.controls:
        return translate(
            "unfit, {replies} of {controls} replies are usable; {needed:.0%} are needed.",
            replies=result.replies,
            controls=result.controls,
            needed=MIN_REPLY_RATE,
        )
    if scale is None:
        return translate(
            "unfit, {right:.0%} are right; {needed:.0%} are needed.",
            right=result.agreement,
            needed=find_needed_accuracy(result.baseline_accuracy),
        )
    if scale.auroc < MIN_RANK_AUROC:
        return translate(
            "unfit, it puts bad above good (mean {good:.2f} against {bad:.2f}, AUROC {auroc:.2f})."
            if scale.auroc < 1 - MIN_RANK_AUROC
            else "unfit, it hardly tells good from bad (mean {good:.2f} against {bad:.2f}, AUROC {auroc:.2f}).",
            good=scale.good.mean,
            bad=scale.bad.mean,
            auroc=scale.auroc,
        )
    return translate(
        "rank only, a limit at {limit:.2f} is right for {right:.0%}; {needed:.0%} are needed.",
        limit=scale.threshold,
        right=scale.balanced_accuracy,
        needed=find_needed_accuracy(scale.baseline_accuracy),
    )


def _show_failures(console: Console, result: KindResult) -> None:
    for reason, count in list(result.failures.items())[:SHOWN_FAILURES]:
        shown = render(reason, find_language())
        line = translate("{count} failed: {reason}", count=count, reason=shown)
        console.print(f"    {escape(line)}", soft_wrap=True)


def _show_costs(console: Console, check: JudgeCheck) -> None:
    usage = check.usage
    costs = translate(
        "{calls}, {tokens_in} tokens in, {tokens_out} out, {seconds:.0f} s",
        calls=Count(usage.calls, "call"),
        tokens_in=usage.input_tokens,
        tokens_out=usage.output_tokens,
        seconds=sum((result.seconds for result in check.results), 0.0),
    )
    console.print(costs + (f", {_format_figure(usage.usd)} USD." if usage.usd else "."))
    if check.is_fit:
        verdict = translate(
            "Fit to gate on, as far as these controls can tell; measure it on labels of your own."
        )
    else:
        verdict = translate(
            "Not fit to gate on where the verdict says so: such scores may be shown, not relied on."
        )
    console.print(f"[{'green' if check.is_fit else 'red'}]{verdict}[/]")


def _show_section(console: Console, settings: Mapping[str, Any]) -> None:
    """Print the section of a config file."""
    import yaml

    section = yaml.safe_dump({"judge": to_public_spec(settings)}, sort_keys=False)
    console.print(f"\n{escape(section)}", soft_wrap=True)


def _store_scales(check: JudgeCheck, store_path: str | None) -> None:
    if not check.scales:
        return
    store = Store.open(store_path)
    try:
        save_scales(store, check.scales)
        note(
            "stored what {metrics} are worth with this judge in {place}",
            metrics=Count(len(check.scales), "metric"),
            place=store.place,
        )
    finally:
        store.close()


def _format_figure(value: float | None, spec: str = ".2f") -> str:
    return "–" if value is None else format(localize(float(value), find_language()), spec)


def _count_tokens(result: KindResult) -> int:
    """Tokens of a sample, on average."""
    return round((result.usage.input_tokens + result.usage.output_tokens) / result.controls)
