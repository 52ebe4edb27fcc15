"""How many questions of which kind: targets by weight, what was made so far, and kinds that are given up."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ragstone.errors import RagstoneError, suggest_nearest
from ragstone.testset.items import KINDS, UNANSWERABLE

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "unanswerable": ("out_of_scope", "near_miss"),
        "reasoning": ("numeric", "temporal", "aggregation", "bridge", "comparison"),
        "adversarial": (
            "distractor", "negation", "false_premise", "paraphrase", "typos", "informal",
            "two_in_one", "hidden_instruction",
        ),
    }
)  # fmt: skip
"""Names for several kinds, which share the weight."""

JUDGED_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "factual": 5, "conceptual": 3, "how_to": 2, "detail": 3, "multi_document": 2, "out_of_scope": 1,
        "near_miss": 1, "distractor": 1, "negation": 1, "false_premise": 1, "paraphrase": 1,
        "typos": 0.5, "informal": 0.5, "two_in_one": 1, "follow_up": 1,
    }
)  # fmt: skip
"""The mix when none is asked for; a hidden instruction needs a document that holds one, so it must be asked for."""

RULE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "factual": 4, "conceptual": 4, "how_to": 3, "detail": 4, "aggregation": 2, "near_miss": 2,
        "typos": 0.5, "informal": 0.5, "follow_up": 2,
    }
)  # fmt: skip
"""The mix when none is asked for and rules write, without a judge or with a small one: kinds that they make well."""
RULE_KINDS: frozenset[str] = frozenset({*RULE_WEIGHTS, "hidden_instruction"})
"""Kinds that can be made without a judge."""

MAX_RULE_SHARE = 0.4
"""Share of a set that one kind may fill without a judge, when more than two kinds are asked for.

Without this limit a corpus that yields one kind only would give a set of one pattern."""
CAPPED_FROM = 50
"""Size of a set from which MAX_RULE_SHARE applies; in a smaller one the full number matters more."""

MAX_FRUITLESS_DOCUMENTS = 150
"""Documents in a row that may fail to yield a kind before it is given up."""


class UnknownKind(RagstoneError):
    """A kind of question that does not exist, or a weight that is not a number from 0."""


def resolve_weights(
    given: Mapping[str, float] | str | None, *, judged: bool = True, small: bool = False
) -> dict[str, float]:
    """Kind → weight from a mapping or from `factual=3,unanswerable=1`; groups shared out, zeros left out.

    Without a judge a group stands for those of its kinds that rules make; naming any other kind is an error. `small`:
    the judge is a small model."""
    if given is None and small:
        return dict(RULE_WEIGHTS)
    if given is None:
        return dict(JUDGED_WEIGHTS if judged else RULE_WEIGHTS)
    named = _parse_weights(given) if isinstance(given, str) else dict(given)
    weights: dict[str, float] = {}
    for name, weight in named.items():
        members = GROUPS.get(name, (name,))
        if not judged and name in GROUPS:
            members = tuple(kind for kind in members if kind in RULE_KINDS)
        for kind in members:
            _check_weight(name, kind, weight, judged)
            weights[kind] = weights.get(kind, 0.0) + weight / len(members)
    positive = {kind: weights[kind] for kind in KINDS if weights.get(kind)}
    if not positive:
        raise UnknownKind("no kind has a weight above 0; write factual=3,multi_document=1")
    return positive


def _check_weight(name: str, kind: str, weight: object, judged: bool) -> None:
    if kind not in KINDS:
        raise UnknownKind(f"no kind {kind!r}{suggest_nearest(kind, [*KINDS, *GROUPS])}")
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise UnknownKind(f"the weight of {name!r} is {weight!r}; give a number")
    if not math.isfinite(weight) or weight < 0:
        raise UnknownKind(f"the weight of {name!r} is {weight!r}; give 0 or more")
    if not judged and weight and kind not in RULE_KINDS:
        raise UnknownKind(
            f"only a judge can write {kind!r} questions; give --judge, or choose from "
            f"{', '.join(known for known in KINDS if known in RULE_KINDS)}"
        )


def _parse_weights(text: str) -> dict[str, float]:
    named: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, weight = part.partition("=")
        try:
            named[name.strip().replace("-", "_")] = float(weight) if equals else 1.0
        except ValueError:
            raise UnknownKind(f"{part!r}: {weight!r} is not a weight; write {name}=2") from None
    return named


def split_by_weight(count: int, weights: Mapping[str, float]) -> dict[str, int]:
    """The count split in proportion to the weights, to whole numbers by largest remainder."""
    total = sum(weights.values())
    exact = {kind: count * weight / total for kind, weight in weights.items()}
    split = {kind: math.floor(share) for kind, share in exact.items()}
    # ties by the order of KINDS, so that the same request is split alike every time
    order = sorted(exact, key=lambda kind: (split[kind] - exact[kind], KINDS.index(kind)))
    for kind in order[: count - sum(split.values())]:
        split[kind] += 1
    return split


@dataclass(slots=True)
class Tally:
    """What is wanted of each kind, what was made, and which kinds the corpus does not yield."""

    weights: Mapping[str, float]
    asked: int
    """Items that are asked for."""
    target: dict[str, int] = field(init=False)
    """Kind → items wanted of it; `give_up` moves what one kind lacks to others."""
    made: Counter[str] = field(default_factory=Counter)
    max_share: float = 1.0
    """Share of all items up to which a kind may be raised when others are given up."""
    given_up: dict[str, int] = field(default_factory=dict)
    """Kind → the documents that were tried for it in vain."""
    _fruitless: Counter[str] = field(default_factory=Counter)
    """Kind → steps in a row that did not yield it."""

    def __post_init__(self) -> None:
        self.target = split_by_weight(self.asked, self.weights)

    @property
    def missing(self) -> int:
        """How many items are still wanted."""
        return max(0, self.asked - self.made.total())

    def list_wanted(self) -> dict[str, int]:
        """Kind → how many are still wanted, the kind that lags most first."""
        lacking = self.list_all_wanted()
        pace = self._limit_unanswerable()
        for kind in UNANSWERABLE.intersection(lacking):
            # else they could come first, and be most of a set that is stopped early
            lacking[kind] = min(lacking[kind], pace)
            if not lacking[kind]:
                del lacking[kind]
        return dict(
            sorted(
                lacking.items(),
                key=lambda entry: (
                    self.made[entry[0]] / self.target[entry[0]],
                    KINDS.index(entry[0]),
                ),
            )
        )

    def _limit_unanswerable(self) -> int:
        """How many questions without an answer may come next: they keep to their share of what is made so far."""
        wanted = sum(self.target.get(kind, 0) for kind in UNANSWERABLE)
        made = sum(self.made[kind] for kind in UNANSWERABLE)
        return max(0, math.ceil(wanted * (self.made.total() + 1) / self.asked) - made)

    def list_all_wanted(self) -> dict[str, int]:
        """Kind → how many are still wanted, unordered and without a limit on unanswerable ones; for orders to a judge."""
        return {
            kind: self.target[kind] - self.made[kind]
            for kind in self.target
            if self.target[kind] > self.made[kind]
        }

    def add_step(self, tried: Mapping[str, int], made: Counter[str], documents: int) -> None:
        """Count a step that tried these kinds and gave `made`; `documents` is the number of all documents.

        Of `tried` only the keys count. A kind that too many steps in a row did not yield is given up."""
        self.made += made
        for kind in tried:
            self._fruitless[kind] = 0 if made[kind] else self._fruitless[kind] + 1
            lacking = self.target.get(kind, 0) > self.made[kind]
            if lacking and self._fruitless[kind] >= min(MAX_FRUITLESS_DOCUMENTS, documents):
                self.give_up(kind, self._fruitless[kind])

    def give_up(self, kind: str, tried: int) -> None:
        """Hand what this kind lacks to the others, in proportion to their weights.

        Answerable questions are replaced by answerable ones only: else a corpus that yields little would give a set of
        questions that nobody can answer. Unanswerable ones are replaced by unanswerable ones while there are any."""
        self.given_up[kind] = tried
        lacking = self.target[kind] - self.made[kind]
        self.target[kind] = self.made[kind]
        rest = {
            other: weight
            for other, weight in self.weights.items()
            if other not in self.given_up and (other not in UNANSWERABLE or kind in UNANSWERABLE)
        }
        if any(other in UNANSWERABLE for other in rest):  # only when `kind` is one itself
            rest = {other: weight for other, weight in rest.items() if other in UNANSWERABLE}
        if rest and lacking > 0:
            most = math.floor(self.max_share * self.asked)
            for other, more in split_by_weight(lacking, rest).items():
                # never below what it had: its own share may be above the limit
                self.target[other] = max(self.target[other], min(self.target[other] + more, most))
