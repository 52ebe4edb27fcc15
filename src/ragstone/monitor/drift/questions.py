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

from ragstone.monitor.alert_text import format_alert
from ragstone.monitor.alerts.alert import RuleResult
from ragstone.monitor.alerts.explanation import shorten_text
from ragstone.monitor.archive import Archive
from ragstone.monitor.interactions import Interaction, from_micros
from ragstone.monitor.statements import DAY_MICROS, SELECT_INTERACTION, decode_interaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_SAMPLED_QUESTIONS = 400
"""Questions of the reference that are kept, and of a day that are looked at."""
MIN_QUESTIONS = 40
"""Questions under which a day says nothing."""
MAX_CLUSTERS = 12
FAR_SHARE = 0.05
"""Share of the reference's own questions that count as far from its clusters."""
MIN_FAR_INCREASE = 0.10
"""Further share of far questions that matters."""
MIN_LANGUAGE_SHIFT = 0.15
"""Change of a language's share that matters."""
MIN_LENGTH_DISTANCE = 0.20
"""Distance between two distributions of lengths that matters."""


@dataclass(frozen=True, slots=True)
class QuestionProfile:
    """What the questions of the reference period are like."""

    centres: NDArray[np.float32]
    cut: float
    """Likeness to the nearest centre below which a question is far."""
    lengths: tuple[int, ...]
    languages: Mapping[str, int]

    def to_json(self) -> str:
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
    def from_json(cls, text: str) -> QuestionProfile:
        """What `dump` wrote."""
        import numpy as np

        item = json.loads(text)
        centres = np.array(item["centres"], np.float32)
        return cls(centres, item["cut"], tuple(item["lengths"]), item["languages"])


def build_question_profile(some: Sequence[Interaction]) -> QuestionProfile | None:
    """The usual questions; None when there are too few. Half make the clusters, half say what is far from them."""
    import numpy as np

    asked = [one for one in some if one.question]
    if len(asked) < 2 * MIN_QUESTIONS:
        return None
    vectors = _encode_questions(asked)
    centres = _compute_centres(vectors[::2])
    near = (vectors[1::2] @ centres.T).max(axis=1)
    return QuestionProfile(
        centres,
        float(np.quantile(near, FAR_SHARE)),
        tuple(sorted(len(one.question or "") for one in asked)),
        dict(sorted(Counter(one.language for one in asked if one.language).items())),
    )


def compare_questions(
    usual: QuestionProfile, some: Sequence[Interaction], day: str, budget: float, resolve: int
) -> list[RuleResult]:
    """What of a day's questions differs; `budget` is false alarms a month for all three looks."""
    asked = [one for one in some if one.question]
    level = budget / 3 / 30
    return [
        _compare_topics(usual, asked, day, level, resolve),
        _compare_languages(usual, asked, day, level, resolve),
        _compare_lengths(usual, asked, day, level, resolve),
    ]


def sample_interactions(archive: Archive, since: int, until: int) -> list[Interaction]:
    """Interactions spread evenly over a stretch, at most SAMPLE."""
    ((count,),) = archive.store.read(
        "SELECT COUNT(*) FROM interactions WHERE at >= ? AND at < ?", (since, until)
    )
    step = max(1, math.ceil(count / MAX_SAMPLED_QUESTIONS))
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
        found += [
            decode_interaction(row) for row in archive.store.read(_SELECT_BY_NUMBER, (number,))
        ]
    return found


_SELECT_BY_NUMBER = SELECT_INTERACTION + " WHERE i.number = ?"


def format_day(at: int) -> str:
    """The day that a time falls into."""
    return from_micros(at - at % DAY_MICROS).date().isoformat()


def _compare_topics(
    usual: QuestionProfile, asked: Sequence[Interaction], day: str, level: float, resolve: int
) -> RuleResult:
    if len(asked) < MIN_QUESTIONS:
        return RuleResult("questions:topics", "questions", "unknown")
    near = (_encode_questions(asked) @ usual.centres.T).max(axis=1)
    far = near < usual.cut
    count, n = int(far.sum()), len(asked)
    odd = count / n - FAR_SHARE >= MIN_FAR_INCREASE and _binomial_tail(count, n, FAR_SHARE) < level
    first = sorted(range(n), key=lambda place: float(near[place]))[:3]
    facts = {
        "phrase": "topics",
        "share": count / n,
        "expected": FAR_SHARE,
        "day": day,
        "examples": [
            {"id": asked[place].id, "question": shorten_text(asked[place].question)}
            for place in first
        ],
    }
    return _build_result("topics", odd, facts, resolve)


def _compare_languages(
    usual: QuestionProfile, asked: Sequence[Interaction], day: str, level: float, resolve: int
) -> RuleResult:
    now = Counter(one.language for one in asked if one.language)
    n, m = sum(now.values()), sum(usual.languages.values())
    if n < MIN_QUESTIONS or m < MIN_QUESTIONS:
        return RuleResult("questions:languages", "questions", "unknown")
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
    odd = abs(moved[most]) >= MIN_LANGUAGE_SHIFT and _chi_tail(statistic, len(names) - 1) < level
    facts = {
        "phrase": "languages",
        "day": day,
        "most": most,
        "after": now.get(most, 0) / n,
        "before": usual.languages.get(most, 0) / m,
        "examples": [
            {"id": one.id, "question": shorten_text(one.question)}
            for one in asked
            if one.language == most
        ][:3],
    }
    return _build_result("languages", odd, facts, resolve)


def _compare_lengths(
    usual: QuestionProfile, asked: Sequence[Interaction], day: str, level: float, resolve: int
) -> RuleResult:
    import numpy as np

    if len(asked) < MIN_QUESTIONS:
        return RuleResult("questions:lengths", "questions", "unknown")
    now = np.sort([len(one.question or "") for one in asked])
    before = np.array(usual.lengths)
    grid = np.union1d(now, before)
    gap = np.searchsorted(now, grid, "right") / len(now) - np.searchsorted(
        before, grid, "right"
    ) / len(before)
    distance = float(np.abs(gap).max())
    n = len(now) * len(before) / (len(now) + len(before))
    odd = distance >= MIN_LENGTH_DISTANCE and 2 * math.exp(-2 * n * distance**2) < level
    middle = float(median(usual.lengths))
    ordered = sorted(asked, key=lambda one: -abs(len(one.question or "") - middle))
    facts = {
        "phrase": "lengths",
        "day": day,
        "before": middle,
        "after": float(np.median(now)),
        "distance": distance,
        "examples": [{"id": one.id, "question": shorten_text(one.question)} for one in ordered[:3]],
    }
    return _build_result("lengths", odd, facts, resolve)


def _build_result(what: str, odd: bool, facts: dict[str, Any], resolve: int) -> RuleResult:
    return RuleResult(
        f"questions:{what}",
        "questions",
        "firing" if odd else "ok",
        title=format_alert(facts),
        facts=facts,
        resolve=resolve,
    )


def _encode_questions(asked: Sequence[Interaction]) -> NDArray[np.float32]:
    from ragstone.text.encoder import encode

    return encode([one.question or "" for one in asked])


def _compute_centres(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit centres by spherical k-means from evenly spread starts: the same questions give the same centres."""
    import numpy as np

    count = min(MAX_CLUSTERS, len(vectors) // 5)
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
