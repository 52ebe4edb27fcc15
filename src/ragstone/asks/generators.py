"""Metrics in progress: generators that yield Asks and are sent the replies."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from ragstone.asks.types import Answered, Ask, Reply
from ragstone.errors import Unscored

T = TypeVar("T")

Asking = Generator[tuple[Ask, ...], tuple[Answered, ...], T]
"""A metric in progress: yields Asks, is sent a Reply or failure for each, returns its result."""


def ask(question: Ask) -> Asking[Any]:
    """Put one question and return the value of its reply; raises when the judge failed."""
    (value,) = yield from ask_all(question)
    return value


def ask_all(*questions: Ask) -> Asking[list[Any]]:
    """Put several questions at once and return the values of their replies in the same order."""
    answered = yield questions
    for answer in answered:
        if not isinstance(answer, Reply):
            raise answer
    return [answer.value for answer in answered if isinstance(answer, Reply)]


def together(*generators: Asking[T]) -> Asking[list[T | Unscored]]:
    """Advance several generators round by round, putting all their questions of a round at once.

    Each ends with its result or with the outcome it raised: one failure does not end the others."""
    ended: dict[int, T | Unscored] = {}
    # generator → replies to its last questions; None before it has started
    inbox: dict[int, tuple[Answered, ...] | None] = dict.fromkeys(range(len(generators)))
    while True:
        asked: dict[int, tuple[Ask, ...]] = {}
        for n, replies in inbox.items():
            try:
                asked[n] = next(generators[n]) if replies is None else generators[n].send(replies)
            except StopIteration as end:
                ended[n] = end.value
            except Unscored as outcome:
                ended[n] = outcome
        if not asked:
            return [ended[n] for n in range(len(generators))]
        answered = yield tuple(question for asks in asked.values() for question in asks)
        start, inbox = 0, {}
        for n, asks in asked.items():
            inbox[n] = answered[start : start + len(asks)]
            start += len(asks)
