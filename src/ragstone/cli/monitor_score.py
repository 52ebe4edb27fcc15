"""`ragstone monitor score`: the judge's work, once or for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragstone.cli.options import counted, note, store_option

if TYPE_CHECKING:
    from ragstone.monitor.scoring.scorer import Progress, Scorer


@click.command("score")
@click.option("-c", "--config", metavar="FILE", help="Config file with a `monitor` section.")
@click.option("--since", metavar="AGE", help="Also consider interactions of this age that were not chosen before: 7d.")  # fmt: skip
@click.option("--rate", type=click.FloatRange(0, 1), help="The share to judge, in the place of the config's.")  # fmt: skip
@click.option("--follow", is_flag=True, help="Go on for ever, until standard input ends.")
@store_option
def command(
    config: str | None, since: str | None, rate: float | None, follow: bool, store: str | None
) -> None:
    """Judge what waits, within the day's budget, and end: for cron.

    `ragstone monitor serve` does this by itself; several may work on one store."""
    import asyncio

    scorer = _scorer(config, store, rate)
    if since is not None:
        from ragstone.monitor.interactions import micros
        from ragstone.monitor.scoring.queue import requeue
        from ragstone.monitor.windows.summary import duration

        now = micros()
        again = requeue(scorer.archive, now - duration(since), now)
        note(f"{counted(again, 'interaction')} considered again")
    if follow:
        _leave_with_parent()
        asyncio.run(scorer.follow())
        return
    done = asyncio.run(_once(scorer))
    note(f"scored {counted(done.scored, 'interaction')} of {done.decided:,} new ones")
    if done.failed:
        note(
            f"the judge failed on {counted(done.failed, 'interaction')}; they are tried again later"
        )
    if done.out_of_budget:
        note("the day's budget is spent; the rest waits")


async def _once(scorer: Scorer) -> Progress:
    try:
        return await scorer.run_out()
    finally:
        if scorer.judge is not None:
            await scorer.judge.close()


def _scorer(config: str | None, store: str | None, rate: float | None) -> Scorer:
    from ragstone.config import Plan, load, revealed
    from ragstone.config.monitor import MonitorPlan
    from ragstone.judges.factory import make_judge
    from ragstone.judges.limits import Budget
    from ragstone.metrics import resolve
    from ragstone.monitor.archive import Archive
    from ragstone.monitor.scoring.sampling import Policy
    from ragstone.monitor.scoring.scorer import DEFAULT_METRICS, Scorer
    from ragstone.store import Store

    plan = load(config) if config is not None else Plan()
    watch = plan.monitor or MonitorPlan()
    metrics = watch.metrics
    if metrics is None:
        metrics = tuple(resolve(name) for name in DEFAULT_METRICS)
    budget = Budget(watch.max_usd, watch.max_calls)
    judge = None
    if any(metric.judged for metric in metrics):
        judge = make_judge(
            revealed(watch.judge if watch.judge is not None else plan.judge),
            embeddings=revealed(plan.embeddings),
            language=plan.language,
            prompts=plan.prompts,
            concurrency=plan.concurrency,
            budget=budget,
        )
    policy = Policy(
        watch.rate if rate is None else rate,
        watch.rates if rate is None else {},
        watch.always.feedback_below,
        watch.always.score_below,
    )
    return Scorer(
        Archive(Store.open(store or revealed(plan.store))),
        metrics,
        judge,
        policy,
        budget=budget,
        newest=watch.newest,
        language=plan.language,
    )


def _leave_with_parent() -> None:
    """End when standard input does: the server that started this is gone, however it went."""
    import os
    import sys
    import threading

    def wait() -> None:
        while sys.stdin.buffer.read(4096):
            pass
        os._exit(0)  # whatever is claimed is free again after a while; nothing stored is half

    threading.Thread(target=wait, daemon=True).start()
    os.nice(5)  # taking comes before judging
