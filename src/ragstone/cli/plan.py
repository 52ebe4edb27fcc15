"""Options of `ragstone plan`: how many questions it takes to detect a difference, before any is paid for."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from ragstone.analysis.power import WORST_SD, SampleSize, compute_paired_sd, plan_sample_size
from ragstone.analysis.spread import measure_spread
from ragstone.cli.options import store_option
from ragstone.cli.shared import choose_language
from ragstone.report.translator import Translator, load_translator
from ragstone.store import Store


@click.command("plan")
@click.option(
    "--effect",
    type=click.FloatRange(min=0, min_open=True),
    required=True,
    help="The difference that should not be missed, in the metric's own units: 0.03.",
)
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="RUN",
    help="A stored run of such questions; named twice, two of them, whose difference is measured.",
)
@click.option(
    "-m", "--metric", metavar="METRIC", help="The metric that decides; needed with --run."
)
@click.option(
    "--power",
    type=click.FloatRange(0.05, 0.999),
    default=0.8,
    show_default=True,
    help="How often a study should notice such a difference.",
)
@click.option(
    "--comparisons",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Differences that the study will show: runs times metrics.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--lang", "language", metavar="LANG", help="Language of the answer: en, es.")
@store_option
def command(runs: tuple[str, ...], effect: float, **flags: Any) -> None:
    """Estimate how many questions it takes to detect a difference.

    Without a run it assumes the worst: a yes-or-no metric at 50 %."""  # fmt: skip

    if len(runs) > 2:
        raise click.UsageError("at most two runs; the difference between them is measured")
    if runs and not flags["metric"]:
        raise click.UsageError(
            "--run needs the metric that decides; add --metric, e.g. --metric recall@5"
        )
    say = load_translator(choose_language(flags["language"]))
    need, how = _find_need(runs, effect, flags, say)
    if flags["as_json"]:
        click.echo(json.dumps(asdict(need), indent=2))
        return
    shown = f"{effect:g}".replace(".", say("decimal"))
    count = say.whole(need.questions)
    click.echo(say("plan.answer", questions=count, effect=shown, power=say.percent(need.power)))
    click.echo(say("plan.sd", sd=say.number(need.sd), how=how))
    # Groups of samples that hardly matter are not worth a sentence.
    if need.design > 1.05:
        click.echo(say("plan.design", design=say.number(need.design, 1)))
    if need.comparisons > 1:
        click.echo(say("plan.comparisons", n=say.whole(need.comparisons)))


def _find_need(
    runs: tuple[str, ...], effect: float, flags: dict[str, Any], say: Translator
) -> tuple[SampleSize, str]:
    """The number of questions, and a sentence on where its standard deviation comes from."""
    options = {"power": flags["power"], "comparisons": flags["comparisons"]}
    if not runs:
        sd = compute_paired_sd(WORST_SD)
        return plan_sample_size(effect, sd, binary=True, assumed=True, **options), say(
            "plan.how.worst"
        )
    store, metric = Store.open(flags["store"]), flags["metric"]
    opened = [store.run(name) for name in runs]
    spread_of_runs = measure_spread(opened, metric)
    need = plan_sample_size(
        effect,
        spread_of_runs.sd,
        design=spread_of_runs.design,
        binary=spread_of_runs.binary,
        assumed=len(opened) == 1,
        **options,
    )
    names = {"metric": metric, "run": opened[0].info.name}
    if len(opened) == 1:
        return need, say("plan.how.run", **names)
    return need, say("plan.how.runs", other=opened[1].info.name, **names)
