"""`ragstone monitor compare`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from ragstone.cli.compare import present_comparison
from ragstone.cli.messages import Count, note
from ragstone.cli.monitor.archive import open_archive
from ragstone.cli.monitor.options import language_option, zone_option
from ragstone.cli.options import (
    check_outputs,
    correction_option,
    details_option,
    output_option,
    primary_option,
    store_option,
)
from ragstone.cli.progress import show_waiting
from ragstone.cli.shared import choose_language
from ragstone.config.durations import parse_duration
from ragstone.errors import RagstoneError
from ragstone.experiments.compare import compare
from ragstone.monitor.interactions import now_micros
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.monitor.windows.window_sample import (
    MAX_COMPARED,
    ComparedSide,
    Slice,
    WindowSample,
    choose_sides,
    name_span,
)


@click.command("compare")
@click.option("--window", default="7d", show_default=True, metavar="LENGTH", help="How long each side is: 24h, 7d.")  # fmt: skip
@click.option("--until", metavar="TIME", help="Where the window ends: 2026-05-01, 2026-05-01T12:00:00Z. Default: now.")  # fmt: skip
@click.option("--slice", "slices", multiple=True, metavar="FIELD=VALUE", help="One: this slice against the window before. Two: the second slice against the first, in the same window.")  # fmt: skip
@click.option("--group", metavar="FIELD", help="Meta field whose interactions are not independent: session, user.")  # fmt: skip
@click.option("--margin", type=click.FloatRange(min=0, min_open=True), default=0.02, show_default=True, help="Differences up to this share of a metric's range do not matter.")  # fmt: skip
@primary_option
@correction_option
@click.option("--plain-intervals", is_flag=True, help="Show the 95% interval of each difference alone; verdicts stay corrected.")  # fmt: skip
@click.option("--fail-on-regression", is_flag=True, help="Exit with 1 when the window or slice is worse, with 3 when a verdict is withheld.")  # fmt: skip
@zone_option("Time zone of dates")
@output_option("comparison")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@details_option
@language_option("Language of the report")
@click.option("--quiet", "-q", is_flag=True, help="Print no tables.")
@store_option
def command(slices: tuple[str, ...], group: str | None, **flags: Any) -> int:
    """Compare a window with the one before it, or one slice with another.

    The two are independent sets of interactions: those drawn at random and judged. Verdicts and words are those of
    `ragstone compare`."""
    check_outputs("comparison", flags["output"])
    return compare_windows(parse_slices(slices), group, flags)


def compare_windows(slices: Sequence[Slice], group: str | None, flags: Mapping[str, Any]) -> int:
    """Compare two independent sets of judged interactions and return the exit code.

    `flags` are the options that `compare` of cli/monitor.py declares, by parameter name."""
    archive = open_archive(flags["store"])
    zone = flags["zone"]
    end = now_micros() if flags["until"] is None else parse_local_time(flags["until"], zone)
    sides = choose_sides(slices, end, parse_duration(flags["window"]), zone)
    with show_waiting("comparing", quiet=flags["quiet"]):
        samples = [side.read_sample(archive, group) for side in sides]
        for sample, side in zip(samples, sides, strict=True):
            _check_sample(sample, side, zone)
        result = compare(
            samples,
            primary=flags["primary"],
            margin=flags["margin"],
            correction=flags["correction"],
            unpaired=True,
            anyway=True,
        )
    present_comparison(result, flags, choose_language(flags["language"]))
    return result.comparison.exit_code if flags["fail_on_regression"] else 0


def parse_slices(texts: Sequence[str]) -> list[Slice]:
    """The slices that `--slice` names, two at most."""
    slices = []
    for text in texts:
        field, sign, value = text.partition("=")
        if not (sign and field):
            raise click.UsageError(f"--slice is {text!r}; write FIELD=VALUE")
        slices.append((field, value))
    if len(slices) > 2 or len(set(slices)) < len(slices):
        raise click.UsageError("give one --slice to compare it with the window before, or two different ones")  # fmt: skip
    return slices


def _check_sample(sample: WindowSample, side: ComparedSide, zone: str) -> None:
    if not len(sample):
        raise RagstoneError(
            f"no interaction of {sample.info.name!r} was drawn and judged from "
            f"{name_span(side.since, side.until, zone)}; `ragstone monitor score` judges what is queued"
        )
    if len(sample) >= MAX_COMPARED:
        most = Count(MAX_COMPARED, "interaction")
        note("{name}: only the newest {most} are compared", name=sample.info.name, most=most)
