"""`ragstone compare --judge`: have a judge see the answers of runs side by side, or say what that would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from ragstone.analysis.preferences import attach_preferences
from ragstone.cli.actions.dry_run import show_sample_estimate
from ragstone.cli.actions.messages import format_count
from ragstone.cli.actions.progress import Bar
from ragstone.experiments.compare import ComparisonResult
from ragstone.experiments.preferences import (
    PREFERENCE_METRIC,
    compare_answers,
    list_pairs,
    pair_samples,
)
from ragstone.judges import Judge
from ragstone.judges.factory import make_judge
from ragstone.store import StoredRun

JUDGE_FLAGS = ("base_url", "small", "concurrency", "max_usd", "max_calls", "dry_run")


def check_judge_flags(flags: Mapping[str, Any]) -> None:
    """Refuse flags of a judge without one, and a judge for sets that share no question."""
    given = next((name for name in JUDGE_FLAGS if flags[name]), None)
    if flags["judge"] is None and given is not None:
        raise click.UsageError(f"--{given.replace('_', '-')} needs a judge: --judge openai:MODEL")
    if flags["judge"] is not None and flags["unpaired"]:
        raise click.UsageError(
            "--judge compares answers to the same questions; leave out --unpaired"
        )


def add_preferences(
    result: ComparisonResult, runs: Sequence[StoredRun], baseline: int, flags: Mapping[str, Any]
) -> ComparisonResult:
    """The comparison with what the judge says of each pair of answers."""
    with Bar(quiet=flags["quiet"]) as bar:
        study = compare_answers(
            runs, make_flagged_judge(flags["judge"], flags), baseline=baseline, margin=flags["margin"],
            correction=flags["correction"], floor=flags["floor"], effect=flags["effect"],
            concurrency=flags["concurrency"], watch=bar,
        )  # fmt: skip
    comparison = attach_preferences(result.comparison, study)
    return replace(result, comparison=comparison, preferences=study)


def show_preference_estimate(
    runs: Sequence[StoredRun], baseline: int, flags: Mapping[str, Any]
) -> None:
    """Print calls, tokens, money and time of comparing the answers."""
    missing_keys: list[str] = []
    judge = make_flagged_judge(flags["judge"], flags, missing_keys)
    samples = [sample for pair in list_pairs(runs, baseline) for sample in pair_samples(pair)]
    click.echo(f"{format_count(len(samples), 'pair')} of answers, each shown in both orders")
    show_sample_estimate(samples, PREFERENCE_METRIC, judge, flags["concurrency"], missing_keys)


def make_flagged_judge(
    spec: str, flags: Mapping[str, Any], missing_keys: list[str] | None = None
) -> Judge:
    """The judge that flags name: its address, limits and route."""
    given = {
        name: flags[name]
        for name in ("base_url", "max_usd", "max_calls", "concurrency")
        if flags[name] is not None
    }
    if flags["small"]:
        given["small"] = True
    return make_judge({"model": spec, **given}, missing_keys=missing_keys)
