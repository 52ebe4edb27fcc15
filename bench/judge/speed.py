# ruff: noqa: E402
"""Samples a second on one core, time to the first score, memory: python bench/judge/speed.py"""

from __future__ import annotations

import os

for _threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[_threads] = "1"  # the bar is for one core; read when numpy is first imported

import asyncio
import json
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SHAPE = "5 chunks of 80 words, answers of 4 sentences"
FAST = ("faithfulness", "hallucination_rate")
SIX = (*FAST, "context_precision", "context_recall", "answer_relevance", "answer_correctness")


def samples(count: int, seed: int = 3) -> list[dict[str, Any]]:
    """Samples of the stated shape, from paragraphs that repeat no sentence."""
    from rows import load

    from ragstone.text.sentences import split_sentences

    luck = random.Random(seed)
    words = [w for row in load("qa", "xquad_en") for w in row["text"].split()]
    parts = [
        row["text"][a:b]
        for row in load("qa", "xquad_en")
        for a, b in split_sentences(row["text"], "en")
    ]
    made = []
    for _ in range(count):
        starts = [luck.randrange(len(words) - 80) for _ in range(5)]
        made.append(
            {
                "question": luck.choice(parts).rstrip(".") + "?",
                "answer": " ".join(luck.sample(parts, 4)),
                "reference": " ".join(luck.sample(parts, 2)),
                "contexts": [" ".join(words[at : at + 80]) for at in starts],
            }
        )
    return made


async def _run(rows: list[dict[str, Any]], names: tuple[str, ...]) -> float:
    """Seconds that judging takes when samples share replies as they do in a run."""
    from ragstone.asks import Ask
    from ragstone.errors import Unscored
    from ragstone.judges.offline import OfflineJudge
    from ragstone.metrics import answer, context, grounding
    from ragstone.types import Chunk, Ranked

    judge = OfflineJudge()
    homes = [
        next(getattr(m, name) for m in (grounding, context, answer) if hasattr(m, name))
        for name in names
    ]
    needs = [(function, _needs(function)) for function in homes]
    began = time.process_time()  # CPU of this process: other work on the machine does not count
    for row in rows:
        contexts = Ranked(Chunk(f"d{n}", text) for n, text in enumerate(row["contexts"]))
        fields = {**row, "contexts": contexts}
        known: dict[str, Any] = {}
        for function, wanted in needs:
            running = function(**{name: fields[name] for name in wanted if name in fields})
            try:
                asks: tuple[Ask, ...] = next(running)
                while True:
                    new = [a for a in asks if a.key not in known]
                    for one, got in zip(new, await judge.answer(new), strict=True):
                        known[one.key] = got
                    asks = running.send(tuple(known[a.key] for a in asks))
            except StopIteration:
                pass
            except Unscored:
                pass
    return time.process_time() - began


def _needs(function: Any) -> list[str]:
    import inspect

    return [
        name
        for name, one in inspect.signature(function).parameters.items()
        if one.kind is one.POSITIONAL_OR_KEYWORD and name != "language"
    ]


def speed(count: int = 300) -> dict[str, float]:
    """Samples a second after the first ten."""
    rows = samples(count + 10)
    asyncio.run(_run(rows[:10], SIX))
    fast = count / asyncio.run(_run(rows[10:], FAST))
    others = samples(max(count // 4, 20), seed=4)
    six = len(others) / asyncio.run(_run(others, SIX))
    return {"two metrics": fast, "six metrics": six, "peak MB": _peak()}


def _peak() -> float:
    """Most memory this program held. Not ru_maxrss where it can be helped: that outlives exec, so a process started
    from a large one shows the large one's."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(row for row in status.read_text().splitlines() if row.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


_FIRST = """
import time; began = time.perf_counter()
import asyncio
from ragstone.asks import Case, claims, support
from ragstone.judges.offline import OfflineJudge
from ragstone.types import Chunk
judge = OfflineJudge()
asyncio.run(judge.answer([claims("Paris is the capital of France.")]))
asyncio.run(judge.answer([support(Case(("Paris is the capital of France.",), (Chunk("a", "The capital of France is Paris."),)))]))
print(time.perf_counter() - began)
"""


def first_score() -> float:
    """Seconds from process start to the first verdict, the best of three."""
    found = []
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", _FIRST], check=True, capture_output=True)
        found.append(time.perf_counter() - began)
    return min(found)


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    print(json.dumps({**speed(wanted), "first score s": first_score()}, indent=1))
