"""Ranking metrics in bulk against pytrec_eval: 20,000 queries × 100 ids, seven metrics.

    python bench/ranking.py

Each side gets the data as its users hold it, built before the clock starts: a run of {query: {document: score}} and
integer grades. ragstone also takes a list of ids a query, which is measured beside. Every ranking has
strings of its own, as after reading a file. pytrec_eval's time has its two steps, the evaluator and `evaluate`.
Cold is a fresh process, from before the import to the result. Ratios are of CPU time, which a
busy machine disturbs least, and medians of alternating turns.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a file by `cold`
from bench.machine import describe_machine

QUERIES, DEPTH, WARM, COLD = 20_000, 100, 9, 5
WARM_BAR, COLD_BAR = 0.25, 0.30
OURS = ("precision@10", "recall@10", "f1", "hit_rate@10", "mrr", "map", "ndcg@10")
THEIRS = ("P_10", "recall_10", "set_F", "success_10", "recip_rank", "map", "ndcg_cut_10")

Data = tuple[list[list[str]], list[dict[str, int]]]


def data(uniform: bool) -> Data:
    """Rankings of distinct ids and 1 to 10 graded relevant documents, 7 of 10 of them found.

    A retriever puts what is relevant near the top: ranks are log-uniform. `uniform` strews them evenly instead."""
    rng = random.Random(20_000)
    rankings, relevant = [], []
    for _ in range(QUERIES):
        numbers = rng.sample(range(1_000_000), DEPTH)
        grades: dict[str, int] = {}
        for _ in range(rng.randint(1, 10)):
            place = rng.randrange(DEPTH) if uniform else int(DEPTH ** rng.random()) - 1
            found = rng.random() < 0.7
            grades[f"doc{numbers[place] if found else rng.randrange(10**6, 2 * 10**6)}"] = (
                rng.randint(1, 3)
            )
        rankings.append([f"doc{number}" for number in numbers])
        relevant.append(grades)
    return rankings, relevant


def to_run(held: Data) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """The rankings as scores and the grades, both by query."""
    run = {
        f"q{n}": {f"doc{name[3:]}": float(DEPTH - place) for place, name in enumerate(ranking)}
        for n, ranking in enumerate(held[0])
    }
    return run, {f"q{n}": grades for n, grades in enumerate(held[1])}


def ours(held: Data, is_list: bool = False) -> Callable[[], Any]:
    rankings, relevant = held if is_list else to_run(held)

    def evaluate() -> Any:
        from ragstone.rankings import score_rankings

        return score_rankings(rankings, relevant, OURS).values

    return evaluate


def theirs(held: Data) -> Callable[[], Any]:
    run, qrel = to_run(held)

    def evaluate() -> Any:
        import pytrec_eval

        asked = {"P.10", "recall.10", "set_F", "success.10", "recip_rank", "map", "ndcg_cut.10"}
        return pytrec_eval.RelevanceEvaluator(qrel, asked).evaluate(run)

    return evaluate


def seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def cold(side: str, uniform: bool) -> float:
    """Seconds from before the import to the result, in a process of its own."""
    command = [sys.executable, __file__, "--cold", side, *(["--uniform"] if uniform else [])]
    return float(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))


def difference(mine: dict[str, Any], other: dict[str, dict[str, float]]) -> float:
    return max(
        abs(float(value) - other[f"q{n}"][theirs_name])
        for name, theirs_name in zip(OURS, THEIRS, strict=True)
        for n, value in enumerate(mine[name])
    )


class Comparison(NamedTuple):
    """CPU seconds of either side in a turn, ratios and the largest difference."""

    seconds: float
    rival_seconds: float
    wall_ratio: float
    warm: float
    lists: float
    cold: float
    apart: float


def compare(uniform: bool) -> Comparison:
    held = data(uniform)
    mine, lists, other = ours(held), ours(held, is_list=True), theirs(held)
    apart = difference(mine(), other())
    walls = [(clock(mine), clock(other)) for _ in range(3)]
    turns = [(seconds(mine), seconds(lists), seconds(other)) for _ in range(WARM)]
    fresh = [cold("ours", uniform) / cold("theirs", uniform) for _ in range(COLD)]
    return Comparison(
        statistics.median(turn[0] for turn in turns),
        statistics.median(turn[2] for turn in turns),
        statistics.median(one / two for one, two in walls),
        statistics.median(turn[0] / turn[2] for turn in turns),
        statistics.median(turn[1] / turn[2] for turn in turns),
        statistics.median(fresh),
        apart,
    )


def clock(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> int:
    if "--cold" in sys.argv:
        side = ours if "ours" in sys.argv else theirs
        print(json.dumps(seconds(side(data("--uniform" in sys.argv)))))
        return 0
    print(describe_machine())
    passed = True
    for uniform in (False, True):
        found = compare(uniform)
        where = "relevant ones strewn evenly" if uniform else "relevant ones near the top"
        print(
            f"ranking, {where}: CPU {found.seconds:.3f} s, pytrec_eval {found.rival_seconds:.3f} s; ÷ pytrec_eval's: "
            f"warm {found.warm:.2f} (bar {WARM_BAR}; wall {found.wall_ratio:.2f}), lists of ids {found.lists:.2f}, "
            f"cold {found.cold:.2f} (bar {COLD_BAR}); largest difference {found.apart:.1e} (bar 1e-9)"
        )
        good = found.warm <= WARM_BAR and found.cold <= COLD_BAR and found.apart <= 1e-9
        passed &= uniform or good
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
