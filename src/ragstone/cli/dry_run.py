"""`ragstone eval --dry-run`: what a run would ask, take and cost, seen by walking a few samples through it.

The embedded judge answers in place of the real one, so that every further question a metric would put is put too;
nothing is paid and nothing is written."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import click

from ragstone.cli.options import counted
from ragstone.cli.progress import duration
from ragstone.config import revealed

if TYPE_CHECKING:
    from ragstone.asks import Answered, Ask
    from ragstone.config import Plan
    from ragstone.data import Reading
    from ragstone.engine import Desk
    from ragstone.judges import Judge
    from ragstone.registry import Metric
    from ragstone.types import Sample

PROBED = 20
"""Samples that are walked through."""

CHARACTERS_PER_TOKEN = 3.5
SECONDS_PER_CALL = 2.0
"""What a call to a distant judge is taken to last."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one metric, or all together, would take for the whole data set."""

    calls: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    usd: float | None = 0.0
    """None when nobody knows the model's price."""
    seconds: float = 0.0


class Counter:
    """Stands where the engine's desk stands: answers with the embedded judge and counts each question once."""

    def __init__(self, judge: Judge, language: str | None, prompts: str | None) -> None:
        self.judge = judge
        self.language = language
        self.prompts = prompts
        self.seen: set[str] = set()
        self.input = 0
        self.output = 0

    async def replies(self, asks: Sequence[Ask]) -> list[Answered]:
        """The embedded judge's replies."""
        answered = await self.judge.answer(asks) if asks else []
        for ask, reply in zip(asks, answered, strict=True):
            if ask.kind != "embed" and ask.key not in self.seen:
                self.seen.add(ask.key)
                self._count(ask, reply)
        return answered

    def _count(self, ask: Ask, reply: Any) -> None:
        from ragstone import prompts
        from ragstone.asks import canonical
        from ragstone.judges.forms import form_of

        language = ask.language or self.language
        prompt = prompts.load(form_of(ask).prompt, language, self.prompts)
        self.input += len(prompt.text) + len(canonical(ask.values)) + len(canonical(ask.schema))
        self.output += len(canonical(getattr(reply, "value", "")))


def show(plan: Plan, reading: Reading, under_test: Mapping[str, Any] | None = None) -> None:
    """Print the estimate of a plan."""
    from ragstone.run import chosen_metrics, default_metrics, first_samples

    samples = first_samples(reading, PROBED)
    lines: Sequence[str] = ()
    if under_test:
        from ragstone.cli.dry_system import answered_in_thought

        samples, lines = answered_in_thought(reading, samples, under_test, revealed(plan.store))
    known = under_test and not plan.metrics
    metrics = default_metrics(samples) if known else chosen_metrics(plan.metrics or None, reading)
    total = reading.check()
    click.echo(f"{counted(total, 'sample')} of {reading.source}, read as {reading.format}")
    for line in lines:
        click.echo(line)
    judged = [metric for metric in metrics if metric.judged]
    rows: list[tuple[str, Estimate]] = [(m.name, Estimate()) for m in metrics if not m.judged]
    if judged:
        from ragstone.cli.flags import judge_settings
        from ragstone.judges.choose import make_judge

        judge = make_judge(judge_settings(plan))
        click.echo(f"judge: {judge.name}")
        probe = _Probe(plan, samples, total, judge, make_judge("offline"))
        alone = [probe.estimate([metric]) for metric in judged]
        rows += [(metric.name, one) for metric, one in zip(judged, alone, strict=True)]
        if len(judged) > 1:
            rows.append(("together", probe.together(judged, alone)))
    _print(rows)
    if len(judged) > 1:
        click.echo("Metrics share questions, so together they cost less than one by one.")
    click.echo("Nothing was asked, written or paid.")


@dataclass(frozen=True, slots=True)
class _Probe:
    plan: Plan
    samples: Sequence[Sample]
    total: int
    judge: Judge
    driver: Judge

    def estimate(self, metrics: Sequence[Metric]) -> Estimate:
        """The probed samples' questions, scaled to the data set."""
        counter = Counter(self.driver, self.plan.language, self.plan.prompts)
        if self.judge.local:  # what is loaded once must not be counted for every sample
            warming = Counter(self.driver, self.plan.language, self.plan.prompts)
            asyncio.run(self._walk(metrics, warming, self.samples[:1]))
        began = time.perf_counter()
        asyncio.run(self._walk(metrics, counter, self.samples))
        taken = time.perf_counter() - began
        scale = self.total / len(self.samples)
        calls = len(counter.seen) * scale
        if self.judge.local:
            return Estimate(seconds=taken * scale)
        tokens_in = counter.input / CHARACTERS_PER_TOKEN * scale
        tokens_out = counter.output / CHARACTERS_PER_TOKEN * scale
        at_once = self.plan.concurrency or self.judge.concurrency
        seconds = calls * SECONDS_PER_CALL / max(1, at_once)
        return Estimate(calls, tokens_in, tokens_out, self._usd(tokens_in, tokens_out), seconds)

    def together(self, metrics: Sequence[Metric], alone: Sequence[Estimate]) -> Estimate:
        """All metrics at once; what a local judge still remembers from before makes it look too quick."""
        found = self.estimate(metrics)
        return replace(found, seconds=max(found.seconds, *(one.seconds for one in alone)))

    async def _walk(
        self, metrics: Sequence[Metric], counter: Counter, samples: Sequence[Sample]
    ) -> None:
        from ragstone.engine.rounds import score_sample
        from ragstone.engine.scoring import starter
        from ragstone.store import with_language

        named = {metric.name: metric for metric in metrics}
        starts = {metric.name: starter(metric) for metric in metrics}
        for sample in samples:
            asked = with_language(sample, self.plan.language)
            await score_sample(asked, named, starts, cast("Desk", counter))

    def _usd(self, tokens_in: float, tokens_out: float) -> float | None:
        from ragstone.judges.prices import price_of

        given = self.plan.judge.get("prices") if isinstance(self.plan.judge, dict) else None
        price = price_of(self.judge.name.rpartition(":")[2], given)
        return (tokens_in * price[0] + tokens_out * price[1]) / 1e6 if price else None


def _print(rows: Sequence[tuple[str, Estimate]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    table.add_column("metric")
    for heading in ("calls", "tokens in", "tokens out", "USD", "time"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, estimate in rows:
        table.add_row(
            name,
            f"{estimate.calls:,.0f}",
            f"{estimate.input_tokens:,.0f}",
            f"{estimate.output_tokens:,.0f}",
            "?" if estimate.usd is None else f"{estimate.usd:,.2f}",
            duration(estimate.seconds),
        )
    Console(highlight=False).print(table)
