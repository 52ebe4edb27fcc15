"""Options of `ragstone compare`: which run is better, and is that more than chance?"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from ragstone import report
from ragstone.analysis.comparison import attach_corrections
from ragstone.analysis.preferences import attach_preferences
from ragstone.cli.dry_run import show_sample_estimate
from ragstone.cli.label.import_ import add_label_file
from ragstone.cli.messages import format_count, note
from ragstone.cli.options import (
    check_outputs,
    correction_option,
    details_option,
    labels_option,
    output_option,
    primary_option,
    store_option,
)
from ragstone.cli.progress import Bar, show_waiting
from ragstone.cli.shared import choose_language
from ragstone.experiments.compare import ComparisonResult, compare
from ragstone.experiments.preferences import (
    PREFERENCE_METRIC,
    compare_answers,
    list_pairs,
    pair_samples,
)
from ragstone.experiments.tune import TuningResult
from ragstone.judges import Judge
from ragstone.judges.factory import make_judge
from ragstone.labels import correct_difference
from ragstone.report import markdown
from ragstone.report.comparison import github
from ragstone.store import Store, StoredRun


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "--baseline", metavar="RUN", help="Compare the others with this one [default: the first]."
)
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="METRIC",
    help="Only these metrics. May be repeated or comma-separated.",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True),
    default=0.02,
    show_default=True,
    help="Differences up to this share of a metric's range do not matter.",
)
@click.option(
    "--effect",
    type=click.FloatRange(min=0, min_open=True),
    help="Say how many questions a difference of this size needs [default: the margin].",
)
@primary_option
@correction_option
@click.option(
    "--plain-intervals",
    is_flag=True,
    help="Show the 95% interval of each difference alone; verdicts stay corrected.",
)
@click.option(
    "--unpaired",
    is_flag=True,
    help="The runs are sets of different samples: two weeks, two slices of users.",
)
@click.option(
    "--anyway",
    is_flag=True,
    help="Compare runs in which the values of claim metrics mean different things.",
)
@click.option(
    "--floor",
    type=click.FloatRange(0, 1),
    default=0.95,
    show_default=True,
    help="Share of the pairs that must be scored on both sides for a verdict.",
)
@click.option(
    "--fail-on-regression",
    is_flag=True,
    help="Exit with 1 when a run is worse than the baseline, with 3 when a verdict is withheld.",
)
@click.option(
    "--samples",
    type=click.IntRange(0, 500),
    default=20,
    show_default=True,
    help="Samples that moved most to show, each way.",
)
@click.option("--judge", metavar="JUDGE", help="Also ask a judge which answer is better, in both orders: openai:MODEL, local, …")  # fmt: skip
@click.option("--base-url", metavar="URL", help="Where the judge's server listens.")
@click.option("--small", is_flag=True, help="The judge is a small model: one token a question.")
@click.option("-j", "--concurrency", type=click.IntRange(min=1), metavar="N", help="Concurrent requests to the judge.")  # fmt: skip
@click.option("--max-usd", type=click.FloatRange(min=0), metavar="X", help="Stop asking the judge before this much is spent.")  # fmt: skip
@click.option("--max-calls", type=click.IntRange(min=1), metavar="N", help="Stop asking the judge after N calls.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show what the judge would be asked, and stop.")
@output_option("comparison")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@details_option
@click.option("--lang", "language", metavar="LANG", help="Language of the report: en, es.")
@click.option("--quiet", "-q", is_flag=True, help="Print no tables.")
@labels_option
@store_option
def command(runs: tuple[str, ...], **flags: Any) -> int:
    """Compare runs: which is better, and is that more than chance?

    A RUN is named by its id, the start of its id, its name, or `last`. Samples are matched by id; with --unpaired they
    are not. With --judge a judge also sees the answers side by side; more than two runs are ranked. In GitHub Actions the result also becomes the step's summary, with an annotation for each regression."""  # fmt: skip

    return compare_runs(runs, flags)


def compare_runs(names: Sequence[str], flags: Mapping[str, Any]) -> int:
    """Compare the named runs and return the exit code.

    `flags` are the options that cli/compare.py declares, by parameter name."""
    check_outputs("comparison", flags["output"])
    check_judge_flags(flags)
    runs, baseline_index = _open_runs(names, flags["baseline"], flags["store"])
    add_label_file(flags["labels"], runs)
    if flags["dry_run"]:
        show_preference_estimate(runs, baseline_index, flags)
        return 0
    metrics = [name.strip() for text in flags["metrics"] for name in text.split(",")]
    with show_waiting("comparing", quiet=flags["quiet"]):
        result = compare(
            runs,
            baseline=baseline_index,
            metrics=[name for name in metrics if name] or None,
            primary=flags["primary"],
            margin=flags["margin"],
            effect=flags["effect"],
            correction=flags["correction"],
            floor=flags["floor"],
            samples=flags["samples"],
            unpaired=flags["unpaired"],
            anyway=flags["anyway"],
        )
    if not flags["unpaired"]:
        base = runs[baseline_index]
        corrections = {run.id: correct_difference(base, run) for run in runs if run is not base}
        comparison = attach_corrections(result.comparison, corrections)
        result = replace(result, comparison=comparison)
    if flags["judge"] is not None:
        result = add_preferences(result, runs, baseline_index, flags)
    language = choose_language(flags["language"], runs[baseline_index].info.plan.language)
    present_comparison(result, flags, language)
    return result.comparison.exit_code if flags["fail_on_regression"] else 0


def present_comparison(
    result: ComparisonResult | TuningResult, flags: Mapping[str, Any], language: str
) -> None:
    """Show the comparison, write its files, and report to GitHub Actions when it runs there.

    Every command that compares passes its own flags: all have `output` and `quiet`; `details`, `as_json`,
    `plain_intervals` and `fail_on_regression` exist only in some."""
    options: dict[str, Any] = {"plain_intervals": True} if flags.get("plain_intervals") else {}
    if flags.get("as_json"):
        click.echo(json.dumps(result.to_dict(), ensure_ascii=False, indent=2, allow_nan=False))
    elif not flags["quiet"]:
        report.show(result, language=language, details=bool(flags.get("details")), **options)
    for path in flags["output"]:
        report.write(result, path, language=language, **options)
        note("wrote {path}", path=path, quiet=flags["quiet"])
    # Set by GitHub for each step. Workflow commands are lines of the log, so they are printed even with -q; JSON on
    # stdout must stay JSON, and the runner reads stderr too.
    summary_file = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary_file and result.comparison is not None:
        page = report.open_page(result, language, **options)
        github.append_summary(summary_file, markdown.render(page))
        is_error = bool(flags.get("fail_on_regression"))
        for line in github.build_commands(result.comparison, language, error=is_error):
            click.echo(line, err=bool(flags.get("as_json")))


def _open_runs(
    names: Sequence[str], baseline: str | None, store_path: str | None
) -> tuple[list[StoredRun], int]:
    """The runs, and the index of the baseline among them."""
    store = Store.open(store_path)
    runs = [store.run(name) for name in names]
    index = 0
    if baseline is not None:
        base = store.run(baseline)
        ids = [run.id for run in runs]
        if base.id not in ids:
            # A baseline that is not among the runs joins them; one that is keeps its place.
            runs.insert(0, base)
        else:
            index = ids.index(base.id)
    ids = [run.id for run in runs]
    repeated = next((run for run in runs if ids.count(run.id) > 1), None)
    if repeated is not None:
        raise click.UsageError(
            f"run {repeated.id} ({repeated.info.name}) is named twice; name each run once"
        )
    if len(runs) < 2:
        raise click.UsageError("a comparison needs at least two runs; name another")
    return runs, index


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
