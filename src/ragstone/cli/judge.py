"""Options of `ragstone judge` and its subcommands: prompts, quality of a judge, models to download."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.options import labels_option, output_option, store_option


@click.group()
def command() -> None:
    """Show the prompts, or check whether a judge is reliable."""


def _judge_options(function: Any) -> Any:
    """Which judge, where, and how large."""
    # The option applied last is listed first in `--help`.
    for option in (
        click.option("--small", is_flag=True, help="Ask for one token a question, as small models need it."),
        click.option("--base-url", metavar="URL", help="Where the judge's server listens."),
        click.option("--judge", "spec", metavar="JUDGE", help="offline, local, openai:MODEL, anthropic:MODEL, gemini:MODEL, ollama:MODEL, gguf:PATH, hf:PATH, nli:PATH, python:module:function"),
    ):  # fmt: skip
        function = option(function)
    return function


@command.command()
@click.option("--lang", "language", metavar="LANG", help="Language of the page: en, es.")
def quality(language: str | None) -> None:
    """Show how far the embedded judge agrees with people, how that was measured, and where it fails."""
    from ragstone.cli.actions.judge import show_quality

    show_quality(language)


@command.command()
@click.option(
    "--export", "export_to", metavar="DIR", type=click.Path(), help="Write our prompts into DIR."
)
@click.option(
    "--adapt", "language", metavar="LANG", help="Draft the prompts in a new language with a judge."
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    default="prompts",
    show_default=True,
    type=click.Path(),
    help="Where --adapt writes LANG/*.md.",
)
@_judge_options
def prompts(
    export_to: str | None,
    language: str | None,
    output: str,
    spec: str | None,
    base_url: str | None,
    small: bool,
) -> None:
    """List the prompts, write them out, or draft them in another language.

    A config uses a folder of prompts with `prompts: DIR`. No file is ever overwritten."""
    from ragstone.cli.actions.judge import draft_prompts, export_prompts, list_prompts

    if export_to and language:
        raise click.UsageError("--export and --adapt are two steps; run one of them")
    if export_to:
        export_prompts(export_to)
    elif language is None:
        list_prompts()
    elif spec is None:
        raise click.UsageError("--adapt needs a judge that can write: --judge openai:MODEL")
    else:
        draft_prompts(spec, base_url, small, language, output)


@command.command()
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
def check(model: str | None, spec: str | None, config: str | None, **options: Any) -> int:
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
    from ragstone.cli.actions.judge_check import run_check

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


@command.command()
@click.option("--labels", "where", metavar="WHERE", default="last", show_default=True, help="A stored run that people labelled, or a file of labels whose rows hold the samples too.")  # fmt: skip
@click.option("--judge", "judges", multiple=True, metavar="JUDGE", help="A judge to measure: offline, openai:MODEL, … May be repeated [default: the run's own].")  # fmt: skip
@click.option("--base-url", metavar="URL", help="Where the judges' server listens.")
@click.option("--on", "target", type=click.Choice(["claim", "chunk", "support", "correctness", "relevance", "refusal"]), help="What was labelled [default: what most labels are on].")  # fmt: skip
@click.option("--data", metavar="FILE", help="The samples that a file of labels is about.")
@click.option("--save-scale", is_flag=True, help="Store where good and bad values part, for failures, gates and alerts.")  # fmt: skip
@click.option("-j", "--concurrency", type=click.IntRange(min=1), metavar="N", help="Concurrent requests to a judge.")  # fmt: skip
@click.option("--max-usd", type=click.FloatRange(min=0), metavar="X", help="Stop asking a judge before this much is spent.")  # fmt: skip
@click.option("--max-calls", type=click.IntRange(min=1), metavar="N", help="Stop asking a judge after N calls.")  # fmt: skip
@output_option("judges")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@store_option
def measure(**flags: Any) -> int:
    """Measure judges on what people labelled, all on the same items, and say what each is fit for.

    Exits 1 when no judge is fit to gate on.

    \b
      ragstone judge measure --labels last
      ragstone judge measure --labels people.jsonl --judge offline --judge openai:gpt-4o-mini -o judges.html
    """
    from ragstone.cli.actions.judge_measure import measure_on_labels

    return measure_on_labels(flags)


@command.command()
@click.argument("run", default="last", metavar="RUN")
@labels_option
@store_option
def fit(run: str, labels: str | None, store: str | None) -> None:
    """Fit a judge's probabilities to what people labelled in a run, for the runs after it.

    Thirty labels of claims (or of whole answers) are enough. What is fitted must be better on labels left out than the
    judge's own probabilities; then runs with this judge use it and say so, until labels are fitted anew. `eval
    --no-calibration` leaves it out.

    \b
      ragstone label last --on claim
      ragstone judge fit last
      ragstone judge fit last --labels people.jsonl
    """
    from ragstone.cli.actions.judge_fit import fit_to_labels

    fit_to_labels(run, labels, store)


@command.command()
@click.option("--judge", "spec", metavar="JUDGE", default="offline", show_default=True, help="The judge to attack: offline, openai:MODEL, …")  # fmt: skip
@click.option("--base-url", metavar="URL", help="Where the judge's server listens.")
@click.option("--small", is_flag=True, help="The judge is a small model: one token a question.")
@click.option("--data", metavar="FILE", help="Samples of yours, with answers and contexts [default: twenty of ours].")  # fmt: skip
@click.option("--limit", type=click.IntRange(min=2), default=20, show_default=True, metavar="N", help="Samples to use.")  # fmt: skip
@click.option("--attacks", type=click.IntRange(min=1), default=60, show_default=True, metavar="N", help="Attacks to try, of 300 in each language.")  # fmt: skip
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Which attack meets which sample."
)
@click.option("-j", "--concurrency", type=click.IntRange(min=1), metavar="N", help="Concurrent requests to the judge.")  # fmt: skip
@click.option("--max-usd", type=click.FloatRange(min=0), metavar="X", help="Stop asking the judge before this much is spent.")  # fmt: skip
@click.option("--max-calls", type=click.IntRange(min=1), metavar="N", help="Stop asking the judge after N calls.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what the judge would be asked, and stop.")
@output_option("judges")
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@store_option
def attack(**flags: Any) -> int:
    """Put texts that try to talk the judge round into samples, and see which verdicts change.

    The attacks open, demand and hide in different ways; beside them stands a harmless sentence in the same places. Exits
    1 when an attack made an unsupported claim pass, 3 when too many questions got no usable reply.

    \b
      ragstone judge attack
      ragstone judge attack --judge openai:gpt-4o-mini --data answers.jsonl --dry-run
      ragstone judge attack --judge local --data answers.jsonl --attacks 120 -o attacks.html
    """
    from ragstone.cli.actions.judge_attack import run_attack

    return run_attack(flags)


@command.command()
@click.argument("name", required=False)
def get(name: str | None) -> None:
    """List open models that we measured as judges, or fetch the one that you name.

    It goes into your cache; its size and hash are checked, and a download that breaks off is resumed. Then `judge: local`
    uses it. No other command fetches anything. HF_ENDPOINT names a mirror of the hub.

    \b
      ragstone judge get
      ragstone judge get qwen2.5-coder-1.5b
      ragstone eval answers.jsonl -m faithfulness --judge local
    """
    from ragstone.cli.actions.judge_get import get_model, list_models

    if name is None:
        list_models()
    else:
        get_model(name)
