"""A classifier of pairs of texts as a judge: it decides claims, the embedded judge answers everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges import Judge, Reopenable
from ragstone.judges.choices import Classified, PairClasses, PairClassifier, PairRequest
from ragstone.judges.hybrid import ROUTE_VERSION
from ragstone.judges.hybrid.sessions import DecisionSession, run_sessions
from ragstone.judges.offline import OfflineJudge
from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    from ragstone.judges.hybrid.support import ClaimOpinion, ClaimQuestion


class ClassifierJudge(Reopenable):
    """A model of natural language inference that decides `support`, on top of the embedded judge."""

    local = False

    def __init__(self, model: PairClassifier, embeddings: Judge) -> None:
        self.model = model
        self.embeddings = embeddings
        self.name = model.name
        self.batch = model.batch
        self.concurrency = model.concurrency
        self.embedded = OfflineJudge()
        self.spent = NO_USAGE
        """Usage of all calls, those of failed questions included."""

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return model and the versions of the route and of the embedded judge."""
        if ask.kind == "embed":
            return self.embeddings.identity(ask)
        embedded = self.embedded.identity(ask)
        if ask.kind != "support":
            return embedded
        route = {"route": "pairs", "version": ROUTE_VERSION, "embedded": embedded}
        return {**self.model.identity(), **route}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer the Asks; the pairs of all of them are classified together."""
        sessions = [await self._open(ask) for ask in asks]
        await run_sessions(sessions, self._classify)
        self.spent = sum((session.usage for session in sessions), self.spent)
        return [session.finish(self.model.notes) for session in sessions]

    async def close(self) -> None:
        """Release the model."""
        await self.model.close()
        await self.embeddings.close()

    async def _open(self, ask: Ask) -> DecisionSession[ClaimQuestion, ClaimOpinion]:
        from ragstone.judges.hybrid.support import decide_support  # loads numpy

        judge = self.embeddings if ask.kind == "embed" else self.embedded
        (answered,) = await judge.answer([ask])
        session: DecisionSession[ClaimQuestion, ClaimOpinion] = DecisionSession(ask, answered)
        if ask.kind == "support" and isinstance(answered, Reply):
            session.start(decide_support(ask, answered.value))
        return session

    async def _classify(
        self, questions: list[tuple[Ask, ClaimQuestion]]
    ) -> list[ClaimOpinion | JudgeFailed | OutOfBudget]:
        pairs = [PairRequest(question.passages, question.claim) for _, question in questions]
        return [_to_opinion(classes) for classes in await self.model.classify(pairs)]


def _to_opinion(classes: Classified) -> ClaimOpinion | JudgeFailed | OutOfBudget:
    from ragstone.judges.hybrid.support import ClaimOpinion

    if not isinstance(classes, PairClasses):
        return classes
    probabilities = classes.probabilities
    verdict = max(probabilities, key=probabilities.__getitem__)
    return ClaimOpinion(verdict, probabilities, classes.usage)
