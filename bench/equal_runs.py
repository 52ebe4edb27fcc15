"""False verdicts: the whole `ragstone compare` command on pairs of runs that are equal but for chance.

python -m bench.equal_runs [--pairs 300] [--unpaired]
python -m bench.equal_runs --shapes [--pairs 1000]     two sets of one shape and uneven sizes, beside Welch's t

Each pair has its own number of questions, every third has groups; the metrics are graded, yes-or-no, lumpy and piled up
at 1, and latency, tokens and cost are skewed. A verdict of better or worse is false. The bar is 7 % in each family:
the primary metric, the other quality metrics, latency with tokens and cost. Beside each stands what comes of testing every
difference at 5 % by itself.

With `--shapes` both sets are drawn from the same shape (the mean of both is the same), and then the second is multiplied by
0.5 and by 2. A verdict is an interval of the difference of means that leaves out 0; the bar is 6 %."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ragstone.config import Plan
from ragstone.store import NewRow, RunInfo, Store
from ragstone.types import Score

FAMILIES = ("primary", "quality", "resource")
METRICS: dict[str, dict[str, Any]] = {
    "graded": {},
    "hit": {"binary": True},
    "lumpy": {},
    "near one": {},
    "loose": {},
    "latency": {"bounds": None, "higher_is_better": False},
    "tokens": {"bounds": None, "higher_is_better": False},
    "cost": {"bounds": None, "higher_is_better": False},
}


def draw_values(ease: np.ndarray, dice: np.random.Generator) -> dict[str, np.ndarray]:
    """The scores of one system: the ease of a question is shared, the rest is luck."""
    n = len(ease)
    tokens = np.round(100 + 400 * ease + dice.exponential(60, n))
    return {
        "graded": np.clip(ease + dice.normal(0, 0.2, n), 0, 1),
        "hit": (dice.random(n) < ease).astype(float),
        "lumpy": np.round(np.clip(ease + dice.normal(0, 0.3, n), 0, 1) * 3) / 3,
        "near one": 1 - (dice.random(n) < 0.08) * dice.random(n),
        "loose": dice.random(n),
        "latency": np.exp(ease + dice.normal(0, 0.6, n)),
        "tokens": tokens,
        "cost": tokens * 2e-6 * np.exp(dice.normal(0, 0.1, n)),
    }


def store_run(
    store: Store,
    name: str,
    values: Mapping[str, np.ndarray],
    ids: list[str],
    groups: list[str | None],
) -> None:
    """A finished run of these scores."""
    plain = {"higher_is_better": True, "bounds": [0.0, 1.0], "binary": False, "judged": False,
             "labels": [], "meaning": ""}  # fmt: skip
    metrics = tuple({**plain, "name": n, "family": n, **about} for n, about in METRICS.items())
    info = RunInfo(
        id=name, name=name, created="2026-01-01T00:00:00+00:00", status="running", plan=Plan(),
        shape={"format": "ragstone"}, source="bench", format="ragstone columns", metrics=metrics,
    )  # fmt: skip
    run = store.create(info)
    rows = [
        NewRow(
            at + 1, id, groups[at],
            json.dumps({"id": id, "question": f"Question {id}?", "answer": f"{name} {at}"}),
            {metric: Score(float(column[at])) for metric, column in values.items()},
        )
        for at, id in enumerate(ids)
    ]  # fmt: skip
    store.append(run.id, rows).result()
    store.finish(run.id, total=len(ids), bad_count=0, bad=())


def draw_ease(count: int, grouped: bool, dice: np.random.Generator) -> np.ndarray:
    """How easy each question is; those of a group of four are alike."""
    if not grouped:
        return dice.random(count)
    return np.clip(np.repeat(dice.random(count // 4), 4) + dice.normal(0, 0.1, count), 0, 1)


def make_pair(store: Store, number: int, *, unpaired: bool, dice: np.random.Generator) -> None:
    """Two runs of equal systems, on the same questions or on two draws of them."""
    count = int(dice.choice([60, 120, 240]))
    grouped = number % 3 == 0
    ease = draw_ease(count, grouped, dice)
    for side in ("a", "b"):
        if unpaired and side == "b":
            ease = draw_ease(count, grouped, dice)
        prefix = side if unpaired else "q"
        groups = [f"{prefix}g{n // 4}" if grouped else None for n in range(count)]
        ids = [f"{prefix}{n}" for n in range(count)]
        store_run(store, f"{side}{number}", draw_values(ease, dice), ids, groups)


def run_compare(place: Path, number: int, *, unpaired: bool) -> dict[str, Any]:
    """The JSON that `ragstone compare` prints."""
    from ragstone.cli import run

    out = io.StringIO()
    command = ["compare", f"a{number}", f"b{number}", "--primary", "graded", "--json", "--samples", "0"]  # fmt: skip
    with contextlib.redirect_stdout(out):
        code = run([*command, *(["--unpaired"] if unpaired else []), "--store", str(place)])
    if code:
        raise SystemExit(f"ragstone compare ended with {code}")
    return dict(json.loads(out.getvalue()))


def measure(
    pairs: int, *, unpaired: bool, seed: int = 17
) -> tuple[dict[str, float], dict[str, float]]:
    """For each family the share of pairs with a false verdict: as `compare` decides, and at 5 % without correction."""
    dice = np.random.default_rng(seed)
    shown, single = dict.fromkeys(FAMILIES, 0), dict.fromkeys(FAMILIES, 0)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "runs.db"
        store = Store.open(place)
        for number in range(pairs):
            make_pair(store, number, unpaired=unpaired, dice=dice)
            differences = run_compare(place, number, unpaired=unpaired)["versus"][0]["differences"]
            for family in FAMILIES:
                own = [d for d in differences if d["family"] == family]
                shown[family] += any(d["verdict"] in ("better", "worse") for d in own)
                single[family] += any(d["p"] <= 0.05 for d in own)
            for d in differences:
                leaves_out = not d["low"] <= 0 <= d["high"]
                if leaves_out != (d["verdict"] in ("better", "worse")) or leaves_out != (d["adjusted"] <= 0.05):  # fmt: skip
                    raise SystemExit(f"verdict, interval and p disagree: {d}")
        store.close()
    return tuple({family: n / pairs for family, n in some.items()} for some in (shown, single))  # type: ignore[return-value]


LATENCIES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "log-normal 1.5": lambda dice, n: dice.lognormal(0, 1.5, n),
    "Pareto 2.2": lambda dice, n: dice.pareto(2.2, n) + 1,
    "log-normal 0.6": lambda dice, n: dice.lognormal(0, 0.6, n),
    "log-normal 2": lambda dice, n: dice.lognormal(0, 2, n),
    "Pareto 1.5": lambda dice, n: dice.pareto(1.5, n) + 1,
    "exponential": lambda dice, n: dice.exponential(1, n),
    "gamma 0.3": lambda dice, n: dice.gamma(0.3, 1, n),
    "Weibull 0.5": lambda dice, n: dice.weibull(0.5, n),
    "inverse gamma 3": lambda dice, n: 1 / dice.gamma(3, 1, n),
    "two modes": lambda dice, n: np.where(dice.random(n) < 0.1, 30, 1) * dice.lognormal(0, 0.3, n),
    "half are free": lambda dice, n: (dice.random(n) < 0.5) * dice.lognormal(0, 1, n),
    "whole tokens": lambda dice, n: np.round(50 * dice.lognormal(0, 1.2, n)),
    "timeouts at 60": lambda dice, n: np.minimum(dice.lognormal(1, 1.5, n), 60),
}
SIZES = ((20, 200), (200, 20), (30, 1000), (100, 100))


def measure_shapes(pairs: int, seed: int = 17) -> None:
    """A line for each shape and pair of sizes: false verdicts (and those that call the smaller set cheaper), then power."""
    from scipy.stats import ttest_ind

    from ragstone.analysis.unpaired import compare_sets

    print(
        "shape, sizes: verdicts when the second is the same, half, double (of Welch's t); the smaller called cheaper"
    )
    for name, draw in LATENCIES.items():
        for sizes in SIZES:
            dice, cells = np.random.default_rng(seed), []
            cheaper = 0
            for factor in (1.0, 0.5, 2.0):
                ours = welch = 0
                for _ in range(pairs):
                    before, after = draw(dice, sizes[0]), factor * draw(dice, sizes[1])
                    found = compare_sets(before, after, positive=True)
                    low, high = found.interval.low, found.interval.high
                    decided = low is not None and high is not None and not low <= 0 <= high
                    ours += decided
                    welch += bool(ttest_ind(before, after, equal_var=False).pvalue <= 0.05)
                    rise = (found.difference or 0) * (sizes[0] - sizes[1])
                    cheaper += factor == 1 and decided and rise < 0
                cells.append(f"{ours / pairs:.3f} ({welch / pairs:.3f})")
            print(f"{name}, {sizes[0]} and {sizes[1]}: {', '.join(cells)}; {cheaper / pairs:.3f}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pairs", type=int, default=300)
    options.add_argument("--unpaired", action="store_true")
    options.add_argument("--shapes", action="store_true")
    given = options.parse_args()
    if given.shapes:
        measure_shapes(given.pairs)
        return
    shown, single = measure(given.pairs, unpaired=given.unpaired)
    kind = "independent sets" if given.unpaired else "the same questions"
    print(f"{given.pairs} pairs of equal runs, {kind}")
    for family in FAMILIES:
        print(
            f"{family}: {shown[family]:.1%} false verdicts (bar: at most 7 %; each at 5 % by itself: {single[family]:.1%})"
        )


if __name__ == "__main__":
    main()
