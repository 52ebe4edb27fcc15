"""`ragstone monitor compare`: a window against the one before it, or one slice against another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from ragstone.cli.actions.compare import present_comparison
from ragstone.cli.actions.messages import Count, note
from ragstone.cli.actions.monitor_plan import open_archive
from ragstone.cli.actions.progress import show_waiting
from ragstone.cli.actions.shared import choose_language
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
