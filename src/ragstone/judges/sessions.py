"""Asks that are being decided: each a generator that yields questions to a model and is sent the answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.locale.messages import compose
from ragstone.types import NO_USAGE, Usage


class ModelAnswer(Protocol):
    """What a model says to one question."""

    @property
    def usage(self) -> Usage:
        """What it cost."""
        ...

    @property
    def probabilities(self) -> Mapping[Any, float] | None:
        """None when the model gives no probabilities."""
        ...


Q = TypeVar("Q")
A = TypeVar("A", bound=ModelAnswer)


@dataclass(slots=True)
class DecisionSession(Generic[Q, A]):
    """One Ask on its way to a reply: the questions that are open and what they cost."""

    ask: Ask
    outcome: Answered
    """The embedded judge's reply at first, the outcome at the end."""
    open_questions: tuple[Q, ...] = ()
    """Questions that are open; none when the Ask is decided."""
    usage: Usage = NO_USAGE
    _was_asked: bool = False
    _decision: Generator[tuple[Q, ...], tuple[A, ...], Any] | None = field(default=None, repr=False)
    _without_probabilities: bool = False

    def start(self, decision: Generator[tuple[Q, ...], tuple[A, ...], Any]) -> None:
        """Run the decision up to its first questions."""
        self._decision = decision
        self._advance(lambda: next(decision))

    def send(self, answers: Sequence[A | JudgeFailed | OutOfBudget]) -> None:
        """Go on with the answers to the open questions; a failure among them ends the Ask."""
        decision = self._decision
        if decision is None or not self.open_questions:
            return
        self._was_asked = True
        self.usage = sum((answer.usage or NO_USAGE for answer in answers), self.usage)
        given: list[A] = []
        for answer in answers:
            if isinstance(answer, JudgeFailed | OutOfBudget):
                self.fail(answer)
                return
            given.append(answer)
        self._without_probabilities |= any(answer.probabilities is None for answer in given)
        self._advance(lambda: decision.send(tuple(given)))

    def finish(self, notes: tuple[str, ...]) -> Answered:
        """Return the outcome, with the notes of the model if it was asked."""
        if self._decision is None or not isinstance(self.outcome, Reply):
            return self.outcome
        given = self.outcome.notes
        if self._without_probabilities:
            given = (*given, compose("model_without_probabilities"))
        return Reply(self.outcome.value, self.usage, (*given, *(notes if self._was_asked else ())))

    def _advance(self, step: Callable[[], tuple[Q, ...]]) -> None:
        try:
            self.open_questions = step()
        except StopIteration as end:
            notes = self.outcome.notes if isinstance(self.outcome, Reply) else ()
            self.open_questions, self.outcome = (), Reply(end.value, notes=notes)
        except (JudgeFailed, OutOfBudget) as failure:
            self.fail(failure)

    def fail(self, failure: JudgeFailed | OutOfBudget) -> None:
        """End the Ask with a failure, which gets what was spent on it."""
        self.open_questions, self.outcome = (), failure
        failure.usage = self.usage


async def run_sessions(
    sessions: Sequence[DecisionSession[Q, A]],
    ask_model: Callable[[list[tuple[Ask, Q]]], Awaitable[Sequence[A | JudgeFailed | OutOfBudget]]],
) -> None:
    """Put the open questions of all Asks together, round by round, until every Ask is decided.

    `ask_model` returns one answer a question, in the order of the questions."""
    while questions := [(session.ask, q) for session in sessions for q in session.open_questions]:
        answers = iter(await ask_model(questions))
        for session in sessions:
            session.send([next(answers) for _ in session.open_questions])
