"""A store of a million interactions: how long the figures of a window take, on SQLite and on PostgreSQL.

30 days, a fifth judged with three metrics, feedback on one in twenty, five fields to cut slices by (model 3, tenant 20,
prompt 4, language 2, user 10,000 values). The first summary makes the roll-ups; then every kind of window is asked for three
times, each time after a late event has outdated buckets, and the slowest counts. At last a burst of late events and of late
feedback over all of the 30 days, and people who ask to be forgotten.

    python -m bench.windows                        # both stores, thrown away afterwards
    python -m bench.windows --keep FOLDER          # build them there, or measure again what is there
    python -m bench.windows --keep FOLDER --only postgresql --interactions 100000
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.monitor.interactions import Feedback, Interaction
from ragstone.monitor.rollups import refresh
from ragstone.monitor.statements import DAY_MICROS, HOUR_MICROS
from ragstone.monitor.windows.summary import summarise_periods, summarise_steps, summarise_window
from ragstone.store import Store
from ragstone.types import Score

START = 1_777_593_600_000_000
"""2026-05-01"""
DAYS = 30
END = START + DAYS * DAY_MICROS - 7_777_777
BATCH = 5000
MOST_SECONDS = 1.0
TURNS = 3

Ask = Callable[[], Any]


def make(archive: Archive, count: int) -> None:
    """Fill the store through the same door as the server."""
    rng = random.Random(7)
    step = DAYS * DAY_MICROS // count
    for first in range(0, count, BATCH):
        some, scores, words = [], [], []
        for n in range(first, min(first + BATCH, count)):
            some.append(_interaction(rng, n, START + n * step))
            if rng.random() < 0.2:
                scores.append(ScoredInteraction(f"i{n}", _scores(rng), weight=5.0))
            if rng.random() < 0.05:
                words.append(
                    Feedback(f"i{n}", START + n * step + HOUR_MICROS, float(rng.random() < 0.8))
                )
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
            "user": f"u{rng.randrange(10_000)}",
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


def questions(archive: Archive) -> dict[str, Ask]:
    """Every kind of window."""
    ask = partial(summarise_window, archive, until=END)
    asked: dict[str, Ask] = {
        f"{window}{f' by {by}' if by else ''}": partial(ask, window, by=by)
        for window in ("5m", "1h", "24h", "100h", "7d", "30d", "3660d")
        for by in (None, "model", "tenant", "user")
    }
    asked["30d of one user"] = partial(ask, "30d", where=("user", "u77"))
    madrid = partial(summarise_periods, archive, since=START, until=END, zone="Europe/Madrid")
    asked |= {f"each {one} of 30 days, Madrid": partial(madrid, one) for one in ("day", "week")}
    asked["the month, Madrid"] = partial(madrid, "month")
    asked["chart of 7 days by the hour"] = partial(
        summarise_steps, archive, END - 7 * DAY_MICROS, END, HOUR_MICROS
    )
    asked["chart of 12 hours by five minutes"] = partial(
        summarise_steps, archive, END - 12 * HOUR_MICROS, END, HOUR_MICROS // 12
    )
    return asked


def measure(archive: Archive) -> dict[str, Any]:
    """Seconds on the clock and of this process for each kind of window, the slowest of some turns."""
    began = timed(lambda: refresh(archive))
    figures: dict[str, Any] = {"first (roll-ups made)": began}
    tag = time.time_ns()
    for name, ask in questions(archive).items():
        turns = []
        for turn in range(TURNS):
            late = f"late-{tag}-{name}-{turn}".replace(" ", "_")
            archive.add(
                [Interaction(late, END - turn * 3 * DAY_MICROS - HOUR_MICROS, "q", answer="a")]
            ).result()
            turns.append(timed(ask))
        figures[name] = max(turns)
        print(f"  {name}: {figures[name][0]:.3f} s", file=sys.stderr, flush=True)
    return figures | bursts(archive, tag)


def bursts(archive: Archive, tag: int) -> dict[str, Any]:
    """The first window after many changes at once, all over the 30 days."""
    rng = random.Random(tag)
    day, month = (
        partial(summarise_window, archive, one, until=END, by="tenant") for one in ("24h", "30d")
    )
    figures: dict[str, Any] = {}

    def scattered(count: int) -> list[int]:
        return [START + rng.randrange(DAYS * DAY_MICROS) for _ in range(count)]

    some = [Interaction(f"burst-{tag}-{n}", at, "q") for n, at in enumerate(scattered(100))]
    archive.add(some).result()
    figures["24h by tenant, after 100 late events over 30 days"] = timed(day)
    figures["30d by tenant, right after that"] = timed(month)
    words = [Feedback(one.id, one.at + DAY_MICROS, 0.0) for one in some]
    archive.add_feedback(words).result()
    figures["30d by tenant, after 100 late words over 30 days"] = timed(month)
    archive.purge(ids=[one.id for one in some])
    figures["30d by tenant, after 100 were forgotten"] = timed(month)
    return figures


def timed(work: Ask) -> tuple[float, float]:
    """Seconds on the clock, and of this process's own time."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return round(time.perf_counter() - wall, 3), round(time.process_time() - cpu, 3)


def run(place: str, count: int) -> dict[str, Any]:
    """Fill one store, unless it is full already, and measure it."""
    store = Store.open(place)
    archive = Archive(store)
    figures: dict[str, Any] = {}
    if not store.read("SELECT 1 FROM interactions LIMIT 1"):
        print(f"  filling {store.place}", file=sys.stderr, flush=True)
        figures["filled in"] = timed(lambda: make(archive, count))
    ((kept,),) = store.read("SELECT COUNT(*) FROM interactions")
    figures = {"interactions": kept, **figures, **measure(archive)}
    store.close()
    return figures


@contextmanager
def places(keep: Path | None, only: str | None) -> Iterator[dict[str, Callable[[], Any]]]:
    """Kind of store → what gives a context with its place."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import postgres  # type: ignore[import-not-found, unused-ignore]

    @contextmanager
    def sqlite(folder: Path) -> Iterator[str]:
        yield str(folder / "windows.db")

    @contextmanager
    def postgresql() -> Iterator[str]:
        with postgres.cluster(None if keep is None else keep.resolve() / "postgresql") as url:
            yield url.format("postgres")

    with tempfile.TemporaryDirectory() as folder:
        found: dict[str, Callable[[], Any]] = {"sqlite": partial(sqlite, keep or Path(folder))}
        if postgres.programs() is not None:
            found["postgresql"] = postgresql
        yield {name: one for name, one in found.items() if only in (None, name)}


def main() -> None:
    """Both stores, one after the other; exit code 1 when a window takes over a second."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--interactions", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path, help="folder for the stores; used again if there")
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    given = parser.parse_args()
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
    slow = []
    with places(given.keep, given.only) as kinds:
        for kind, opened in kinds.items():
            with opened() as place:
                figures = run(place, given.interactions)
            print(json.dumps({kind: figures}, indent=2, ensure_ascii=False), flush=True)
            slow += [
                f"{kind}: {name} took {spent[0]} s"
                for name, spent in figures.items()
                if not name.startswith(("interactions", "first", "filled"))
                and spent[0] > MOST_SECONDS
            ]
    if slow:
        raise SystemExit("\n".join(["", *slow]))


if __name__ == "__main__":
    main()
