"""A classifier of pairs of texts as a judge: it decides claims, the embedded judge answers everything else. Versioned by ROUTE_VERSION in judges/hybrid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges import Judge, Reopenable
from ragstone.judges.choices import PairClasses, PairClassifier, PairOutcome, PairRequest
from ragstone.judges.hybrid import ROUTE_VERSION
from ragstone.judges.hybrid.sessions import DecisionSession, get_trusted_value, run_sessions
from ragstone.judges.offline import OfflineJudge
from ragstone.locale.messages import compose
from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    from ragstone.judges.hybrid.support import ClaimOpinion, ClaimQuestion

KINDS_WITHOUT_FALLBACK_NOTE = ("support", "claims", "embed")
"""Asks that the classifier decides, or that nobody expects it to."""


class ClassifierJudge(Reopenable):
    """A model of natural language inference that decides `support`, on top of the embedded judge."""

    local = False

    def __init__(self, model: PairClassifier, embeddings: Judge) -> None:
        self.model = model
        self.embeddings = embeddings
        self.name = model.name
        self.batch = model.batch
        self.concurrency = model.concurrency
        self.embedded = OfflineJudge(allow_unmeasured=True)
        """Splits and aligns; in a language in which it was never measured the classifier decides alone."""
        self.fallback_judge = OfflineJudge()
        """Answers what the classifier does not decide."""
        self.spent = NO_USAGE
        """Usage of all calls, those of failed questions included."""

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return model and the versions of the route and of the embedded judge."""
        if ask.kind != "support":
            return self._find_delegate(ask).identity(ask)
        route = {"route": "pairs", "version": ROUTE_VERSION}
        return {**self.model.identity(), **route, "embedded": self.embedded.identity(ask)}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer the Asks; the pairs of all of them are classified together."""
        sessions = [await self._open(ask) for ask in asks]
        windows: dict[str, int] = {}
        await run_sessions(sessions, lambda questions: self._classify(questions, windows))
        self.spent = sum((session.usage for session in sessions), self.spent)
        return [self._finish(session, windows.get(session.ask.key, 1)) for session in sessions]

    async def close(self) -> None:
        """Release the model."""
        await self.model.close()
        await self.embeddings.close()

    async def preview_pairs(self, ask: Ask) -> list[PairRequest]:
        """Return the most that the model would be asked, for an estimate; nothing is asked."""
        from ragstone.judges.hybrid.support import ClaimOpinion

        session = await self._open(ask)
        pairs: list[PairRequest] = []
        while session.open_questions:
            pairs += [PairRequest(*question) for question in session.open_questions]
            session.send([ClaimOpinion("supported", None) for _ in session.open_questions])
        return pairs

    def _find_delegate(self, ask: Ask) -> Judge:
        """Return who answers an Ask that the classifier does not decide."""
        if ask.kind == "embed":
            return self.embeddings
        return self.embedded if ask.kind == "claims" else self.fallback_judge

    async def _open(self, ask: Ask) -> DecisionSession[ClaimQuestion, ClaimOpinion]:
        from ragstone.judges.hybrid.support import decide_support  # loads numpy

        judge = self.embedded if ask.kind == "support" else self._find_delegate(ask)
        (answered,) = await judge.answer([ask])
        session: DecisionSession[ClaimQuestion, ClaimOpinion] = DecisionSession(ask, answered)
        if ask.kind == "support" and isinstance(answered, Reply):
            session.start(decide_support(ask, get_trusted_value(answered)))
        return session

    async def _classify(
        self, questions: list[tuple[Ask, ClaimQuestion]], windows: dict[str, int]
    ) -> list[ClaimOpinion | JudgeFailed | OutOfBudget]:
        """Classify the pairs; `windows` gets, by the key of an Ask, the most parts in which its passages were read."""
        pairs = [PairRequest(*question) for _, question in questions]
        classified = await self.model.classify(pairs)
        for (ask, _), classes in zip(questions, classified, strict=True):
            if isinstance(classes, PairClasses):
                windows[ask.key] = max(windows.get(ask.key, 1), classes.windows)
        return [_to_opinion(classes) for classes in classified]

    def _finish(
        self, session: DecisionSession[ClaimQuestion, ClaimOpinion], windows: int
    ) -> Answered:
        """Return the outcome, with notes on what a reader would not expect of a classifier."""
        in_parts = (compose("read_in_windows", n=windows),) if windows > 1 else ()
        answered = session.finish((*self.model.notes, *in_parts))
        if session.ask.kind in KINDS_WITHOUT_FALLBACK_NOTE or not isinstance(answered, Reply):
            return answered
        note = compose("classifier_not_asked", judge=self.name)
        return Reply(answered.value, answered.usage, (*answered.notes, note))


def _to_opinion(classes: PairOutcome) -> ClaimOpinion | JudgeFailed | OutOfBudget:
    from ragstone.judges.hybrid.support import ClaimOpinion

    if not isinstance(classes, PairClasses):
        return classes
    probabilities = classes.probabilities
    verdict = max(probabilities, key=probabilities.__getitem__)
    return ClaimOpinion(verdict, probabilities, classes.usage)
