"""HTTP judges: calls a sample, wall time against the ideal, CPU a call against bare aiohttp, a warm second run, faults.

python -m bench.judges [--samples 200]

Against a loopback server in a process of its own that waits 50 ms for each call. Samples as issue-sized ones:
question 15 words, 5 chunks of 80 words, answer of 4 sentences, reference of 3.
Embeddings come from the same server and count as calls for time and CPU, not as LLM calls."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.machine import describe_machine

FIVE = [
    "faithfulness",
    "answer_relevance",
    "context_precision",
    "context_recall",
    "answer_correctness",
]
DELAY = 50


def samples(count: int) -> list[dict[str, Any]]:
    """Generated samples; half of each answer stands in the chunks."""
    dice = random.Random(11)
    words = [
        f"{a}{b}{c}"
        for a in ("ka", "lo", "mi", "ru", "te")
        for b in ("na", "so", "vi", "pel")
        for c in ("r", "n", "dos", "th")
    ]

    def text(size: int) -> str:
        return " ".join(dice.choices(words, k=size))

    def sentence() -> str:
        return text(12).capitalize() + "."

    rows = []
    for n in range(count):
        known = [sentence() for _ in range(3)]
        chunks = [
            f"{text(34).capitalize()}. {known[k % 3]} {text(34).capitalize()}." for k in range(5)
        ]
        rows.append(
            {
                "id": str(n),
                "question": text(15).capitalize() + "?",
                "contexts": [{"id": f"d{k}", "text": chunk} for k, chunk in enumerate(chunks)],
                "answer": " ".join([known[0], known[1], sentence(), sentence()]),
                "reference": " ".join([known[0], known[2], sentence()]),
                "language": "en",
            }
        )
    return rows


@contextmanager
def server(*arguments: int) -> Iterator[str]:
    """A judge's base URL, as long as it is needed."""
    command = [sys.executable, "-m", "bench.judge_server", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.terminate()
        process.wait()


def counted(url: str) -> dict[str, int]:
    """Calls and prompt characters since the last look."""
    with urllib.request.urlopen(f"{url}/count") as reply:
        found: dict[str, int] = json.load(reply)
        return found


def measured(
    url: str,
    rows: list[dict[str, Any]],
    metrics: list[str],
    store: Path,
    concurrency: int,
    is_embedded: bool = False,
) -> dict[str, float]:
    """One evaluation in a process of its own: wall, CPU, peak memory, calls."""
    job = json.dumps(
        {"url": url, "metrics": metrics, "store": str(store), "concurrency": concurrency,
         "embedded": is_embedded}
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "bench.judges", "--worker", job],
        input="\n".join(map(json.dumps, rows)), capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found | counted(url)


def judge_at(url: str, concurrency: int) -> dict[str, Any]:
    """Model and embeddings on the same server."""
    place = {"base_url": url, "concurrency": concurrency}
    return {"model": "openai:bench", **place, "embeddings": {"model": "openai:vectors", **place}}


def worker(job: dict[str, Any]) -> None:
    """What `measured` runs: the time of `evaluate` alone, imports and the encoder's loading apart."""
    import aiohttp  # noqa: F401

    import ragstone

    rows = [json.loads(line) for line in sys.stdin]
    judge = judge_at(job["url"], job["concurrency"])
    if job["embedded"]:
        judge["embeddings"] = "offline"
    loading = time.perf_counter()
    _load(rows[0], judge)
    loading = time.perf_counter() - loading
    encoding = _time_encoder()
    cpu, wall = time.process_time(), time.perf_counter()
    run = ragstone.evaluate(rows, job["metrics"], judge=judge, store=job["store"])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    scores = [one for row in run.rows() for one in row.scores.values()]
    ended = sum(one.ok for one in scores)
    typed = sum(one.outcome in ("judge_error", "not_applicable") for one in scores)
    values = [round(one.value, 9) if one.value is not None else None for one in scores]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"wall": wall, "cpu": cpu, "loading": loading, "encoder": sum(encoding), "peak": peak, "ok": ended, "typed": typed,
                      "scores": len(scores), "digest": hash(tuple(values)) if "PYTHONHASHSEED" in os.environ else 0}))  # fmt: skip


def _load(row: dict[str, Any], judge: dict[str, Any]) -> None:
    """Import what an evaluation with a judge imports as it goes, without asking the judge."""
    import sentencex  # noqa: F401

    import ragstone
    from ragstone.judges.factory import make_judge
    from ragstone.judges.scale import fingerprint_judge

    fingerprint_judge(make_judge(judge))
    ragstone.evaluate([row], ["token_f1"], store=":memory:")
    if judge["embeddings"] == "offline":
        from ragstone.text.encoder import encode

        encode([row["question"]])


def _time_encoder() -> list[float]:
    """CPU seconds of each batch of the embedded encoder, as they come."""
    from ragstone.judges import embeddings

    spent: list[float] = []
    answer = embeddings.answer_embeds

    def timed(asks: Any) -> Any:
        started = time.thread_time()
        try:
            return answer(asks)
        finally:
            spent.append(time.thread_time() - started)

    embeddings.answer_embeds = timed
    return spent


async def _bare(url: str, bodies: list[bytes], concurrency: int) -> float:
    """CPU seconds a call of aiohttp alone, sending the same bodies."""
    import aiohttp

    gate = asyncio.Semaphore(concurrency)
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def one(body: bytes) -> None:
            async with (
                gate,
                session.post(f"{url}/chat/completions", data=body, headers=headers) as reply,
            ):
                await reply.read()

        started = time.process_time()
        await asyncio.gather(*map(one, bodies))
        return (time.process_time() - started) / len(bodies)


class Recorder:
    """A judge that remembers its Asks and the bodies they were sent as."""

    batch, local = 1, False

    def __init__(self, url: str) -> None:
        from ragstone.judges.factory import make_judge

        self.judge: Any = make_judge(judge_at(url, 16))
        self.name, self.concurrency = self.judge.name, self.judge.concurrency
        self.identity, self.close = self.judge.identity, self.judge.close
        self.asks: list[Any] = []
        self.bodies: list[bytes] = []
        for client in (self.judge.model.client, self.judge.embeddings.client):
            client._send_once = self._catching(client._send_once)

    def _catching(self, send: Any) -> Any:
        async def send_once(call: Any, data: bytes, seconds: float) -> Any:
            self.bodies.append(data)
            return await send(call, data, seconds)

        return send_once

    async def answer(self, asks: Any) -> Any:
        self.asks.extend(asks)
        return await self.judge.answer(asks)


async def _judged(url: str, asks: list[Any], concurrency: int) -> float:
    """CPU seconds a call of the judge alone: from Ask to checked reply."""
    from ragstone.judges.factory import make_judge

    judge = make_judge(judge_at(url, concurrency))
    gate = asyncio.Semaphore(concurrency)

    async def one(ask: Any) -> None:
        async with gate:
            await judge.answer([ask])

    started = time.process_time()
    await asyncio.gather(*map(one, asks))
    spent = time.process_time() - started
    await judge.close()
    return spent / len(asks)


def cpu_a_call(rows: list[dict[str, Any]]) -> tuple[float, float, float]:
    """CPU seconds a call: a whole evaluation's, the judge's, bare aiohttp's on the same bodies.

    The middle one of five turns by the first ratio; what is compared is measured in the same turn, for other
    processes slow down a turn as a whole."""
    import ragstone

    with server(0) as url, tempfile.TemporaryDirectory() as folder:
        seen = Recorder(url)
        ragstone.evaluate(rows, FIVE, judge=seen, store=Path(folder) / "s.db")
        asyncio.run(seen.close())
        turns = []
        for turn in range(5):
            bare = asyncio.run(_bare(url, seen.bodies, 16))
            judged = asyncio.run(_judged(url, seen.asks, 16))
            started = time.process_time()
            ragstone.evaluate(
                rows, FIVE, judge=judge_at(url, 16), store=Path(folder) / f"{turn}.db"
            )
            whole = (time.process_time() - started) / len(seen.bodies)
            turns.append((whole, judged, bare))
    return sorted(turns, key=lambda turn: turn[0] / turn[2])[2]


def line(name: str, value: str, bar: str, good: bool) -> None:
    """One bar."""
    print(f"{'ok  ' if good else 'MISS'} {name:<52} {value:>12}   bar {bar}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--worker", type=json.loads)
    options = parser.parse_args()
    if options.worker is not None:
        worker(options.worker)
        return
    os.environ |= {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    print(describe_machine())
    rows = samples(options.samples)
    count = len(rows)
    with server(DELAY) as url, tempfile.TemporaryDirectory() as folder:
        cold: dict[str, float] = {}
        for concurrency in (16, 64):
            store = Path(folder) / f"{concurrency}.db"
            cold = measured(url, rows, FIVE, store, concurrency)
            ideal = cold["calls"] * DELAY / 1000 / concurrency
            ratio = cold["wall"] / ideal
            name = f"wall time / ideal, {concurrency} at once"
            line(name, f"{ratio:.2f}", "<= 1.10", ratio <= 1.10)
            loaded = (cold["wall"] + cold["loading"]) / ideal
            print(
                f"     … wall {cold['wall']:.2f} s, with imports {loaded:.2f} of the ideal; CPU {cold['cpu']:.2f} s, "
                f"{cold['cpu'] / ideal:.2f} of the ideal time"
            )
        asked = cold["calls"] - cold["embeddings"]
        line("LLM calls a sample, five metrics", f"{asked / count:.2f}", "<= 5", asked / count <= 5)
        print(f"     prompt characters a sample, five metrics {cold['characters'] / count:>21.0f}")
        slow = measured(url, rows, FIVE, Path(folder) / "1.db", 16)
        warm = measured(url, rows, FIVE, Path(folder) / "1.db", 16)
        share = warm["wall"] / slow["wall"]
        line("warm run: calls", f"{warm['calls']}", "0", warm["calls"] == 0)
        line("warm run / cold run, wall time", f"{share:.3f}", "<= 0.05", share <= 0.05)
        loaded = (warm["wall"] + warm["loading"]) / (slow["wall"] + slow["loading"])
        print(
            f"     … with imports {loaded:.3f}; CPU {warm['cpu'] / slow['cpu']:.3f} of the cold run's"
        )
        line("peak memory", f"{cold['peak']:.0f} MB", "<= 150 MB", cold["peak"] <= 150)
        from ragstone import metrics as _all  # noqa: F401
        from ragstone.registry import REGISTERED

        every = [name for name, one in REGISTERED.items() if one.judged and name != "rubric"]
        whole = measured(url, rows[:40], every, Path(folder) / "all.db", 16)
        asked = whole["calls"] - whole["embeddings"]
        line("LLM calls a sample, all judged metrics", f"{asked / 40:.2f}", "<= 8", asked / 40 <= 8)
    all_of_it, ours, bare = cpu_a_call(rows)
    ratio = all_of_it / bare
    line("CPU a call, whole run / bare aiohttp", f"{ratio:.2f}", "<= 4", ratio <= 4)
    print(
        f"     CPU a call: whole run {all_of_it * 1000:.2f} ms ({slow['cpu'] / slow['calls'] * 1000:.2f} ms "
        f"where each call takes {DELAY} ms), judge alone {ours * 1000:.2f} ms "
        f"({ours / bare:.2f} x), bare aiohttp {bare * 1000:.2f} ms"
    )
    with server(DELAY, 10) as url, tempfile.TemporaryDirectory() as folder:
        bad = measured(url, rows, FIVE, Path(folder) / "s.db", 16)
        whole_share = bad["ok"] / bad["scores"]
        line("5 % malformed, 5 % 429/500: scored", f"{whole_share:.1%}", "100 %", whole_share == 1)
        same = bad["digest"] == slow["digest"]
        line("  … with the same scores", str(same), "True", same)


if __name__ == "__main__":
    main()
