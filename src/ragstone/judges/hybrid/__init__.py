"""The hybrid route: local code splits, finds passages and quotes; a model decides with one token or one class.

For small language models, which fail at structured replies and yet decide well, and for classifiers of pairs of texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragstone import prompts
from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges import Judge, Reopenable
from ragstone.judges.choices import Choice, ChoiceModel, ChoiceOutcome, ChoiceRequest
from ragstone.judges.hybrid.sessions import DecisionSession, get_trusted_value, run_sessions
from ragstone.judges.offline import OfflineJudge
from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    from ragstone.judges.hybrid.prompting import Deciding

ROUTE_VERSION = 4
"""Increased when passages, weights or checks change in a way that can change a reply; part of the cache key."""
PROMPTS: dict[str, tuple[str, ...]] = {
    "support": ("choose_support",),
    "useful": ("choose_useful", "choose_useful_2", "choose_reaches"),
    "aspects": ("choose_covered",),
    "questions": ("choose_evasive", "choose_covered"),
    "rate": ("choose_rate",),
    "prefer": ("choose_prefer",),
    "told": ("choose_told",),
}
"""Prompts of each kind of Ask that a model decides."""
MODEL_KINDS = frozenset({"prefer", "told"})
"""Kinds of Ask to which the embedded judge has nothing to say."""
WRITTEN_KINDS = frozenset({"write", "solve", "translate"})
"""Kinds of Ask that cannot be answered with one token."""


class HybridJudge(Reopenable):
    """A language model that is asked for one token, on top of the embedded judge.

    The embedded judge answers `claims`. What cannot be said in one token (writing and solving test questions,
    translating prompts) goes to `writer`, the same model on the JSON route, where there is one."""

    local = False
    small = True
    """Whether test sets are written with one order per call."""

    def __init__(
        self,
        model: ChoiceModel,
        embeddings: Judge,
        *,
        writer: Judge | None = None,
        language: str | None = None,
        prompts_folder: str | None = None,
    ) -> None:
        self.model = model
        self.embeddings = embeddings
        self.writer = writer
        self.name = model.name
        self.batch = model.batch
        self.concurrency = model.concurrency
        self.language = language
        self.folder = prompts_folder
        prompts.check_folder(prompts_folder)
        self.embedded = OfflineJudge(allow_unmeasured=True)
        self.spent = NO_USAGE
        """Usage of all calls, those of failed questions included."""
        self._has_replied = False

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return model, prompts and the versions of the route and of the embedded judge."""
        judge = self._find_delegate(ask)
        if judge is not None:
            return judge.identity(ask)
        names = (*PROMPTS[ask.kind], "choose_again")
        return {
            **self.model.identity(),
            "route": "hybrid",
            "version": ROUTE_VERSION,
            "embedded": self.embedded.identity(ask),
            "prompt": [self._load_prompt(name, ask).digest for name in names],
        }

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer the Asks; their questions to the model are put together, round by round."""
        sessions = [await self._open(ask) for ask in asks]
        await run_sessions(sessions, self._choose)
        for session in sessions:
            await self._check_presence(session)
        self.spent = sum((session.usage for session in sessions), self.spent)
        return [session.finish(self.model.notes) for session in sessions]

    async def close(self) -> None:
        """Close the model's connections."""
        await self.model.close()
        await self.embeddings.close()

    async def preview_requests(self, ask: Ask) -> list[ChoiceRequest]:
        """Return the most that the model would be asked, for an estimate; nothing is asked."""
        if self._find_delegate(ask) is not None:
            return []
        session = await self._open(ask)
        requests: list[ChoiceRequest] = []
        while session.open_questions:
            requests += session.open_questions
            session.send([Choice(request.options[0]) for request in session.open_questions])
        return requests

    def _find_delegate(self, ask: Ask) -> Judge | None:
        """Return who answers an Ask that the model does not decide."""
        if ask.kind == "embed":
            return self.embeddings
        if ask.kind in PROMPTS:
            return None
        return self.writer or self.embedded if ask.kind in WRITTEN_KINDS else self.embedded

    async def _open(self, ask: Ask) -> DecisionSession[ChoiceRequest, Choice]:
        """Start on an Ask: the embedded judge's reply, and the first questions to the model."""
        judge = self._find_delegate(ask)
        answered: Answered = Reply({})
        if ask.kind not in MODEL_KINDS:
            (answered,) = await (judge or self.embedded).answer([ask])
        session: DecisionSession[ChoiceRequest, Choice] = DecisionSession(ask, answered)
        if judge is None and isinstance(answered, Reply):
            embedded = get_trusted_value(answered)
            session.start(_decide(ask, embedded, lambda name: self._load_prompt(name, ask)))
        return session

    async def _choose(self, questions: list[tuple[Ask, ChoiceRequest]]) -> list[ChoiceOutcome]:
        """Put the requests; one whose reply is none of the options is put once more, in stricter words."""
        chosen = await self.model.choose([request for _, request in questions])
        self._has_replied |= any(map(_is_reply, chosen))
        odd = [n for n, choice in enumerate(chosen) if _is_unparseable(choice)]
        if odd:
            again = await self.model.choose([self._insist(*questions[n]) for n in odd])
            for n, choice in zip(odd, again, strict=True):
                chosen[n] = _add_usage(choice, chosen[n])
        return chosen

    async def _check_presence(self, session: DecisionSession[ChoiceRequest, Choice]) -> None:
        """Fail what rules settled alone if the model has never replied, nor does now: no score names a dead judge."""
        if not session.is_unasked or self._has_replied:
            return
        (choice,) = await self.model.choose([self._greet(session.ask)])
        self._has_replied = _is_reply(choice)
        session.usage += choice.usage or NO_USAGE
        if isinstance(choice, JudgeFailed | OutOfBudget) and not self._has_replied:
            session.fail(choice)

    def _greet(self, ask: Ask) -> ChoiceRequest:
        """Return a short question whose answer does not matter."""
        from ragstone.judges.hybrid.prompting import build_request, fence_texts

        text = fence_texts("1 + 1 = 2")
        return build_request(
            self._load_prompt("choose_support", ask), {"sources": text, "claim": text}
        )

    def _insist(self, ask: Ask, request: ChoiceRequest) -> ChoiceRequest:
        filled = self._load_prompt("choose_again", ask).fill(
            {"options": ", ".join(request.options)}
        )
        return request._replace(question=f"{request.question}\n\n{filled[1]}")

    def _load_prompt(self, name: str, ask: Ask) -> prompts.Prompt:
        return prompts.load(name, ask.language or self.language, self.folder)


def _decide(ask: Ask, embedded: Any, load: Callable[[str], prompts.Prompt]) -> Deciding:
    # imported late: numpy and the learned files are read when the first question comes
    from ragstone.judges.hybrid.decisions import DECIDERS

    return DECIDERS[ask.kind](ask, embedded, load)


def _is_unparseable(choice: ChoiceOutcome) -> bool:
    return isinstance(choice, JudgeFailed) and choice.kind == "unparseable"


def _is_reply(choice: ChoiceOutcome) -> bool:
    """Whether a model said anything, of use or not."""
    return isinstance(choice, Choice) or _is_unparseable(choice)


def _add_usage(choice: ChoiceOutcome, earlier: ChoiceOutcome) -> ChoiceOutcome:
    """Return a choice with the usage of an earlier attempt at it."""
    usage = (choice.usage or NO_USAGE) + (earlier.usage or NO_USAGE)
    if isinstance(choice, Choice):
        return choice._replace(usage=usage)
    choice.usage = usage
    return choice
