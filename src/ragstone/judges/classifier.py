"""A model that says how likely sources support a claim, as a judge: it decides claims, the embedded judge the rest."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.judges import Judge, Reopenable
from ragstone.judges.choices import PairClasses, PairClassifier, PairOutcome, PairRequest
from ragstone.judges.offline import OfflineJudge
from ragstone.judges.plain import ROUTE_VERSION
from ragstone.judges.sessions import DecisionSession, run_sessions
from ragstone.locale.messages import compose
from ragstone.types import NO_USAGE

KINDS_WITHOUT_FALLBACK_NOTE = ("support", "claims", "embed")
"""Asks that the classifier decides, or that nobody expects it to."""

PASSAGE_CHARS = 4_000
"""Sources up to this length together are read whole; of longer ones the passages closest to the claim."""
DecidingPairs = Generator[tuple[PairRequest, ...], tuple[PairClasses, ...], Any]


class ClassifierJudge(Reopenable):
    """A classifier of pairs of texts that decides `support`."""

    local = False

    def __init__(self, model: PairClassifier, embeddings: Judge) -> None:
        self.model = model
        self.embeddings = embeddings
        self.name = model.name
        self.batch = model.batch
        self.concurrency = model.concurrency
        self.splitter = OfflineJudge(allow_unmeasured=True)
        """Splits and quotes, whatever the language."""
        self.fallback_judge = OfflineJudge()
        """Answers what the classifier does not decide."""
        self.spent = NO_USAGE
        """Usage of all calls, those of failed questions included."""

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return model and the versions of the route and of the embedded judge."""
        if ask.kind != "support":
            return self._find_delegate(ask).identity(ask)
        route = {"route": "pairs", "version": ROUTE_VERSION}
        return {**self.model.identity(), **route, "embedded": self.splitter.identity(ask)}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer the Asks; the pairs of all of them are classified together."""
        sessions = [await self._open(ask) for ask in asks]
        windows: dict[str, int] = {}
        await run_sessions(sessions, lambda pairs: self._classify(pairs, windows))
        self.spent = sum((session.usage for session in sessions), self.spent)
        return [self._finish(session, windows.get(session.ask.key, 1)) for session in sessions]

    async def close(self) -> None:
        """Release the model."""
        await self.model.close()
        await self.embeddings.close()

    async def preview_pairs(self, ask: Ask) -> list[PairRequest]:
        """Return what the model would be asked, for an estimate; nothing is asked."""
        session = await self._open(ask)
        return list(session.open_questions)

    def _find_delegate(self, ask: Ask) -> Judge:
        """Return who answers an Ask that the classifier does not decide."""
        if ask.kind == "embed":
            return self.embeddings
        return self.splitter if ask.kind == "claims" else self.fallback_judge

    async def _open(self, ask: Ask) -> DecisionSession[PairRequest, PairClasses]:
        if ask.kind != "support":
            (answered,) = await self._find_delegate(ask).answer([ask])
            return DecisionSession(ask, answered)
        session: DecisionSession[PairRequest, PairClasses] = DecisionSession(ask, Reply({}))
        session.start(_decide_support(ask))
        return session

    async def _classify(
        self, pairs: list[tuple[Ask, PairRequest]], windows: dict[str, int]
    ) -> list[PairOutcome]:
        """Classify the pairs; `windows` gets, by the key of an Ask, the most parts in which its sources were read."""
        classified = await self.model.classify([pair for _, pair in pairs])
        for (ask, _), classes in zip(pairs, classified, strict=True):
            if isinstance(classes, PairClasses):
                windows[ask.key] = max(windows.get(ask.key, 1), classes.windows)
        return classified

    def _finish(self, session: DecisionSession[PairRequest, PairClasses], windows: int) -> Answered:
        """Return the outcome, with notes on what a reader would not expect of a classifier."""
        in_parts = (compose("read_in_windows", n=windows),) if windows > 1 else ()
        answered = session.finish((*self.model.notes, *in_parts))
        if session.ask.kind in KINDS_WITHOUT_FALLBACK_NOTE or not isinstance(answered, Reply):
            return answered
        note = compose("classifier_not_asked", judge=self.name)
        return Reply(answered.value, answered.usage, (*answered.notes, note))


def _decide_support(ask: Ask) -> DecidingPairs:
    """Classify each claim with the sources of its case; quotes come from the embedded judge."""
    from ragstone.asks.support import NO_SOURCE, build_chosen_row, quote_evidence, state
    from ragstone.judges.offline.passages import choose_passages, find_evidence  # loads numpy

    def find(text: str, sources: Sequence[str]) -> list[tuple[int, str]]:
        return find_evidence(text, sources, ask.language)

    verdicts: list[dict[str, Any]] = []
    for case in ask.values["cases"]:
        sources = [state(source["text"], case) for source in case["sources"]]
        if not sources or not case["claims"]:
            verdicts += [{"id": claim["id"], **NO_SOURCE} for claim in case["claims"]]
            continue
        claims = [state(claim["text"], case) for claim in case["claims"]]
        classes = yield tuple(
            PairRequest(
                tuple(choose_passages([claim], sources, ask.language, PASSAGE_CHARS)), claim
            )
            for claim in claims
        )
        for claim, found in zip(case["claims"], classes, strict=True):
            verdict = max(found.probabilities, key=found.probabilities.__getitem__)
            chance = round(found.probabilities["supported"], 4)
            row = build_chosen_row(claim, chance >= 0.5, chance, verdict == "contradicted")
            if found.unsupported and row["verdict"] != "supported":
                row["reason"] = compose("unsupported_parts", parts=found.unsupported)
            row["evidence"] = quote_evidence(claim["text"], row, case["sources"], find)
            verdicts.append(row)
    return {"verdicts": verdicts}
