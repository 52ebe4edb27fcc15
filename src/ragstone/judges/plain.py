"""The plain question: a model answers with one token, code does the rest.

For small language models, which fail at structured replies and yet decide well. Each kind of question says in `asks/`
what is asked; P(yes) is the claim's probability as it comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone import prompts
from ragstone.asks import KINDS, Answered, Ask, Reply
from ragstone.asks.choices import Choice, ChoiceRequest, LocalCode
from ragstone.errors import JudgeFailed
from ragstone.judges import Judge, Reopenable
from ragstone.judges.choices import ChoiceModel, ChoiceOutcome
from ragstone.judges.offline import HEURISTIC, OfflineJudge
from ragstone.judges.sessions import DecisionSession, run_sessions
from ragstone.locale.messages import code_of
from ragstone.types import NO_USAGE

ROUTE_VERSION = 6
"""Increased when questions, passages or checks change in a way that can change a reply; part of the cache key."""
WHOLE_CHARS = 9_000
"""Sources up to this length together are shown whole; of longer ones the passages that are closest to the claims."""


class PlainJudge(Reopenable):
    """A language model that is asked for one token.

    The embedded judge splits claims and finds quotes. What one token cannot say (test questions, translations) goes to
    `writer`, the same model on the JSON route."""

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
        self._load_prompt = prompts.PromptLoader(language, prompts_folder)
        self.embedded = OfflineJudge(allow_unmeasured=True)
        self.spent = NO_USAGE
        """Usage of all calls, those of failed questions included."""

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return model, prompts and the versions of the route and of the embedded judge."""
        judge = self._find_delegate(ask)
        if judge is not None:
            return judge.identity(ask)
        names = (*KINDS[ask.kind].prompts, "choose_again")
        return {
            **self.model.identity(),
            "route": "plain",
            "version": ROUTE_VERSION,
            "embedded": self.embedded.identity(ask),
            "prompt": [self._load_prompt(name, ask.language).digest for name in names],
        }

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Answer the Asks; their questions to the model are put together, round by round."""
        sessions = [await self._open(ask) for ask in asks]
        await run_sessions(sessions, self._choose)
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
        kind = KINDS[ask.kind]
        if kind.choose is not None:
            return None
        return self.writer or self.embedded if kind.is_text else self.embedded

    async def _open(self, ask: Ask) -> DecisionSession[ChoiceRequest, Choice]:
        """Start on an Ask: what the embedded judge makes of it, and the first questions to the model."""
        judge = self._find_delegate(ask)
        (answered,) = await (judge or self.embedded).answer([ask])
        choose = KINDS[ask.kind].choose
        if judge is not None or choose is None:
            return DecisionSession(ask, answered)
        if isinstance(answered, Reply):  # the note is for replies that rules alone decided
            notes = tuple(note for note in answered.notes if code_of(note) != HEURISTIC)
            answered = Reply(answered.value, notes=notes)
        else:
            answered = Reply({})  # what it has nothing to say to, the model decides alone
        session: DecisionSession[ChoiceRequest, Choice] = DecisionSession(ask, answered)
        session.start(choose(ask, self._build_code(ask, answered.value)))
        return session

    def _build_code(self, ask: Ask, reply: Mapping[str, Any]) -> LocalCode:
        from ragstone.judges.offline.passages import choose_passages, find_evidence  # loads numpy

        return LocalCode(
            lambda name: self._load_prompt(name, ask.language),
            reply,
            lambda texts, sources: choose_passages(texts, sources, ask.language, WHOLE_CHARS),
            lambda text, sources: find_evidence(text, sources, ask.language),
        )

    async def _choose(self, questions: list[tuple[Ask, ChoiceRequest]]) -> list[ChoiceOutcome]:
        """Put the requests; one whose reply is none of the options is put once more, in stricter words."""
        chosen = await self.model.choose([request for _, request in questions])
        odd = [n for n, choice in enumerate(chosen) if _is_unparseable(choice)]
        if odd:
            again = await self.model.choose([self._insist(*questions[n]) for n in odd])
            for n, choice in zip(odd, again, strict=True):
                chosen[n] = _add_usage(choice, chosen[n])
        return chosen

    def _insist(self, ask: Ask, request: ChoiceRequest) -> ChoiceRequest:
        filled = self._load_prompt("choose_again", ask.language).fill(
            {"options": ", ".join(request.options)}
        )
        return request._replace(question=f"{request.question}\n\n{filled[1]}")


def _is_unparseable(choice: ChoiceOutcome) -> bool:
    return isinstance(choice, JudgeFailed) and choice.kind == "unparseable"


def _add_usage(choice: ChoiceOutcome, earlier: ChoiceOutcome) -> ChoiceOutcome:
    """Return a choice with the usage of an earlier attempt at it."""
    usage = (choice.usage or NO_USAGE) + (earlier.usage or NO_USAGE)
    if isinstance(choice, Choice):
        return choice._replace(usage=usage)
    choice.usage = usage
    return choice
