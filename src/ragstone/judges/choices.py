"""Models that decide instead of writing: one of a few options per question, or one class per pair of texts.

Code splits and finds quotes; these models only decide. A ChoiceModel is a language model of which one token is read; a
PairClassifier says how likely passages support a claim. Versioned by ROUTE_VERSION in judges/plain.py."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ragstone.asks.choices import Choice, ChoiceRequest
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.text.terms import strip_accents
from ragstone.types import NO_USAGE, Usage, Verdict

ChoiceOutcome = Choice | JudgeFailed | OutOfBudget
"""What comes back for one ChoiceRequest."""


class ChoiceModel(Protocol):
    """A language model that is asked for one token."""

    name: str
    """Name in reports: `openai:qwen`, `gguf:model.gguf`."""
    batch: int
    """Requests per call of `choose` that it handles best."""
    concurrency: int
    """Calls of `choose` that may run at once."""
    notes: tuple[str, ...]
    """Warnings for every score made with this model."""

    def identity(self) -> Mapping[str, Any]:
        """Return everything besides the request that can change a choice; part of the cache key."""
        ...

    async def choose(self, requests: Sequence[ChoiceRequest]) -> list[ChoiceOutcome]:
        """Answer the requests in the same order; a failure is returned, not raised.

        Requests with the same system message and prefix stand side by side."""
        ...

    async def close(self) -> None:
        """Release connections and memory."""
        ...


MIN_OPTION_MASS = 0.2
"""Probability that the options must have together where not all are listed: a model that would rather write something
else has not chosen.
A change here changes replies: raise ROUTE_VERSION in judges/plain.py."""

PairLabel = Verdict


class PairRequest(NamedTuple):
    """A claim and the passages that may support it, best first."""

    passages: tuple[str, ...]
    claim: str


class PairClasses(NamedTuple):
    """How likely each class of a pair is."""

    probabilities: Mapping[PairLabel, float]
    """Sums up to 1; a model of two classes gives `supported` and `not_found`."""
    windows: int = 1
    """Parts in which the passages were read because they did not fit in one."""
    usage: Usage = NO_USAGE
    unsupported: tuple[str, ...] = ()
    """Parts of the claim that the passages do not support, from a model that marks them."""


PairOutcome = PairClasses | JudgeFailed | OutOfBudget
"""What comes back for one PairRequest."""


class PairClassifier(Protocol):
    """A model of natural language inference."""

    name: str
    batch: int
    """Pairs per call of `classify` that it handles best."""
    concurrency: int
    notes: tuple[str, ...]

    def identity(self) -> Mapping[str, Any]:
        """Return everything besides the pair that can change the classes; part of the cache key."""
        ...

    async def classify(self, pairs: Sequence[PairRequest]) -> list[PairOutcome]:
        """Classify the pairs in the same order; a failure is returned, not raised.

        Passages that do not fit in the model's input are read in several windows, never cut off (`merge_windows`)."""
        ...

    async def close(self) -> None:
        """Release memory."""
        ...


def weigh_options(
    tokens: Iterable[tuple[str, float]], options: Sequence[str]
) -> dict[str, float] | None:
    """Return the probability of each option from tokens and their log-probabilities, renormalised over the options.

    Spellings and beginnings of one option are added up (`True`, ` true`, `tr`). None when not all options are listed and
    those that are have less than MIN_OPTION_MASS together, or a number is no log-probability: where all are listed, a
    model that would begin with another word has still said which it prefers.
    An option that is not among the tokens gets the probability of the least likely one, the most it can have."""
    weights: dict[str, float] = {}
    least_listed = 1.0
    for token, logprob in tokens:
        if (
            not logprob <= 1e-3
        ):  # servers round a certain token to a little above 0; also true of NaN
            return None
        weight = math.exp(min(logprob, 0.0))
        if not weight:
            continue
        least_listed = min(least_listed, weight)
        option = _match_token(token, options)
        if option is not None:
            weights[option] = weights.get(option, 0.0) + weight
    if len(weights) < len(options) and sum(weights.values()) < MIN_OPTION_MASS:
        return None
    total = sum(weights.get(option, least_listed) for option in options)
    return {option: weights.get(option, least_listed) / total for option in options}


def _match_token(token: str, options: Sequence[str]) -> str | None:
    """Return the option that a token is, or is the beginning of; accents may be left out: Si."""
    text = strip_accents(strip_token(token).casefold())
    return next((o for o in options if text and strip_accents(o.casefold()).startswith(text)), None)


def find_option(text: str, options: Sequence[str]) -> str | None:
    """Return the option that the first word of a reply is, or begins; None when it is none of them."""
    words = text.split(maxsplit=1)
    return _match_token(words[0], options) if words else None


def strip_token(token: str) -> str:
    """Return a token without what tokenizers and chat habits put around a letter: `▁A`, ` (A)`, `**A**`, `A.`"""
    return token.strip(" \t\r\n\u2581\u0120()[]*\"'`.:,")


def merge_windows(windows: Sequence[Mapping[PairLabel, float]]) -> Mapping[PairLabel, float]:
    """Return the classes of the window that decides: the one that is surest to speak of the claim."""
    return min(windows, key=lambda row: row.get("not_found", 0.0))
