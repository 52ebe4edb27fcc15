"""Do people ask something else? New topics, languages and lengths of questions, apart from the quality of answers.

Once a day's questions are in, a sample of them is compared with one of the reference period, three times with a test that is
looked at once: the share of questions far from all reference clusters (binomial), the shares of languages (χ²), the
distribution of lengths (Kolmogorov–Smirnov). Each gets a third of a thirtieth of the month's budget of false alarms, and a
difference must also be large enough to matter."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, median
from typing import TYPE_CHECKING, Any

from ragstone.monitor.alerts.alert import Reading
from ragstone.monitor.alerts.explanation import shortened
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import Interaction, from_micros
from ragstone.monitor.rollups.refresh import DAY
from ragstone.monitor.statements import SELECT, decoded
from ragstone.monitor.wording import sentence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SAMPLE = 400
"""Questions of the reference that are kept, and of a day that are looked at."""
LEAST = 40
"""Questions under which a day says nothing."""
CLUSTERS = 12
FAR = 0.05
"""Share of the reference's own questions that count as far from its clusters."""
MORE_FAR = 0.10
"""Further share of far questions that matters."""
OTHER_SHARE = 0.15
"""Change of a language's share that matters."""
OTHER_LENGTH = 0.20
"""Distance between two distributions of lengths that matters."""


@dataclass(frozen=True, slots=True)
class Usual:
    """What the questions of the reference period are like."""

    centres: NDArray[np.float32]
    cut: float
    """Likeness to the nearest centre below which a question is far."""
    lengths: tuple[int, ...]
    languages: Mapping[str, int]

    def dump(self) -> str:
        """As JSON."""
        return json.dumps(
            {
                "centres": [[round(float(x), 5) for x in row] for row in self.centres],
                "cut": self.cut,
                "lengths": self.lengths,
                "languages": dict(self.languages),
            }
        )

    @classmethod
    def load(cls, text: str) -> Usual:
        """What `dump` wrote."""
        import numpy as np

        item = json.loads(text)
        centres = np.array(item["centres"], np.float32)
        return cls(centres, item["cut"], tuple(item["lengths"]), item["languages"])


def learn_questions(some: Sequence[Interaction]) -> Usual | None:
    """The usual questions; None when there are too few. Half make the clusters, half say what is far from them."""
    import numpy as np

    asked = [one for one in some if one.question]
    if len(asked) < 2 * LEAST:
        return None
    vectors = _vectors(asked)
    centres = _centres(vectors[::2])
    near = (vectors[1::2] @ centres.T).max(axis=1)
    return Usual(
        centres,
        float(np.quantile(near, FAR)),
        tuple(sorted(len(one.question or "") for one in asked)),
        dict(sorted(Counter(one.language for one in asked if one.language).items())),
    )


def compare_questions(
    usual: Usual, some: Sequence[Interaction], day: str, budget: float, resolve: int
) -> list[Reading]:
    """What of a day's questions differs; `budget` is false alarms a month for all three looks."""
    asked = [one for one in some if one.question]
    level = budget / 3 / 30
    return [
        _topics(usual, asked, day, level, resolve),
        _languages(usual, asked, day, level, resolve),
        _lengths(usual, asked, day, level, resolve),
    ]


def sampled(archive: Archive, since: int, until: int) -> list[Interaction]:
    """Interactions spread evenly over a stretch, at most SAMPLE."""
    ((count,),) = archive.store.read(
        "SELECT COUNT(*) FROM interactions WHERE at >= ? AND at < ?", (since, until)
    )
    step = max(1, math.ceil(count / SAMPLE))
    numbers = [
        number
        for place, (number,) in enumerate(
            archive.store.stream(
                "SELECT number FROM interactions WHERE at >= ? AND at < ? ORDER BY at, number",
                (since, until),
            )
        )
        if place % step == 0
    ]
    found = []
    for number in numbers:
        found += [decoded(row) for row in archive.store.read(_ONE, (number,))]
    return found


_ONE = SELECT + " WHERE i.number = ?"


def day_name(at: int) -> str:
    """The day that a time falls into."""
    return from_micros(at - at % DAY).date().isoformat()


def _topics(
    usual: Usual, asked: Sequence[Interaction], day: str, level: float, resolve: int
) -> Reading:
    if len(asked) < LEAST:
        return Reading("questions:topics", "questions", "unknown")
    near = (_vectors(asked) @ usual.centres.T).max(axis=1)
    far = near < usual.cut
    count, n = int(far.sum()), len(asked)
    odd = count / n - FAR >= MORE_FAR and _binomial_tail(count, n, FAR) < level
    first = sorted(range(n), key=lambda place: float(near[place]))[:3]
    facts = {
        "phrase": "topics",
        "share": count / n,
        "expected": FAR,
        "day": day,
        "examples": [
            {"id": asked[place].id, "question": shortened(asked[place].question)} for place in first
        ],
    }
    return _reading("topics", odd, facts, resolve)


def _languages(
    usual: Usual, asked: Sequence[Interaction], day: str, level: float, resolve: int
) -> Reading:
    now = Counter(one.language for one in asked if one.language)
    n, m = sum(now.values()), sum(usual.languages.values())
    if n < LEAST or m < LEAST:
        return Reading("questions:languages", "questions", "unknown")
    names = sorted({*now, *usual.languages})
    statistic = 0.0
    moved = {}
    for name in names:
        a, b = now.get(name, 0), usual.languages.get(name, 0)
        expected = (a + b) / (n + m)
        statistic += (a - n * expected) ** 2 / (n * expected)
        statistic += (b - m * expected) ** 2 / (m * expected)
        moved[name] = a / n - b / m
    most = max(moved, key=lambda name: abs(moved[name]))
    odd = abs(moved[most]) >= OTHER_SHARE and _chi_tail(statistic, len(names) - 1) < level
    facts = {
        "phrase": "languages",
        "day": day,
        "most": most,
        "after": now.get(most, 0) / n,
        "before": usual.languages.get(most, 0) / m,
        "examples": [
            {"id": one.id, "question": shortened(one.question)}
            for one in asked
            if one.language == most
        ][:3],
    }
    return _reading("languages", odd, facts, resolve)


def _lengths(
    usual: Usual, asked: Sequence[Interaction], day: str, level: float, resolve: int
) -> Reading:
    import numpy as np

    if len(asked) < LEAST:
        return Reading("questions:lengths", "questions", "unknown")
    now = np.sort([len(one.question or "") for one in asked])
    before = np.array(usual.lengths)
    grid = np.union1d(now, before)
    gap = np.searchsorted(now, grid, "right") / len(now) - np.searchsorted(
        before, grid, "right"
    ) / len(before)
    distance = float(np.abs(gap).max())
    n = len(now) * len(before) / (len(now) + len(before))
    odd = distance >= OTHER_LENGTH and 2 * math.exp(-2 * n * distance**2) < level
    middle = float(median(usual.lengths))
    ordered = sorted(asked, key=lambda one: -abs(len(one.question or "") - middle))
    facts = {
        "phrase": "lengths",
        "day": day,
        "before": middle,
        "after": float(np.median(now)),
        "distance": distance,
        "examples": [{"id": one.id, "question": shortened(one.question)} for one in ordered[:3]],
    }
    return _reading("lengths", odd, facts, resolve)


def _reading(what: str, odd: bool, facts: dict[str, Any], resolve: int) -> Reading:
    return Reading(
        f"questions:{what}",
        "questions",
        "firing" if odd else "ok",
        title=sentence(facts),
        facts=facts,
        resolve=resolve,
    )


def _vectors(asked: Sequence[Interaction]) -> NDArray[np.float32]:
    from ragstone.text.encoder import encode

    return encode([one.question or "" for one in asked])


def _centres(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit centres by spherical k-means from evenly spread starts: the same questions give the same centres."""
    import numpy as np

    count = min(CLUSTERS, len(vectors) // 5)
    centres = vectors[np.linspace(0, len(vectors) - 1, count).astype(int)]
    for _ in range(15):
        home = (vectors @ centres.T).argmax(axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, home, vectors)
        size = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(size > 1e-9, sums / np.maximum(size, 1e-9), centres)
    return np.asarray(centres, np.float32)


def _binomial_tail(count: int, n: int, p: float) -> float:
    """P(X ≥ count) for n draws with chance p."""
    logs = [
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        + k * math.log(p) + (n - k) * math.log1p(-p)
        for k in range(count, n + 1)
    ]  # fmt: skip
    return math.fsum(math.exp(one) for one in logs)


def _chi_tail(statistic: float, freedom: int) -> float:
    """P(χ² ≥ statistic) by Wilson and Hilferty's cube root, near enough for a limit."""
    if freedom < 1:
        return 1.0
    shift = 2 / (9 * freedom)
    z = ((statistic / freedom) ** (1 / 3) - (1 - shift)) / math.sqrt(shift)
    return 1 - NormalDist().cdf(z)
