"""Every kind of question × every judge: a reply in the kind's shape or a typed failure, never an exception."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from faults.scoring import settings
from faults.server import FaultServer
from ragstone.asks import KINDS, Answered, Ask, Case, Exchange, Reply, goal, support, turns, useful
from ragstone.asks.choices import Choice, ChoiceRequest
from ragstone.asks.json_replies import fit_value
from ragstone.errors import JudgeFailed
from ragstone.judges import Judge
from ragstone.judges.cascade import Cascade
from ragstone.judges.choices import PairClasses, PairRequest
from ragstone.judges.classifier import ClassifierJudge
from ragstone.judges.embeddings import OfflineEmbeddings
from ragstone.judges.factory import make_judge
from ragstone.judges.jury import Jury
from ragstone.judges.plain import PlainJudge
from ragstone.types import Chunk

Serve = Callable[..., FaultServer]
TOWER = Chunk(text="The tower stands in Paris. It was built in 1889.")


class ChoosesLast:
    """A model of one token that always takes the last option."""

    name, batch, concurrency, notes = "choice:last", 4, 1, ()

    def identity(self) -> dict[str, Any]:
        return {"model": "last"}

    async def choose(self, requests: Sequence[ChoiceRequest]) -> list[Any]:
        return [
            Choice(r.options[-1], {o: float(o == r.options[-1]) for o in r.options})
            for r in requests
        ]

    async def close(self) -> None:
        return


class HalfSure:
    """A classifier without an opinion."""

    name, batch, concurrency, notes = "nli:half", 4, 1, ()

    def identity(self) -> dict[str, Any]:
        return {"model": "half"}

    async def classify(self, pairs: Sequence[PairRequest]) -> list[Any]:
        return [PairClasses({"supported": 0.5, "not_found": 0.5}) for _ in pairs]

    async def close(self) -> None:
        return


def answer_none(ask: Ask) -> Mapping[str, Any]:
    """A function of a user that knows nothing."""
    return {}


def build_judges(server: FaultServer) -> dict[str, Judge]:
    def embedded() -> Judge:
        return make_judge("offline")

    def plain() -> Judge:
        return PlainJudge(ChoosesLast(), OfflineEmbeddings())

    def json() -> Judge:
        return make_judge(settings(server))

    return {
        "embedded": embedded(),
        "one token": plain(),
        "json": json(),
        "function": make_judge(answer_none),
        "classifier": ClassifierJudge(HalfSure(), OfflineEmbeddings()),
        "jury of embedded": Jury([embedded(), embedded()]),
        "jury of routes": Jury([embedded(), plain(), json()]),
        "cascade": Cascade(embedded(), json(), unsure=(0.0, 1.0)),
        "cascade of small": Cascade(embedded(), plain()),
    }


def list_asks(kind: str, language: str | None) -> list[Ask]:
    """The kind's example and one with a text to judge."""
    talk = [Exchange("Where is it?", "In Paris."), Exchange("How old is it?", "Quite old.")]
    fuller = {
        "support": support(
            Case(("The tower is in Paris.", "It is green."), (TOWER,)), language=language
        ),
        "useful": useful("Where is it?", [TOWER, TOWER], {"question": None}, language=language),
        "turns": turns(talk, language=language),
        "goal": goal(talk, language=language),
    }
    return [KINDS[kind].example(language), *([fuller[kind]] if kind in fuller else [])]


@pytest.mark.parametrize("language", ["en", "es", None])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_judge_replies_or_fails_by_type(
    kind: str, language: str | None, serve: Serve
) -> None:
    asks = list_asks(kind, language)
    for name, judge in build_judges(serve()).items():
        answered: list[Answered] = asyncio.run(_answer(judge, asks))
        assert len(answered) == len(asks), name
        for ask, answer in zip(asks, answered, strict=True):
            assert isinstance(answer, Reply | JudgeFailed), (name, answer)
            if isinstance(answer, Reply) and "addresses" not in answer.value:
                fit_value(_without_unknown(answer.value), ask.schema)


def _without_unknown(value: Any) -> Any:
    """The reply without rows in which the judge says null: that it cannot tell."""
    return {
        field: [row for row in rows if not isinstance(row, Mapping) or None not in row.values()]
        if isinstance(rows, list)
        else rows
        for field, rows in value.items()
    }


async def _answer(judge: Judge, asks: Sequence[Ask]) -> list[Answered]:
    try:
        return await judge.answer(asks)
    finally:
        await judge.close()


def test_a_kind_is_known_by_its_name_everywhere() -> None:
    for name, kind in KINDS.items():
        assert kind.name == name == kind.example(None).kind
        assert (kind.choose is None) == (not kind.prompts)
