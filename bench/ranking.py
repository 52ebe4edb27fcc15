"""Ranking metrics in bulk against pytrec_eval: 20,000 queries × 100 ids, seven metrics.

    python bench/ranking.py

Each side gets the data as its users hold it, built before the clock starts: a run of {query: {document: score}} and
integer grades. ragstone also takes a list of ids a query, which is measured beside. Every ranking has
strings of its own, as after reading a file. pytrec_eval's time has its two steps, the evaluator and `evaluate`.
Cold is a fresh process, from before the import to the result, in the environment of this one; where that forbids writing
bytecode (PYTHONDONTWRITEBYTECODE), our modules are compiled anew each time and the installed ones are not, so that it is
measured again as after an installation. Ratios are of CPU time, which a busy machine disturbs least, of alternating turns;
the median decides, and the ratio of the fastest turns and every turn are printed beside.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
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


class Turn(NamedTuple):
    """Seconds of one turn."""

    cpu: float
    wall: float


def clock(work: Callable[[], Any]) -> Turn:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Turn(time.process_time() - cpu, time.perf_counter() - wall)


def cold(side: str, uniform: bool, bytecode: str | None = None) -> Turn:
    """From before the import to the result, in a process of its own; `bytecode` is a folder for compiled modules."""
    command = [sys.executable, __file__, "--cold", side, *(["--uniform"] if uniform else [])]
    environment = dict(os.environ)
    if bytecode is not None:
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = bytecode
    done = subprocess.run(command, check=True, capture_output=True, env=environment)
    return Turn(*json.loads(done.stdout))


def difference(mine: dict[str, Any], other: dict[str, dict[str, float]]) -> float:
    return max(
        abs(float(value) - other[f"q{n}"][theirs_name])
        for name, theirs_name in zip(OURS, THEIRS, strict=True)
        for n, value in enumerate(mine[name])
    )


class Comparison(NamedTuple):
    """The turns of one way to measure, ours and pytrec_eval's in pairs."""

    name: str
    turns: list[tuple[Turn, Turn]]

    def find_ratio(self) -> float:
        return statistics.median(mine.cpu / other.cpu for mine, other in self.turns)

    def __str__(self) -> str:
        mine, other = zip(*self.turns, strict=True)
        cpu, wall = (
            [statistics.median(turn[at] for turn in side) for side in (mine, other)]
            for at in range(2)
        )
        fastest = min(turn.cpu for turn in mine) / min(turn.cpu for turn in other)
        walls = statistics.median(one.wall / two.wall for one, two in self.turns)
        every = " ".join(f"{one.cpu / two.cpu:.2f}" for one, two in self.turns)
        return (
            f"{self.name}: CPU {cpu[0]:.3f} s, pytrec_eval {cpu[1]:.3f} s, ratio {self.find_ratio():.3f} "
            f"(fastest turns {fastest:.3f}; every turn {every}); "
            f"wall {wall[0]:.3f} s, pytrec_eval {wall[1]:.3f} s, ratio {walls:.3f}"
        )


def compare(uniform: bool) -> tuple[list[Comparison], float]:
    """Warm, lists of ids and cold; and the largest difference of a value."""
    held = data(uniform)
    mine, lists, other = ours(held), ours(held, is_list=True), theirs(held)
    apart = difference(mine(), other())
    turns = [(clock(mine), clock(lists), clock(other)) for _ in range(WARM)]
    found = [
        Comparison("warm", [(turn[0], turn[2]) for turn in turns]),
        Comparison("lists of ids", [(turn[1], turn[2]) for turn in turns]),
        Comparison("cold", [(cold("ours", uniform), cold("theirs", uniform)) for _ in range(COLD)]),
    ]
    if "PYTHONDONTWRITEBYTECODE" in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            sides = "ours", "theirs"
            fresh = [[cold(side, uniform, folder) for side in sides] for _ in range(COLD + 1)]
        # the first turn compiles the modules
        installed = [(one, two) for one, two in fresh[1:]]
        found.append(Comparison("cold, modules compiled before", installed))
    return found, apart


def main() -> int:
    if "--cold" in sys.argv:
        side = ours if "ours" in sys.argv else theirs
        print(json.dumps(clock(side(data("--uniform" in sys.argv)))))
        return 0
    bars = {"warm": WARM_BAR, "cold": COLD_BAR}
    passed = True
    for uniform in (False, True):
        print(describe_machine())
        found, apart = compare(uniform)
        where = "relevant ones strewn evenly" if uniform else "relevant ones near the top"
        print(f"ranking, {where}: largest difference {apart:.1e} (bar 1e-9)")
        for comparison in found:
            bar = bars.get(comparison.name)
            print(f"  {comparison}" + (f"; bar {bar}" if bar else ""))
            passed &= uniform or bar is None or comparison.find_ratio() <= bar
        passed &= uniform or apart <= 1e-9
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
