"""Drift of the questions: new topics, languages and lengths, independent of the quality of the answers.

A sample of each complete day's questions is compared with one of the reference period by three tests, each run once per day:
the share of questions far from all reference clusters (binomial), the shares of languages (χ²), and the distribution of
lengths (Kolmogorov–Smirnov). Each gets a third of a thirtieth of the monthly budget of false alarms, and a difference must
also be large enough to matter."""

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
"""Questions sampled from the reference period, and from each day."""
MIN_QUESTIONS = 40
"""A day with fewer questions is not tested."""
MAX_CLUSTERS = 12
FAR_SHARE = 0.05
"""Share of the reference questions themselves that count as far from their clusters."""
MIN_FAR_INCREASE = 0.10
"""Smallest relevant increase of the share of far questions."""
MIN_LANGUAGE_SHIFT = 0.15
"""Smallest relevant change of a language's share."""
MIN_LENGTH_DISTANCE = 0.20
"""Smallest relevant Kolmogorov–Smirnov distance between two distributions of lengths."""
MIN_LENGTH_CHANGE = 0.20
"""Smallest relevant change of a quantile of the lengths: questions of one mould differ by a letter, all of them at once."""


@dataclass(frozen=True, slots=True)
class QuestionProfile:
    """What the questions of the reference period are like."""

    centres: NDArray[np.float32]
    """Unit vectors, the centres of clusters of questions, one per row."""
    cut: float
    """Similarity to the nearest centre below which a question is far."""
    lengths: tuple[int, ...]
    """Characters of each question, ascending."""
    languages: Mapping[str, int]
    """Language → number of questions."""

    def to_json(self) -> str:
        """The profile as JSON text."""
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
        """The profile that `to_json` wrote."""
        import numpy as np

        item = json.loads(text)
        centres = np.array(item["centres"], np.float32)
        return cls(centres, item["cut"], tuple(item["lengths"]), item["languages"])


def build_question_profile(questions: Sequence[Interaction]) -> QuestionProfile | None:
    """The profile of some questions; None when there are too few. One half makes the clusters, the other sets what is far."""
    import numpy as np

    asked = [interaction for interaction in questions if interaction.question]
    if len(asked) < 2 * MIN_QUESTIONS:
        return None
    vectors = _encode_questions(asked)
    centres = _compute_centres(vectors[::2])
    # vectors have unit length, so the product is their cosine; the half that made the centres would
    # look too near to them
    similarity = (vectors[1::2] @ centres.T).max(axis=1)
    return QuestionProfile(
        centres,
        float(np.quantile(similarity, FAR_SHARE)),
        tuple(sorted(len(interaction.question or "") for interaction in asked)),
        dict(
            sorted(
                Counter(
                    interaction.language for interaction in asked if interaction.language
                ).items()
            )
        ),
    )


def compare_questions(
    profile: QuestionProfile,
    interactions: Sequence[Interaction],
    day: str,
    budget: float,
    resolve: int,
) -> list[RuleResult]:
    """The results of a day's questions; `budget` is false alarms per month for all three tests, `resolve` as in RuleResult."""
    asked = [interaction for interaction in interactions if interaction.question]
    # three tests, thirty days: together they use the monthly budget
    level = budget / 3 / 30
    return [
        _compare_topics(profile, asked, day, level, resolve),
        _compare_languages(profile, asked, day, level, resolve),
        _compare_lengths(profile, asked, day, level, resolve),
    ]


def sample_interactions(archive: Archive, since: int, until: int) -> list[Interaction]:
    """Interactions spread evenly over a time range, at most MAX_SAMPLED_QUESTIONS."""
    ((count,),) = archive.store.read(
        "SELECT COUNT(*) FROM interactions WHERE at >= ? AND at < ?", (since, until)
    )
    step = max(1, math.ceil(count / MAX_SAMPLED_QUESTIONS))
    numbers = [
        number
        for position, (number,) in enumerate(
            archive.store.stream(
                "SELECT number FROM interactions WHERE at >= ? AND at < ? ORDER BY at, number",
                (since, until),
            )
        )
        if position % step == 0
    ]
    interactions = []
    for number in numbers:
        interactions += [
            decode_interaction(row) for row in archive.store.read(_SELECT_BY_NUMBER, (number,))
        ]
    return interactions


_SELECT_BY_NUMBER = SELECT_INTERACTION + " WHERE i.number = ?"


def format_day(at: int) -> str:
    """The day that a time falls into, UTC, as ISO 8601."""
    return from_micros(at - at % DAY_MICROS).date().isoformat()


def _compare_topics(
    profile: QuestionProfile, asked: Sequence[Interaction], day: str, level: float, resolve: int
) -> RuleResult:
    if len(asked) < MIN_QUESTIONS:
        return RuleResult("questions:topics", "questions", "unknown")
    similarity = (_encode_questions(asked) @ profile.centres.T).max(axis=1)
    far = similarity < profile.cut
    count, n = int(far.sum()), len(asked)
    differs = (
        count / n - FAR_SHARE >= MIN_FAR_INCREASE and _binomial_tail(count, n, FAR_SHARE) < level
    )
    farthest = sorted(range(n), key=lambda position: float(similarity[position]))[:3]
    facts = {
        "phrase": "topics",
        "share": count / n,
        "expected": FAR_SHARE,
        "day": day,
        "examples": [
            {"id": asked[position].id, "question": shorten_text(asked[position].question)}
            for position in farthest
        ],
    }
    return _build_result("topics", differs, facts, resolve)


def _compare_languages(
    profile: QuestionProfile, asked: Sequence[Interaction], day: str, level: float, resolve: int
) -> RuleResult:
    now = Counter(interaction.language for interaction in asked if interaction.language)
    # questions now and in the reference period; below, a and b are those in one language
    n, m = sum(now.values()), sum(profile.languages.values())
    if n < MIN_QUESTIONS or m < MIN_QUESTIONS:
        return RuleResult("questions:languages", "questions", "unknown")
    names = sorted({*now, *profile.languages})
    statistic = 0.0
    shifts = {}
    for name in names:
        a, b = now.get(name, 0), profile.languages.get(name, 0)
        expected = (a + b) / (n + m)
        statistic += (a - n * expected) ** 2 / (n * expected)
        statistic += (b - m * expected) ** 2 / (m * expected)
        shifts[name] = a / n - b / m
    largest = max(shifts, key=lambda name: abs(shifts[name]))
    differs = (
        abs(shifts[largest]) >= MIN_LANGUAGE_SHIFT and _chi_tail(statistic, len(names) - 1) < level
    )
    facts = {
        "phrase": "languages",
        "day": day,
        "most": largest,
        "after": now.get(largest, 0) / n,
        "before": profile.languages.get(largest, 0) / m,
        "examples": [
            {"id": interaction.id, "question": shorten_text(interaction.question)}
            for interaction in asked
            if interaction.language == largest
        ][:3],
    }
    return _build_result("languages", differs, facts, resolve)


def _compare_lengths(
    profile: QuestionProfile, asked: Sequence[Interaction], day: str, level: float, resolve: int
) -> RuleResult:
    import numpy as np

    if len(asked) < MIN_QUESTIONS:
        return RuleResult("questions:lengths", "questions", "unknown")
    now = np.sort([len(interaction.question or "") for interaction in asked])
    before = np.array(profile.lengths)
    grid = np.union1d(now, before)
    gap = np.searchsorted(now, grid, "right") / len(now) - np.searchsorted(
        before, grid, "right"
    ) / len(before)
    distance = float(np.abs(gap).max())
    n = len(now) * len(before) / (len(now) + len(before))  # effective size of two samples
    # the first term of the Kolmogorov series; the rest is negligible at such levels
    is_surprising = 2 * math.exp(-2 * n * distance**2) < level
    shares = (0.1, 0.25, 0.5, 0.75, 0.9)
    change = np.abs(np.quantile(now, shares) / np.maximum(np.quantile(before, shares), 1) - 1).max()
    differs = distance >= MIN_LENGTH_DISTANCE and change >= MIN_LENGTH_CHANGE and is_surprising
    middle = float(median(profile.lengths))
    ordered = sorted(asked, key=lambda interaction: -abs(len(interaction.question or "") - middle))
    facts = {
        "phrase": "lengths",
        "day": day,
        "before": middle,
        "after": float(np.median(now)),
        "distance": distance,
        "examples": [
            {"id": interaction.id, "question": shorten_text(interaction.question)}
            for interaction in ordered[:3]
        ],
    }
    return _build_result("lengths", differs, facts, resolve)


def _build_result(test: str, differs: bool, facts: dict[str, Any], resolve: int) -> RuleResult:
    return RuleResult(
        f"questions:{test}",
        "questions",
        "firing" if differs else "ok",
        title=format_alert(facts),
        facts=facts,
        resolve=resolve,
    )


def _encode_questions(asked: Sequence[Interaction]) -> NDArray[np.float32]:
    from ragstone.text.encoder import encode

    return encode([interaction.question or "" for interaction in asked])


def _compute_centres(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit centres by spherical k-means from evenly spread starts, not random ones: the same questions give the same centres."""
    import numpy as np

    count = min(MAX_CLUSTERS, len(vectors) // 5)
    centres = vectors[np.linspace(0, len(vectors) - 1, count).astype(int)]
    for _ in range(15):
        nearest = (vectors @ centres.T).argmax(axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, vectors)
        size = np.linalg.norm(sums, axis=1, keepdims=True)
        # a cluster that no vector is nearest to keeps its centre
        centres = np.where(size > 1e-9, sums / np.maximum(size, 1e-9), centres)
    return np.asarray(centres, np.float32)


def _binomial_tail(count: int, n: int, p: float) -> float:
    """P(X ≥ count) of a binomial distribution with n draws and probability p."""
    logs = [
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        + k * math.log(p) + (n - k) * math.log1p(-p)
        for k in range(count, n + 1)
    ]  # fmt: skip
    return math.fsum(math.exp(value) for value in logs)


def _chi_tail(statistic: float, degrees: int) -> float:
    """P(χ² ≥ statistic) by the Wilson–Hilferty approximation, precise enough for a threshold."""
    if degrees < 1:
        return 1.0
    shift = 2 / (9 * degrees)
    z = ((statistic / degrees) ** (1 / 3) - (1 - shift)) / math.sqrt(shift)
    return 1 - NormalDist().cdf(z)
