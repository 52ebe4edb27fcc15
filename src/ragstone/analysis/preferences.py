"""Which of two runs gives the better answers, by a judge that saw each pair of answers in both orders.

An answer wins where it is preferred in both orders; everything else is a tie, half for each. Where the judge turns with the
order, that is counted apart: a judge that always prefers what stands first makes ties, never a winner."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ragstone.analysis.comparison import Comparison, Difference, to_exclusion_key
from ragstone.analysis.paired import compare_pairs
from ragstone.analysis.significance import ALPHA, Correction, mcnemar
from ragstone.analysis.verdicts import MeasuredDifference, decide_verdicts
from ragstone.locale.messages import compose

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

METRIC = "preference"
Vote = Literal["first", "second", "tie", "first_shown", "second_shown", "same"]
"""Which run's answer is preferred in both orders; neither; the one that is shown first, or second; the same answer."""
VALUES: Mapping[Vote, float] = {
    "first": 0.0, "second": 1.0, "tie": 0.5, "first_shown": 0.5, "second_shown": 0.5, "same": 0.5,
}  # fmt: skip
"""What a vote counts for the second run."""
MAX_TURNING = 0.1
"""Share of questions that turn with the order beyond which `equivalent` is not concluded: the judge did not tell."""
PRIOR_TIES = 1.0
"""Ties added between every two runs, so that a run that wins always has a strength."""
BOOTSTRAPS = 500


@dataclass(frozen=True, slots=True)
class Ballot:
    """What the judge said of one question, in both orders."""

    sample: str
    group: str
    """Questions of one group are not independent."""
    vote: Vote | None
    """None when the judge failed."""
    failure: str = ""
    """`judge_error: refusal`, when it did."""
    explanation: str = ""
    """Why it did, and what to do."""
    reasons: tuple[str, str] = ("", "")
    """With the first run's answer shown first, and second."""


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """The judge's votes beside what people prefer."""

    items: int
    same: int
    """Of those, where both say the same: first, second or tie."""
    kappa: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class PairPreference:
    """Two runs, question by question."""

    first: str
    """Id of the baseline."""
    second: str
    ballots: tuple[Ballot, ...]
    difference: Difference
    """With the verdict: `after` is the win rate of the second run, ties half."""
    order_p: float | None
    """How likely so uneven an effect of the order is by chance; None when no question turned."""
    agreement: LabelAgreement | None = None

    @property
    def counts(self) -> dict[Vote, int]:
        """How many questions got each vote."""
        found = Counter(ballot.vote for ballot in self.ballots)
        return {vote: found[vote] for vote in VALUES}

    @property
    def failed(self) -> int:
        """Questions without a usable vote."""
        return sum(ballot.vote is None for ballot in self.ballots)

    @property
    def win_interval(self) -> tuple[float, float] | None:
        """The corrected interval of the win rate."""
        low, high = self.difference.low, self.difference.high
        # the difference is that of two rates that add up to 1
        return None if low is None or high is None else ((low + 1) / 2, (high + 1) / 2)


@dataclass(frozen=True, slots=True)
class RankedRun:
    """A run in a Bradley–Terry ranking."""

    run: str
    strength: float
    """Logarithm of the odds to win against a run of average strength."""
    rate: float
    """Chance to win against the others, on average."""
    low: float
    """Lower end of its 95 % interval."""
    high: float
    tied: bool
    """Whether it cannot be told from the best one."""


@dataclass(frozen=True, slots=True)
class PreferenceStudy:
    """Every two runs compared by a judge."""

    judge: str
    baseline: str
    names: Mapping[str, str]
    """Id of a run → its name."""
    pairs: tuple[PairPreference, ...]
    ranking: tuple[RankedRun, ...] = ()
    """The best first; only with more than two runs."""

    def to_dict(self) -> dict[str, Any]:
        """The study as plain JSON, with the vote on every question."""
        plain: dict[str, Any] = asdict(self)
        for row, pair in zip(plain["pairs"], self.pairs, strict=True):
            row["counts"], row["failed"] = pair.counts, pair.failed
        return plain

    def find_pair(self, run: str) -> PairPreference | None:
        """The pair of the baseline and a run."""
        wanted = (self.baseline, run)
        return next((pair for pair in self.pairs if (pair.first, pair.second) == wanted), None)


def choose_vote(shown_first: str, shown_second: str) -> Vote:
    """The vote of two replies (A, B or tie): with the first run's answer as A, and as B."""
    return _VOTES.get((shown_first, shown_second), "tie")


_VOTES: Mapping[tuple[str, str], Vote] = {
    ("A", "B"): "first",
    ("B", "A"): "second",
    ("A", "A"): "first_shown",
    ("B", "B"): "second_shown",
}


def decide_preferences(
    ballots: Mapping[tuple[str, str], Sequence[Ballot]],
    *,
    margin: float,
    correction: Correction,
    floor: float,
    effect: float | None = None,
) -> list[PairPreference]:
    """The verdict on each pair of runs (by their ids), corrected for all pairs."""
    measured = [_measure_pair(*pair, given, margin) for pair, given in ballots.items()]
    decided, _ = decide_verdicts(measured, correction, floor, effect)
    return [
        _finish_pair(*pair, given, difference)
        for (pair, given), difference in zip(ballots.items(), decided, strict=True)
    ]


def rank_runs(pairs: Sequence[PairPreference], seed: int = 1) -> tuple[RankedRun, ...]:
    """Rank runs by Bradley and Terry's model, with intervals from questions drawn anew."""
    import numpy as np

    runs = list(dict.fromkeys(run for pair in pairs for run in (pair.first, pair.second)))
    wins = _tabulate_wins(pairs, runs)
    draws = np.random.default_rng(seed).multinomial(
        len(wins), np.full(len(wins), 1 / len(wins)), size=BOOTSTRAPS
    )
    counts = np.concatenate([np.ones((1, len(wins))), draws]) @ wins.reshape(len(wins), -1)
    strengths = _fit_strengths(counts.reshape(-1, len(runs), len(runs)))
    rates = _find_rates(strengths)
    best = int(np.argmax(strengths[0]))
    gaps = strengths[1:, best, None] - strengths[1:]
    lows, highs = np.quantile(rates[1:], [ALPHA / 2, 1 - ALPHA / 2], axis=0)
    closest = np.quantile(gaps, ALPHA / 2, axis=0)
    ranked = [
        RankedRun(run, float(strengths[0, n]), float(rates[0, n]), float(lows[n]), float(highs[n]), n == best or float(closest[n]) <= 0)
        for n, run in enumerate(runs)
    ]  # fmt: skip
    return tuple(sorted(ranked, key=lambda entry: -entry.strength))


def attach_preferences(comparison: Comparison, study: PreferenceStudy) -> Comparison:
    """The comparison with a difference more for each run: who wins against the baseline."""
    versus = []
    for compared in comparison.versus:
        pair = study.find_pair(compared.run.id)
        added = () if pair is None else (pair.difference,)
        versus.append(replace(compared, differences=(*compared.differences, *added)))
    return replace(comparison, versus=tuple(versus))


def _measure_pair(
    first: str, second: str, ballots: Sequence[Ballot], margin: float
) -> MeasuredDifference:
    import numpy as np

    voted = [ballot for ballot in ballots if ballot.vote is not None]
    values = np.array([VALUES[ballot.vote] for ballot in voted if ballot.vote is not None])
    means = compare_pairs(1 - values, values, _number_groups(voted), bounds=(0.0, 1.0))
    plain = means.interval
    failures = Counter(
        to_exclusion_key("both", ballot.failure) for ballot in ballots if ballot.vote is None
    )
    difference = Difference(
        metric=METRIC, run=second, higher_is_better=True, bounds=(0.0, 1.0), resource=False,
        family="quality", pairs=means.pairs, applicable=len(ballots),
        coverage=means.pairs / len(ballots) if ballots else None, before=means.before,
        after=means.after, difference=means.difference, clusters=means.clusters, p=means.p,
        test=means.test, improved=means.risen, unchanged=means.pairs - means.risen - means.fallen,
        worsened=means.fallen, left_out=dict(failures.most_common()), margin=margin,
        plain_low=plain.low, plain_high=plain.high, warnings=plain.warnings,
    )  # fmt: skip
    is_same = bool(voted) and all(ballot.vote == "same" for ballot in voted)
    return MeasuredDifference(difference, means.interval_at, is_same)


def _finish_pair(
    first: str, second: str, ballots: Sequence[Ballot], difference: Difference
) -> PairPreference:
    pair = PairPreference(first, second, tuple(ballots), difference, None)
    counts = pair.counts
    shown_first, shown_second = counts["first_shown"], counts["second_shown"]
    turning, voted = shown_first + shown_second, difference.pairs
    if not turning:
        return pair
    p = mcnemar(shown_first, shown_second)
    place = compose("order_first" if shown_first > shown_second else "order_second")
    warning = compose("order_turns", n=turning, total=voted)
    if p <= ALPHA:
        # rounded up, so that none is shown as 0
        shown_p = math.ceil(1000 * p) / 1000
        warning = compose("order_effect", place=place, n=turning, total=voted, p=shown_p)
    decided = replace(difference, warnings=(*difference.warnings, warning))
    if difference.verdict in ("equivalent", "unclear") and turning > MAX_TURNING * voted:
        # more questions would not help: the judge does not tell the answers apart
        decided = replace(decided, verdict="unclear", needed=None, detectable=None)
    return replace(pair, difference=decided, order_p=p)


def _number_groups(ballots: Iterable[Ballot]) -> NDArray[np.int64] | None:
    """Numbers of the groups; None when every question is a group of its own."""
    import numpy as np

    numbers: dict[str, int] = {}
    groups = [numbers.setdefault(ballot.group, len(numbers)) for ballot in ballots]
    return np.array(groups, np.int64) if len(numbers) < len(groups) else None


def _tabulate_wins(pairs: Sequence[PairPreference], runs: Sequence[str]) -> NDArray[np.float64]:
    """For each group of questions a table: how often the run of a row wins against that of a column."""
    import numpy as np

    places = {run: n for n, run in enumerate(runs)}
    tables: dict[str, Any] = {}
    for pair in pairs:
        first, second = places[pair.first], places[pair.second]
        for ballot in pair.ballots:
            if ballot.vote is not None:
                table = tables.setdefault(ballot.group, np.zeros((len(runs), len(runs))))
                table[second, first] += VALUES[ballot.vote]
                table[first, second] += 1 - VALUES[ballot.vote]
    return np.array(list(tables.values()) or [np.zeros((len(runs), len(runs)))])


def _fit_strengths(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Strengths of the runs for each table of wins, by Hunter's minorisation (2004); their mean is 0."""
    import numpy as np

    size = wins.shape[-1]
    wins = wins + PRIOR_TIES / 2 * (1 - np.eye(size))
    games = wins + wins.transpose(0, 2, 1)
    powers = np.ones(wins.shape[:2])
    for _ in range(200):
        weights = games / (powers[:, :, None] + powers[:, None, :])
        powers = wins.sum(axis=2) / weights.sum(axis=2)
        powers /= np.exp(np.log(powers).mean(axis=1, keepdims=True))
    strengths: NDArray[np.float64] = np.log(powers)
    return strengths


def _find_rates(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance of each run to win against another one, on average over the others."""
    import numpy as np

    gaps = strengths[:, :, None] - strengths[:, None, :]
    chances = 1 / (1 + np.exp(-gaps))
    rates: NDArray[np.float64] = (chances.sum(axis=2) - 0.5) / (strengths.shape[1] - 1)
    return rates
