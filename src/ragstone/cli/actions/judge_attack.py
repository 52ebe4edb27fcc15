"""`ragstone judge attack`: put the attacks of the catalogue into samples and show which verdicts change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ragstone import report
from ragstone.cli.actions.dry_run import show_sample_estimate
from ragstone.cli.actions.messages import format_count, note
from ragstone.cli.actions.preferences import make_flagged_judge
from ragstone.cli.actions.progress import Bar
from ragstone.cli.actions.shared import check_language, choose_language
from ragstone.cli.options import check_outputs
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


def run_attack(flags: Mapping[str, Any]) -> int:
    """Attack the judge, show and write the report; returns the exit code.

    `flags` are the options that `attack` of cli/judge.py declares, by parameter name."""
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
