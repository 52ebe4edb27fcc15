"""A store of a million interactions: how long the figures of a window take, on SQLite and on PostgreSQL.

30 days, a fifth judged with three metrics, feedback on one in twenty, four fields to cut slices by (model 3, tenant 20,
prompt 4, language 2). The first summary makes the roll-ups; then every kind of window is asked for three times, each time
after a late event has outdated buckets, and the slowest counts.

    python -m bench windows [interactions]
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ragstone.monitor.archive import Archive, Scored
from ragstone.monitor.interactions import Feedback, Interaction
from ragstone.monitor.rollups import DAY, refresh
from ragstone.monitor.statements import HOUR
from ragstone.monitor.windows import periods, series, summary
from ragstone.store import Store
from ragstone.types import Score

START = 1_777_593_600_000_000
"""2026-05-01"""
DAYS = 30
BATCH = 5000


def make(archive: Archive, count: int) -> None:
    """Fill the store through the same door as the server."""
    rng = random.Random(7)
    step = DAYS * DAY // count
    for first in range(0, count, BATCH):
        some, scores, words = [], [], []
        for n in range(first, min(first + BATCH, count)):
            some.append(_interaction(rng, n, START + n * step))
            if rng.random() < 0.2:
                scores.append(Scored(f"i{n}", _scores(rng), weight=5.0))
            if rng.random() < 0.05:
                words.append(Feedback(f"i{n}", START + n * step + HOUR, float(rng.random() < 0.8)))
        archive.add(some, words).result()
        archive.save_scores(scores).result()


def _interaction(rng: random.Random, n: int, at: int) -> Interaction:
    return Interaction(
        id=f"i{n}",
        at=at,
        question="How long is the warranty of a pump that was bought abroad?",
        answer="Two years from the date of purchase, wherever it was bought.",
        latency=rng.lognormvariate(0, 0.6),
        cost=rng.random() * 0.01,
        tokens=rng.randrange(200, 3000),
        language=rng.choice(("en", "es")),
        meta={
            "model": rng.choice(("small", "medium", "large")),
            "tenant": f"t{rng.randrange(20)}",
            "prompt": f"v{rng.randrange(4)}",
        },
    )


def _scores(rng: random.Random) -> dict[str, Score]:
    shape = rng.random()
    value = 1.0 if shape < 0.55 else 0.0 if shape < 0.63 else round(rng.betavariate(4, 2), 4)
    return {
        "faithfulness": Score(value),
        "answer_relevancy": Score(rng.random()),
        "context_precision": Score(rng.randrange(5) / 4),
    }


def measure(archive: Archive) -> dict[str, Any]:
    """Seconds of each kind of window, the slowest of three."""
    started = time.perf_counter()
    refresh(archive)
    figures: dict[str, Any] = {"first (roll-ups made)": round(time.perf_counter() - started, 1)}
    end = START + DAYS * DAY - 7_777_777
    asked: dict[str, Callable[[], Any]] = {
        f"{window}{f' by {by}' if by else ''}": partial(summary, archive, window, until=end, by=by)
        for window in ("5m", "1h", "24h", "7d", "30d", "100h")
        for by in (None, "model", "tenant")
    }
    asked["each day of 30, Madrid"] = lambda: periods(
        archive, "day", START, end, zone="Europe/Madrid"
    )
    asked["chart of 7 days by the hour"] = lambda: series(archive, end - 7 * DAY, end, HOUR)
    for name, ask in asked.items():
        slowest = 0.0
        for turn in range(3):
            late = f"late-{name}-{turn}".replace(" ", "_")
            archive.add([Interaction(late, end - turn * 3 * DAY - HOUR, "q", answer="a")]).result()
            started = time.perf_counter()
            ask()
            slowest = max(slowest, time.perf_counter() - started)
        figures[name] = round(slowest, 3)
    return figures


def run(place: str, count: int) -> dict[str, Any]:
    """Fill one store and measure it."""
    store = Store.open(place)
    archive = Archive(store)
    started = time.perf_counter()
    make(archive, count)
    filled = round(time.perf_counter() - started, 1)
    figures = measure(archive)
    store.close()
    return {"filled in": filled, **figures}


def main() -> None:
    """Both stores, one after the other; exit code 1 when a window takes over a second."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import postgres  # type: ignore[import-not-found, unused-ignore]

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    figures: dict[str, Any] = {"interactions": count}
    with tempfile.TemporaryDirectory() as folder:
        figures["sqlite"] = run(str(Path(folder) / "s.db"), count)
        print(json.dumps({"sqlite": figures["sqlite"]}, indent=2, ensure_ascii=False), flush=True)
    if postgres.programs() is not None:
        with postgres.cluster() as url:
            figures["postgresql"] = run(url.format("postgres"), count)
        print(json.dumps({"postgresql": figures["postgresql"]}, indent=2, ensure_ascii=False))
    slow = [
        f"{kind}: {name} took {seconds} s"
        for kind, found in figures.items()
        if isinstance(found, dict)
        for name, seconds in found.items()
        if not name.startswith(("first", "filled")) and seconds > 1
    ]
    if slow:
        raise SystemExit("\n".join(["", *slow]))


if __name__ == "__main__":
    main()
