"""`ragstone judge attack`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ragstone import report
from ragstone.cli.compare import make_flagged_judge
from ragstone.cli.dry_run import show_sample_estimate
from ragstone.cli.messages import format_count, note
from ragstone.cli.options import check_outputs, output_option, store_option
from ragstone.cli.progress import Bar
from ragstone.cli.shared import check_language, choose_language
from ragstone.data import read
from ragstone.experiments.judge_attack import (
    attack_judge,
    draw_attacks,
    insert_text,
    load_own_samples,
    prepare_samples,
)
from ragstone.experiments.measure import CLAIM_METRIC
from ragstone.store import Store
from ragstone.types import Sample


@click.command("attack")
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
def command(**flags: Any) -> int:
    """Put texts that try to talk the judge round into samples, and see which verdicts change.

    The attacks open, demand and hide in different ways; beside them stands a harmless sentence in the same places. Exits
    1 when an attack made an unsupported claim pass, 3 when too many questions got no usable reply.

    \b
      ragstone judge attack
      ragstone judge attack --judge openai:gpt-4o-mini --data answers.jsonl --dry-run
      ragstone judge attack --judge local --data answers.jsonl --attacks 120 -o attacks.html
    """

    check_outputs("judges", flags["output"])
    language = choose_language(check_language(flags["language"]))
    samples, source = _open_samples(flags)
    store = Store.open(flags["store"])
    if flags["dry_run"]:
        _show_estimate(samples, store, flags)
        return 0
    with Bar() as bar:
        result = attack_judge(
            samples, make_flagged_judge(flags["spec"], flags), store=store, source=source,
            attacks=flags["attacks"], seed=flags["seed"], concurrency=flags["concurrency"], watch=bar,
        )  # fmt: skip
    report.show(result, language=language)
    for path in flags["output"]:
        report.write(result, path, language=language)
        note("wrote {path}", path=path)
    if any(attack.effect == "won" for attack in result.results):
        return 1
    return 0 if result.is_complete else 3


def _open_samples(flags: Mapping[str, Any]) -> tuple[list[Sample], str]:
    if flags["data"] is None:
        return load_own_samples()[: flags["limit"]], "ragstone"
    rows = read(flags["data"], limit=flags["limit"])
    return [record.sample for record in rows], str(flags["data"])


def _show_estimate(samples: list[Sample], store: Store, flags: Mapping[str, Any]) -> None:
    prepared = prepare_samples(samples, store)
    drawn = draw_attacks(prepared, flags["attacks"], flags["seed"])
    attacked = [insert_text(sample, place, attack.text) for sample, place, attack in drawn]
    click.echo(
        f"{format_count(len(prepared), 'sample')}, each as it is and with a harmless sentence, "
        f"and {format_count(len(attacked), 'attack')}"
    )
    everything = [*prepared, *prepared, *attacked]
    missing_keys: list[str] = []
    judge = make_flagged_judge(flags["spec"], flags, missing_keys)
    show_sample_estimate(everything, CLAIM_METRIC, judge, flags["concurrency"], missing_keys)
