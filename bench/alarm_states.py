"""Silence, a failing judge and other questions, through a store: what the watcher says after each look.

A month here is its reference week and what follows, with ten to twenty judged answers an hour instead of a hundred, so that
200 of them fit into minutes. bench/alarms.py simulates the drop test itself at full size.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ragstone.config.alerts import Alerts
from ragstone.monitor.alerts.evaluation import evaluate_alerts
from ragstone.monitor.archive import Archive, ScoredInteraction
from ragstone.monitor.interactions import Interaction, to_micros
from ragstone.monitor.statements import HOUR_MICROS
from ragstone.store import Store
from ragstone.types import Score

START = to_micros(datetime(2026, 5, 1, tzinfo=UTC))
WEEK = 168
QUIET = Alerts(questions=False, thresholds=())
PARTS = ("pump", "valve", "filter", "motor", "hose", "sensor", "seal", "tank")
USUAL = (
    "How long is the warranty of the {}?",
    "How do I clean the {}?",
    "Where can I buy a spare {}?",
)
OTHER = ("Which wine goes with grilled sea bass?", "Who won the chess championship in 1972?")


class Month:
    """A store that fills hour by hour."""

    def __init__(self, archive: Archive, seed: int) -> None:
        self.archive, self.rng, self.hour = archive, random.Random(seed), 0

    @property
    def now(self) -> int:
        """The end of the last hour."""
        return START + self.hour * HOUR_MICROS

    def go(
        self, hours: int, n: int, *, failures: float = 0.0, bad: float = 0.0, other: float = 0.0
    ) -> None:
        """Hours of answers: shares of failed judgements, of bad answers and of questions about something else."""
        asked, scores = [], []
        for _ in range(hours):
            for k in range(n):
                text = self.rng.choice(USUAL).format(self.rng.choice(PARTS))
                if self.rng.random() < other:
                    text = self.rng.choice(OTHER)
                one = Interaction(f"{self.hour}-{k}", self.now + k, text, answer="Two years.")
                asked.append(one)
                scores.append(
                    ScoredInteraction(one.id, {"faithfulness": self._score(failures, bad)})
                )
            self.hour += 1
        self.archive.add(asked).result()
        self.archive.save_scores(scores).result()

    def _score(self, failures: float, bad: float) -> Score:
        shape = self.rng.random()
        value = 1.0 if shape < 0.55 else 0.0 if shape < 0.63 else self.rng.betavariate(4, 2)
        if self.rng.random() < bad:
            value = 0.0
        # A judge fails on good answers more often: what it leaves looks worse than the answers are.
        if self.rng.random() < failures * (1.35 if value == 1 else 0.57):
            return Score(outcome="judge_error", reason="the judge was cut off")
        return Score(value)

    def look(self, settings: Alerts = QUIET) -> set[str]:
        """The rules whose alerts are on: firing, no_data or judge_failing."""
        found = evaluate_alerts(self.archive, settings, self.now).open
        return {one.rule for one in found if one.state != "pending"}


@contextmanager
def month(seed: int) -> Iterator[Month]:
    """An empty store, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(Path(folder) / "live.db")
        try:
            yield Month(Archive(store), seed)
        finally:
            store.close()


def silent(seed: int) -> bool:
    """24 hours without data are no_data and nothing else, 23 are not, and data ends it."""
    with month(seed) as one:
        one.go(WEEK + 24, 10)
        before = one.look()
        one.hour += 23
        early = one.look()
        one.hour += 2  # the last interaction came early in the last hour
        late = one.look()
        one.go(1, 10)
        return (before, early, late, one.look()) == (set(), set(), {"no_data"}, set())


def failing(seed: int) -> bool:
    """Where the judge fails on 30 %, the state is judge_failing and no look finds a drop of quality."""
    with month(seed) as one:
        one.go(WEEK + 24, 20)
        found = [one.look()]
        for _ in range(12):
            one.go(1, 20, failures=0.3)
            found.append(one.look())
        one.go(36, 20, failures=0.3)
        last = one.look()
        return last == {"judge_failing:faithfulness"} and not any(
            rule.startswith("drop:") for look in found for rule in look
        )


def apart(seed: int) -> tuple[bool, bool]:
    """Other questions with good answers are no drop; bad answers to the usual questions are no other questions."""
    settings = Alerts(thresholds=())
    with month(seed) as one:
        one.go(WEEK + 24, 10)
        one.go(24, 10, other=0.4)
        asked = one.look(settings)
    with month(seed + 1) as one:
        one.go(WEEK + 24, 10)
        one.go(24, 10, bad=0.3)
        fell = one.look(settings)
    quality = any(rule.startswith("drop:") for rule in asked)
    return "questions:topics" in asked and not quality, fell == {"drop:faithfulness"}


def states(months: int, seed: int) -> dict[str, object]:
    """The share of months that went as they should."""

    def share(check: Callable[[int], bool], count: int) -> float:
        return sum(check(seed * 1000 + number) for number in range(count)) / count

    few = max(1, months // 10)
    pairs = [apart(seed * 1000 + 2 * number) for number in range(few)]
    return {
        "24 h without data: no_data, and nothing else": share(silent, months),
        "30 % judge failures: judge_failing, and no drop": share(failing, months),
        f"other questions are no drop ({few} months)": sum(asked for asked, _ in pairs) / few,
        f"a drop is no other questions ({few} months)": sum(fell for _, fell in pairs) / few,
    }
