"""`ragstone eval --dry-run`: what a run would ask, take and cost, seen by walking a few samples through it.

The embedded judge answers instead of the real one, so that the follow-up questions of a metric are counted too;
nothing is paid and nothing is written."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from ragstone import prompts
from ragstone.asks import KINDS, Answered, Ask, canonical
from ragstone.asks.kind import build_spec
from ragstone.cli.dry_system import answer_for_free
from ragstone.cli.messages import format_count
from ragstone.cli.progress import format_duration
from ragstone.config import Plan, reveal
from ragstone.config.metric_specs import resolve_metrics
from ragstone.data import Dataset
from ragstone.engine.sample_scoring import score_sample
from ragstone.experiments.cascade_bounds import resolve_bounds
from ragstone.experiments.choose import choose_metrics, default_metrics, first_samples
from ragstone.experiments.execute import open_dataset
from ragstone.judges import Judge, sends_jobs
from ragstone.judges.cascade import Cascade, is_for_first
from ragstone.judges.classifier import ClassifierJudge
from ragstone.judges.factory import make_judge
from ragstone.judges.offline import OfflineJudge
from ragstone.judges.plain import PlainJudge
from ragstone.judges.prices import CHARACTERS_PER_TOKEN, compute_usd, find_price
from ragstone.metrics.scoring import build_starter
from ragstone.registry import Metric
from ragstone.report.translator import load_translator
from ragstone.store import set_language
from ragstone.types import Sample

PROBED_SAMPLES = 20
"""Samples that the estimate is made from."""

SECONDS_PER_CALL = 2.0
"""What a call to a remote judge is taken to last."""


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What one metric, or all together, would take for the whole data set."""

    calls: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    usd: float | None = 0.0
    """None when nobody knows the model's price."""
    seconds: float = 0.0

    @classmethod
    def from_counter(cls, counter: AskCounter, scale: float, at_once: int) -> RunEstimate:
        """What was counted on a part of the data, scaled to all of it, with `at_once` calls in flight."""
        calls = counter.calls * scale
        # Rounds of calls, each taking as long as one: the judge answers that many at a time.
        seconds = calls * SECONDS_PER_CALL / max(1, at_once)
        usd = None if counter.usd is None else counter.usd * scale
        return cls(calls, counter.input_tokens * scale, counter.output_tokens * scale, usd, seconds)


class AskCounter:
    """Takes the place of the engine's broker (it is an AskAnswerer): answers with the embedded judge and counts each question once."""

    def __init__(
        self, stand_in: Judge, judge: Judge, language: str | None, prompts: str | None
    ) -> None:
        self.stand_in = stand_in
        self.judge = judge
        self.language = language
        self.prompts = prompts
        self.seen: set[str] = set()
        self.calls = 0
        self.input_tokens = 0.0
        self.output_tokens = 0.0
        self.usd: float | None = 0.0

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """The embedded judge's replies."""
        answered = await self.stand_in.answer(asks) if asks else []
        for ask, reply in zip(asks, answered, strict=True):
            # The engine caches replies by the same key: a question that metrics share
            # is paid for once. Embeddings are no calls of the judge.
            if ask.kind != "embed" and ask.key not in self.seen:
                self.seen.add(ask.key)
                for member, question in _list_questions(self.judge, ask, reply):
                    await self._count_calls(member, question, reply)
        return answered

    async def _count_calls(self, member: Any, ask: Ask, reply: Any) -> None:
        if isinstance(member, PlainJudge) and not KINDS[ask.kind].is_text:
            requests = await member.preview_requests(ask)
            calls = len(requests)
            characters = sum(len(r.system) + len(r.prefix) + len(r.question) for r in requests)
            # A small judge writes one token per question.
            written = float(calls)
        elif isinstance(member, ClassifierJudge):
            pairs = await member.preview_pairs(ask)
            calls = len(pairs)
            characters = sum(len(text) for pair in pairs for text in (*pair.passages, pair.claim))
            written = 0.0
        else:
            spec = build_spec(ask)
            prompt = prompts.load(spec.prompt, ask.language or self.language, self.prompts)
            if not spec.items:  # settled without a call, as the claims of a single sentence
                return
            calls = 1
            characters = sum(map(len, (prompt.text, canonical(ask.schema), canonical(ask.values))))
            written = len(canonical(getattr(reply, "value", ""))) / CHARACTERS_PER_TOKEN
        self.calls += calls
        self.input_tokens += characters / CHARACTERS_PER_TOKEN
        self.output_tokens += written
        self.usd = _add_known(
            self.usd, _estimate_usd(member, characters / CHARACTERS_PER_TOKEN, written)
        )


def _list_questions(judge: Any, ask: Ask, reply: Answered) -> list[tuple[Any, Ask]]:
    """Who would be asked what: every juror; of a cascade the first judge, and the second what that is unsure of.

    `reply` is the embedded judge's, whose chances stand for those of another first judge."""
    if isinstance(judge, Cascade):
        put = [(judge.first, ask)] if is_for_first(ask) else []
        second = judge.choose_items(ask, reply if put else None).ask
        if second is not None:
            put.append((judge.second, second))
        # beside a judge that is paid the embedded one costs nothing
        return [
            pair
            for member, question in put
            if not isinstance(member, OfflineJudge)
            for pair in _list_questions(member, question, reply)
        ]
    members = getattr(judge, "members", (judge,))
    # Claims and other texts are written by the first juror alone; there is no opinion to vote on.
    return [(m, ask) for m in (members if KINDS[ask.kind].vote else members[:1])]


def _choose_metrics(plan: Plan, dataset: Dataset, samples: Sequence[Sample]) -> list[Metric]:
    named = resolve_metrics(plan.metrics) if plan.metrics else None
    # The data has no answers yet: what fits is decided by the samples as the system would fill
    # them.
    if named is None and plan.system is not None:
        return default_metrics(samples, judge=plan.judge, language=plan.language)
    return choose_metrics(named, dataset, judge=plan.judge, language=plan.language)


def show_estimate(plan: Plan) -> None:
    """Print the estimate of a plan."""
    dataset = open_dataset(plan)
    samples = first_samples(dataset, PROBED_SAMPLES)
    lines: Sequence[str] = ()
    if plan.system is not None:
        samples, lines = answer_for_free(dataset, samples, plan.system)
    metrics = _choose_metrics(plan, dataset, samples)
    total = dataset.check()
    click.echo(f"{format_count(total, 'sample')} of {dataset.source}, read as {dataset.format}")
    for line in lines:
        click.echo(line)
    judged = [metric for metric in metrics if metric.judged]
    rows: list[tuple[str, RunEstimate]] = [(m.name, RunEstimate()) for m in metrics if not m.judged]
    missing_keys: list[str] = []
    if judged:
        plan = replace(plan, judge=resolve_bounds(plan.judge, reveal(plan.store), plan.language))
        judge = make_judge(plan.judge_settings(), missing_keys=missing_keys)
        click.echo(f"judge: {judge.name}")
        dry_run = _DryRun(plan, samples, total, judge, make_judge("offline"))
        alone = [dry_run.estimate([metric]) for metric in judged]
        rows += [(metric.name, estimate) for metric, estimate in zip(judged, alone, strict=True)]
        if len(judged) > 1:
            rows.append(("together", dry_run.estimate_together(judged, alone)))
        if sends_jobs(judge):
            click.echo(
                "Questions are sent as jobs: at half the price, and answered within 24 hours."
            )
    print_estimates(rows)
    if len(judged) > 1:
        click.echo("Metrics share questions, so together they cost less than one by one.")
    click.echo("Nothing was asked, written or paid.")
    for sentence in dict.fromkeys(missing_keys):
        click.echo(f"Before the run: {sentence}")


def show_sample_estimate(
    samples: Sequence[Sample],
    metric: Metric,
    judge: Judge,
    concurrency: int | None,
    missing_keys: Sequence[str] = (),
) -> None:
    """Print what a metric of some samples would ask and cost, outside of a plan."""
    click.echo(f"judge: {judge.name}")
    if samples and not judge.local:  # the embedded judge makes no calls
        counter = AskCounter(make_judge("offline"), judge, None, None)
        # from all parts of the samples, which may differ
        probed = samples[:: max(1, len(samples) // PROBED_SAMPLES)]
        starts = {metric.name: build_starter(metric)}

        async def count() -> None:
            for sample in probed:
                await score_sample(sample, {metric.name: metric}, starts, counter)

        asyncio.run(count())
        scale, at_once = len(samples) / len(probed), concurrency or judge.concurrency
        print_estimates([(metric.name, RunEstimate.from_counter(counter, scale, at_once))])
    click.echo("Nothing was asked, written or paid.")
    for sentence in dict.fromkeys(missing_keys):
        click.echo(f"Before the run: {sentence}")


@dataclass(frozen=True, slots=True)
class _DryRun:
    """A plan and a few of its samples, answered by a stand-in: the embedded judge."""

    plan: Plan
    samples: Sequence[Sample]
    total: int
    judge: Judge
    stand_in: Judge

    def estimate(self, metrics: Sequence[Metric]) -> RunEstimate:
        """The probed samples' questions, scaled to the data set."""
        counter = self._build_counter()
        # `local` means that replies are cheap to make again: only the embedded judge's are. Models are timed like a server.
        if self.judge.local:  # what is loaded once must not be counted for every sample
            asyncio.run(self._score_samples(metrics, self._build_counter(), self.samples[:1]))
        start = time.perf_counter()
        asyncio.run(self._score_samples(metrics, counter, self.samples))
        elapsed_seconds = time.perf_counter() - start
        scale = self.total / len(self.samples)
        if self.judge.local:
            return RunEstimate(seconds=elapsed_seconds * scale)
        return RunEstimate.from_counter(
            counter, scale, self.plan.concurrency or self.judge.concurrency
        )

    def _build_counter(self) -> AskCounter:
        return AskCounter(self.stand_in, self.judge, self.plan.language, self.plan.prompts)

    def estimate_together(
        self, metrics: Sequence[Metric], alone: Sequence[RunEstimate]
    ) -> RunEstimate:
        """All metrics at once. A local judge remembers replies of the single estimates, so the time is at least theirs."""
        estimate = self.estimate(metrics)
        return replace(
            estimate, seconds=max(estimate.seconds, *(single.seconds for single in alone))
        )

    async def _score_samples(
        self, metrics: Sequence[Metric], counter: AskCounter, samples: Sequence[Sample]
    ) -> None:
        named = {metric.name: metric for metric in metrics}
        starts = {metric.name: build_starter(metric) for metric in metrics}
        for sample in samples:
            asked = set_language(sample, self.plan.language)
            await score_sample(asked, named, starts, counter)


def _estimate_usd(member: Any, tokens_in: float, tokens_out: float) -> float | None:
    """What a call costs with this judge; None when nobody knows."""
    model = getattr(member, "model", None)
    # A self-hosted model has no price; what it costs is time.
    if member.local or member.name.startswith(("gguf:", "hf:", "nli:")):
        return 0.0
    price = getattr(model, "price", None) or find_price(member.name.rpartition(":")[2])
    return compute_usd(price, tokens_in, tokens_out) if price else None


def _add_known(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def print_estimates(rows: Sequence[tuple[str, RunEstimate]]) -> None:
    """Print a table with a row for each metric."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 3, 0, 0))
    table.add_column("metric")
    for heading in ("calls", "tokens in", "tokens out", "cost", "time"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, estimate in rows:
        table.add_row(
            name,
            f"{estimate.calls:,.0f}",
            f"{estimate.input_tokens:,.0f}",
            f"{estimate.output_tokens:,.0f}",
            "?" if estimate.usd is None else load_translator("en").money(estimate.usd),
            format_duration(estimate.seconds),
        )
    Console(highlight=False).print(table)
