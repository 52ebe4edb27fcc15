"""`ragstone monitor score`"""

from __future__ import annotations

import asyncio
import os
import threading

import click

from ragstone.cli.messages import Count, note
from ragstone.cli.monitor.archive import load_plan
from ragstone.cli.monitor.options import config_option
from ragstone.cli.options import (
    store_option,
)
from ragstone.config import reveal
from ragstone.config.durations import parse_duration
from ragstone.experiments.cascade_bounds import resolve_bounds
from ragstone.judges.factory import make_judge
from ragstone.judges.limits import Budget
from ragstone.metrics import resolve
from ragstone.monitor import Archive
from ragstone.monitor.interactions import now_micros
from ragstone.monitor.scoring.queue import requeue_unscored
from ragstone.monitor.scoring.sampling import SamplingPolicy
from ragstone.monitor.scoring.scorer import DEFAULT_METRICS, Scorer, ScoringProgress
from ragstone.store import Store


@click.command("score")
@config_option
@click.option("--since", metavar="AGE", help="Also consider interactions of this age that were not sampled before: 7d.")  # fmt: skip
@click.option("--rate", type=click.FloatRange(0, 1), help="The share to judge, in the place of the config's.")  # fmt: skip
@click.option("--follow", is_flag=True, help="Continue until standard input ends.")
@store_option
def command(
    config: str | None, since: str | None, rate: float | None, follow: bool, store: str | None
) -> None:
    """Score the queued interactions within the daily budget and exit: for cron.

    `ragstone monitor serve` does this by itself; several may work on one store."""
    scorer = _build_scorer(config, store, rate)
    if since is not None:
        now = now_micros()
        requeued = requeue_unscored(scorer.archive, now - parse_duration(since), now)
        note("{interactions} considered again", interactions=Count(requeued, "interaction"))
    if follow:
        _exit_with_parent()
        asyncio.run(scorer.run_forever())
        return
    progress = asyncio.run(_score_until_idle(scorer))
    note(
        "scored {interactions} of {decided} new ones",
        interactions=Count(progress.scored, "interaction"),
        decided=progress.decided,
    )
    if progress.failed > progress.set_aside:
        failed = Count(progress.failed - progress.set_aside, "interaction")
        note("the judge failed on {failed}; they are retried later", failed=failed)
    if progress.set_aside:
        failed = Count(progress.set_aside, "interaction")
        note("{failed} failed each time and are set aside", failed=failed)
    if progress.out_of_budget:
        note("the daily budget is spent; the remaining interactions wait")


async def _score_until_idle(scorer: Scorer) -> ScoringProgress:
    try:
        return await scorer.run_until_idle()
    finally:
        if scorer.judge is not None:
            await scorer.judge.close()


def _build_scorer(config: str | None, store: str | None, rate: float | None) -> Scorer:
    plan, monitor = load_plan(config)
    metrics = monitor.metrics
    if metrics is None:
        metrics = tuple(resolve(name) for name in DEFAULT_METRICS)
    where = store or reveal(plan.store)
    budget = Budget(monitor.max_usd, monitor.max_calls)
    judge = None
    if any(metric.judged for metric in metrics):
        named = plan.judge if monitor.judge is None else monitor.judge
        judge = make_judge(
            reveal(resolve_bounds(named, where, plan.language)),
            embeddings=reveal(plan.embeddings),
            language=plan.language,
            prompts=plan.prompts,
            concurrency=plan.concurrency,
            budget=budget,
        )
    # --rate replaces the rates of single slices as well
    policy = SamplingPolicy(
        monitor.rate if rate is None else rate,
        monitor.rates if rate is None else {},
        monitor.always.feedback_below,
        monitor.always.score_below,
    )
    return Scorer(
        Archive(Store.open(where)),
        metrics,
        judge,
        policy,
        budget=budget,
        newest=monitor.newest,
        language=plan.language,
    )


def _exit_with_parent() -> None:
    """Exit when standard input ends: the server that started this process has ended, however that happened."""

    def wait_for_end() -> None:
        while os.read(
            0, 4096
        ):  # not `sys.stdin`: its lock, held here, makes Python abort at its end
            pass
        os._exit(0)  # safe at any time: claims expire, and stored rows are never partial

    threading.Thread(target=wait_for_end, daemon=True).start()
    os.nice(5)  # ingest takes precedence over scoring
