"""`ragstone judge measure`: measure how far judges agree with labels of people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragstone import report
from ragstone.cli.actions.messages import Count, note
from ragstone.cli.actions.progress import show_waiting
from ragstone.cli.actions.shared import check_language, choose_language
from ragstone.cli.options import check_outputs
from ragstone.errors import RagstoneError
from ragstone.experiments.measure import (
    LabelledSet,
    measure_judges,
    open_labelled_file,
    open_labelled_run,
)
from ragstone.store import Store, save_scales


def measure_on_labels(flags: Mapping[str, Any]) -> int:
    """Measure the judges, show and write the report; returns the exit code, 1 when none is fit to gate on.

    `flags` are the options that `measure` of cli/judge.py declares, by parameter name."""
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
