"""`ragstone judge check`"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ragstone.cli.messages import Count, note, translate
from ragstone.cli.options import store_option
from ragstone.cli.progress import Bar
from ragstone.config import load
from ragstone.engine import ProgressCallback
from ragstone.experiments.judge_check import JudgeCheck, KindResult, check_judge
from ragstone.experiments.judge_check.controls import LANGUAGES
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
from ragstone.judges.scale import (
    MIN_FIT_ACCURACY,
    MIN_RANK_AUROC,
    MIN_REPLY_RATE,
    find_needed_accuracy,
    load_bundled_scales,
)
from ragstone.locale.messages import render
from ragstone.store import Store, save_scales


@click.command("check")
@click.argument("model", required=False)
@click.option("--judge", "spec", metavar="JUDGE", help="The same as MODEL.")
@click.option("--base-url", metavar="URL", help="Where the judge's server listens.")
@click.option("-c", "--config", metavar="FILE", type=click.Path(exists=True, dir_okay=False), help="Check the judge of a config file.")  # fmt: skip
@click.option(
    "--lang",
    type=click.Choice(["en", "es"]),
    help="Language of the controls. [default: both; with --full or -m: en]",
)
@click.option("--route", type=click.Choice(["json", "plain"]), help="Measure this route only, instead of choosing.")  # fmt: skip
@click.option("-m", "--metric", "metrics", multiple=True, metavar="METRIC", help="Measure only what this metric asks. May be repeated.")  # fmt: skip
@click.option(
    "--full",
    is_flag=True,
    help="Measure every kind of question on thirty controls and store the scales.",
)
@click.option("--max-usd", type=click.FloatRange(min=0), metavar="X", help="Stop before this much is spent.")  # fmt: skip
@click.option("--max-calls", type=click.IntRange(min=0), metavar="N", help="Stop after this many calls.")  # fmt: skip
@store_option
def command(model: str | None, spec: str | None, config: str | None, **options: Any) -> int:
    """Tell which route fits a model, and what a judge is fit for.

    MODEL is a judge (openai:NAME, gguf:PATH, offline), the URL of an OpenAI-compatible server, or the path of a model.
    A language model gets eight answers of known truth on each route, beside one bare question: under 60 calls. With
    --full, and for judges that make no calls, thirty controls of each kind of question are scored beside the simplest
    rule, and what metrics are worth with this judge is stored. The page ends with the `judge:` section to paste. Exits
    1 when something is not fit to gate on, 3 when the budget ended it.

    \b
      ragstone judge check
      ragstone judge check http://127.0.0.1:8080/v1
      ragstone judge check gguf:qwen.gguf --lang es --full
    """

    given = [name for name in (model, spec, config) if name]
    if len(given) > 1:
        raise click.UsageError("name the judge once: MODEL, --judge or --config")
    limits = {n: v for n in ("max_usd", "max_calls") if (v := options.pop(n)) is not None}
    return run_check(
        model or spec or "offline",
        options["base_url"],
        config,
        options["lang"],
        route=options["route"],
        full=options["full"],
        metrics=options["metrics"],
        limits=limits,
        store=options["store"],
    )


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
    language: str | None,
    *,
    route: Route | None,
    full: bool,
    metrics: Sequence[str],
    limits: Mapping[str, Any],
    store: str | None,
) -> int:
    """Measure a judge, print the page and the section for a config; with `full` store its scales.

    Returns 1 when it is not fit to gate on, 3 when the budget ended it."""
    given = load(config).judge_settings() if config else None
    with Bar() as bar:
        settings, trials, check = asyncio.run(
            _measure(given, spec, base_url, language, route, full, metrics, limits, bar)
        )
    console = Console(highlight=False)
    if trials:
        _show_routes(console, trials, settings)
    if check is not None:
        _show_results(console, check)
        _show_costs(console, check)
    _show_section(console, settings)
    skipped = sum(trial.skipped for trial in trials) + (check.skipped if check is not None else 0)
    if skipped:
        note(
            "{controls} not reached: the budget was spent; nothing is stored",
            controls=Count(skipped, "control"),
        )
        return INCOMPLETE_EXIT_CODE
    if check is None:
        chosen = _find_chosen(trials, settings)
        return 0 if chosen.count_right() >= MIN_FIT_ACCURACY * len(chosen.controls) else 1
    _store_scales(check, store)
    return 0 if check.is_fit else 1


async def _measure(
    given: dict[str, Any] | None,
    spec: str,
    base_url: str | None,
    language: str | None,
    route: Route | None,
    full: bool,
    metrics: Sequence[str],
    limits: Mapping[str, Any],
    bar: Bar,
) -> tuple[dict[str, Any], list[RouteTrial], JudgeCheck | None]:
    """Try the routes of a language model; measure every kind where that is wanted, or costs no calls."""
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
    routes = list_routes(settings)
    is_measured = full or bool(metrics) or not routes
    trials: list[RouteTrial] = []
    if routes and (len(routes) > 1 or not is_measured):
        bar.title = translate("trying the routes")
        trials = await try_routes(tried, [language] if language else LANGUAGES, budget, bar)
        chosen = choose_route(trials)
        settings, tried = set_route(settings, chosen), set_route(tried, chosen)
    if not is_measured:
        return settings, trials, None
    judge = make_judge(tried, budget=budget)
    limit_writing(judge)

    def start_kind(kind: str, number: int, count: int) -> ProgressCallback:
        bar.title = translate(
            "{kind} ({number} of {count})", kind=kind, number=number + 1, count=count
        )
        return bar

    try:
        check = await check_judge(
            judge, language or LANGUAGES[0], metrics=metrics, watch=start_kind
        )
    finally:
        await judge.close()
    return settings, trials, check


def _find_chosen(trials: Sequence[RouteTrial], settings: Mapping[str, Any]) -> RouteTrial:
    route = "plain" if settings["small"] else "json"
    return next(trial for trial in trials if trial.way == route)


def _show_routes(
    console: Console, trials: Sequence[RouteTrial], settings: Mapping[str, Any]
) -> None:
    controls = trials[0].controls
    languages = list(dict.fromkeys(str(control.sample.language) for control in controls))
    names = {"en": translate("English"), "es": translate("Spanish")}
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column(translate("right"), no_wrap=True)
    for head in (*(names[code] for code in languages), translate("usable"), "tokens", "s"):
        table.add_column(head, justify="right", no_wrap=True)
    for trial in trials:
        asked = len(trial.scores)
        tokens = (trial.usage.input_tokens + trial.usage.output_tokens) / max(asked, 1)
        of_language = Counter(control.sample.language for control in controls)
        table.add_row(
            translate(WAYS[trial.way]),
            *(f"{trial.count_right(code)}/{of_language[code]}" for code in languages),
            f"{trial.usable}/{asked}",
            f"{round(tokens):,}",
            _format_figure(trial.seconds / max(asked, 1), ".1f"),
        )
    console.print(table)
    for trial in trials:
        _show_failures(console, trial)
    console.print(f"[bold]{_say_choice(trials, settings)}[/]", soft_wrap=True)
    margin = translate(
        "{count} answers tell a share of 80% to within about {margin:.0%}; --full measures every kind of question on thirty.",
        count=len(controls),
        margin=margin_of(len(controls)),
    )
    console.print(f"{margin}\n", soft_wrap=True)


WAYS = {"bare": "one bare question", "plain": "plain route", "json": "JSON route"}
"""How a way of asking is called in the table."""


def _say_choice(trials: Sequence[RouteTrial], settings: Mapping[str, Any]) -> str:
    """Say which route was chosen and why, and whether it is better than a bare question."""
    chosen, bare = _find_chosen(trials, settings), trials[0]
    others = [trial for trial in trials if trial.way not in ("bare", chosen.way)]
    if not others:
        reason = translate("no other was tried")
    elif chosen.way == "json":
        reason = translate("its JSON replies are usable, and no fewer are right")
    elif others[0].usable < MIN_REPLY_RATE * len(others[0].controls):
        reason = translate(
            "only {replies} of {controls} JSON replies are usable",
            replies=others[0].usable,
            controls=len(others[0].scores),
        )
    else:
        reason = translate(
            "{plain} are right, {json} as JSON",
            json=others[0].count_right(),
            plain=chosen.count_right(),
        )
    sentence = translate("Route: {route}, because {reason}.", route=chosen.way, reason=reason)
    if bare.count_right() > chosen.count_right():
        sentence += " " + translate(
            "One bare question about the whole answer is right more often ({bare}): do not gate on single claims.",
            bare=bare.count_right(),
        )
    return sentence


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
            f"{_count_tokens(result):,}",
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


def _show_failures(console: Console, result: KindResult | RouteTrial) -> None:
    for reason, count in list(result.failures.items())[:SHOWN_FAILURES]:
        shown = render(reason, "en")
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
    measured = {(scale.judge, scale.metric) for scale in load_bundled_scales()}
    scales = [result.scale for result in check.results if result.scale is not None]
    known = [scale.metric for scale in scales if (scale.judge, scale.metric) in measured]
    if known:
        text = translate(
            "Reports go by larger measurements for {metrics}: ragstone judge quality",
            metrics=", ".join(known),
        )
        console.print(text)
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
    return "–" if value is None else format(value, spec)


def _count_tokens(result: KindResult) -> int:
    """Tokens of a sample, on average."""
    return round((result.usage.input_tokens + result.usage.output_tokens) / result.controls)
