"""A run to be killed: `worker.py STORE LOG COUNT` scores samples with a judge that logs each call."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Sequence
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from ragstone import Sample, evaluate, report
from ragstone.asks import Ask
from scripted import ScriptedJudge, level_by_hash, rated


def rows(count: int) -> list[Sample]:
    return [
        Sample(f"s{n}", answer=f"answer {n % (count - 7)}", reference=f"answer {n}")
        for n in range(count)
    ]


def main(store: str, log: str, count: str) -> None:
    file = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def reply(ask: Ask) -> Any:
        return level_by_hash(ask)

    class Logging(ScriptedJudge):
        async def answer(self, asks: Sequence[Ask]) -> Any:
            os.write(file, b"".join(ask.key.encode() + b"\n" for ask in asks))
            return await super().answer(asks)

    dice = random.Random()
    judge = Logging(reply, delay=lambda ask: dice.random() * 0.004, concurrency=8)
    run = evaluate(
        rows(int(count)),
        [rated("one_round"), rated("two_rounds", rounds=2), "token_f1"],
        judge=judge,
        store=store,
        run_id="killed",
        resume=os.path.exists(store) and _known(store),
        started=lambda stored, reading: print("started", flush=True),
    )
    report.write(run, store + ".jsonl")
    print("finished", flush=True)


def _known(store: str) -> bool:
    from ragstone import Store

    opened = Store.open(store)
    try:
        return any(info.id == "killed" for info in opened.runs())
    finally:
        opened.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
