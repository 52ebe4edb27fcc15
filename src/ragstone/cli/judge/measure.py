"""`ragstone judge measure`"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ragstone import report
from ragstone.cli.messages import Count, note
from ragstone.cli.options import check_outputs, output_option, store_option
from ragstone.cli.progress import show_waiting
from ragstone.cli.shared import check_language, choose_language
from ragstone.errors import RagstoneError
from ragstone.experiments.measure import (
    LabelledSet,
    measure_judges,
    open_labelled_file,
    open_labelled_run,
)
from ragstone.store import Store, save_scales


@click.command("measure")
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
def command(**flags: Any) -> int:
    """Measure judges on what people labelled, all on the same items, and say what each is fit for.

    Exits 1 when no judge is fit to gate on.

    \b
      ragstone judge measure --labels last
      ragstone judge measure --labels people.jsonl --judge offline --judge openai:gpt-4o-mini -o judges.html
    """

    check_outputs("judges", flags["output"])
    language = choose_language(check_language(flags["language"]))
    store = Store.open(flags["store"])
    labelled = _open_labels(flags, store)
    judges = [_build_settings(spec, flags) for spec in flags["judges"]]
    with show_waiting("judging what people labelled"):
        measurement = measure_judges(
            labelled,
            judges,
            store=store,
            concurrency=flags["concurrency"],
            with_scales=flags["save_scale"],
        )
    if not any(judge.items for judge in measurement.judges):
        raise RagstoneError(
            "no judge gave a usable judgement on a labelled item; try ragstone judge check"
        )
    report.show(measurement, language=language)
    for path in flags["output"]:
        report.write(measurement, path, language=language)
        note("wrote {path}", path=path)
    if flags["save_scale"]:
        save_scales(store, measurement.scales)
        note("stored {scales}", scales=Count(len(measurement.scales), "scale"))
    return 0 if any(judge.verdict == "fit" for judge in measurement.judges) else 1


def _open_labels(flags: Mapping[str, Any], store: Store) -> LabelledSet:
    where = flags["where"]
    if Path(where).suffix and Path(where).is_file():
        return open_labelled_file(where, flags["target"], flags["data"])
    return open_labelled_run(store.run(where), flags["target"])


def _build_settings(spec: str, flags: Mapping[str, Any]) -> dict[str, Any]:
    given = {
        name: flags[name]
        for name in ("base_url", "max_usd", "max_calls")
        if flags[name] is not None
    }
    return {"model": spec, **given}
