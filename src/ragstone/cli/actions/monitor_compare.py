"""`ragstone monitor compare`: a window against the one before it, or one slice against another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from ragstone.cli.actions.compare import present_comparison
from ragstone.cli.actions.messages import format_count, note
from ragstone.cli.actions.monitor_plan import open_archive
from ragstone.cli.actions.progress import show_waiting
from ragstone.cli.actions.shared import choose_language
from ragstone.config.durations import parse_duration
from ragstone.errors import RagstoneError
from ragstone.experiments.compare import compare
from ragstone.monitor.interactions import from_micros, now_micros
from ragstone.monitor.windows.calendars import get_time_zone, parse_local_time
from ragstone.monitor.windows.window_sample import MAX_COMPARED, WindowSample

Slice = tuple[str, str]
"""A meta field and its value."""


def compare_windows(slices: Sequence[Slice], group: str | None, flags: Mapping[str, Any]) -> int:
    """Compare two independent sets of judged interactions and return the exit code.

    `flags` are the options that `compare` of cli/monitor.py declares, by parameter name."""
    archive = open_archive(flags["store"])
    zone = flags["zone"]
    end = now_micros() if flags["until"] is None else parse_local_time(flags["until"], zone)
    length = parse_duration(flags["window"])
    spans = [(end - 2 * length, end - length), (end - length, end)]
    if len(slices) == 2:  # both in the same window
        spans = [spans[1], spans[1]]
        names = [f"{field}={value}" for field, value in slices]
    else:
        names = [_name_span(since, until, zone) for since, until in spans]
    # one slice is compared with itself in the window before
    chosen = [*slices, *slices][:2] if slices else [None, None]
    with show_waiting("comparing", quiet=flags["quiet"]):
        samples = [
            WindowSample(archive, since, until, name, where=where, group=group)
            for (since, until), name, where in zip(spans, names, chosen, strict=True)
        ]
        for sample, (since, until) in zip(samples, spans, strict=True):
            _check_sample(sample, since, until, zone)
        result = compare(
            samples,
            primary=flags["primary"],
            margin=flags["margin"],
            correction=flags["correction"],
            unpaired=True,
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


def _check_sample(sample: WindowSample, since: int, until: int, zone: str) -> None:
    if not len(sample):
        raise RagstoneError(
            f"no interaction of {sample.info.name!r} was drawn and judged from "
            f"{_name_span(since, until, zone)}; `ragstone monitor score` judges what is queued"
        )
    if len(sample) >= MAX_COMPARED:
        most = format_count(MAX_COMPARED, "interaction")
        note(f"{sample.info.name}: only the newest {most} are compared")


def _name_span(since: int, until: int, zone: str) -> str:
    """`2026-05-01 to 2026-05-08`, with the time of day unless both are midnight."""
    time_zone = get_time_zone(zone)
    times = [from_micros(at).astimezone(time_zone) for at in (since, until)]
    is_whole = all(not (time.hour or time.minute or time.second) for time in times)
    return " to ".join(
        time.strftime("%Y-%m-%d" if is_whole else "%Y-%m-%d %H:%M") for time in times
    )
