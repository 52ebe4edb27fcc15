"""A scripted judge, and drivers that send its replies into metrics: no mock, no network, no model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

import ragstone.metrics  # noqa: F401 registers every metric
from ragstone.asks import Answered, Ask, Asking, Reply
from ragstone.engine.merge import merge_asks
from ragstone.errors import JudgeFailed, Unscored
from ragstone.registry import resolve
from ragstone.types import Sample, Score


@dataclass
class Script:
    """A judge that knows what it is told: each sentence is a claim, and quotes decide what supports it."""

    quotes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Claim → quotes that support it, wherever a source holds one."""
    against: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Claim → quotes that contradict it."""
    grades: Mapping[str, int] = field(default_factory=dict)
    """Chunk text → grade; 0 for the others."""
    replies: Mapping[str, Any] = field(default_factory=dict)
    """Kind → the value, or the failure, to reply with instead."""
    asked: list[Ask] = field(default_factory=list)

    def __call__(self, ask: Ask) -> Any:
        self.asked.append(ask)
        if ask.kind in self.replies:
            return self.replies[ask.kind]
        return getattr(self, ask.kind)(ask.values)

    def claims(self, values: Mapping[str, Any]) -> Any:
        rows = [
            {"text_id": text["id"], "sentence": n, "claim": sentence}
            for text in values["texts"]
            for n, sentence in enumerate(text["sentences"])
        ]
        return {"claims": rows}

    def support(self, values: Mapping[str, Any]) -> Any:
        rows = []
        for case in values["cases"]:
            for claim in case["claims"]:
                found = self._held(self.quotes, claim["text"], case["sources"])
                denied = self._held(self.against, claim["text"], case["sources"])
                verdict = "supported" if found else "contradicted" if denied else "not_found"
                row = {"id": claim["id"], "verdict": verdict, "evidence": found or denied}
                rows.append({**row, "reason": ""})
        return {"verdicts": rows}

    @staticmethod
    def _held(known: Mapping[str, Sequence[str]], claim: str, sources: Any) -> list[dict[str, str]]:
        return [
            {"source": source["id"], "quote": quote}
            for source in sources
            for quote in known.get(claim, ())
            if quote in source["text"]
        ]

    def useful(self, values: Mapping[str, Any]) -> Any:
        rows = [
            {"id": chunk["id"], "target": target, "grade": self.grades.get(chunk["text"], 0)}
            for chunk in values["chunks"]
            for target in values["targets"]
        ]
        return {"grades": [{**row, "reason": ""} for row in rows]}

    def questions(self, values: Mapping[str, Any]) -> Any:
        return {"evasive": False, "questions": [f"question {n}?" for n in range(values["count"])]}

    def aspects(self, values: Mapping[str, Any]) -> Any:
        return {"aspects": [{"aspect": "what it asks", "covered": False, "quote": ""}]}

    def rate(self, values: Mapping[str, Any]) -> Any:
        return {"level": len(values["levels"]) - 1, "reason": "it is"}

    def standalone(self, values: Mapping[str, Any]) -> Any:
        return {"question": f"{values['history'][0]['content']} {values['question']}"}

    def turns(self, values: Mapping[str, Any]) -> Any:
        row = {"addresses": True, "contradicts": "", "quote": "", "reason": ""}
        return {"turns": [{"id": turn["id"], **row} for turn in values["turns"]]}

    def goal(self, values: Mapping[str, Any]) -> Any:
        return {"turn": values["turns"][-1]["id"], "reason": "it is there"}

    def embed(self, values: Mapping[str, Any]) -> Any:
        return {"vectors": [[1.0, 0.0] for _ in values["texts"]]}


def _answered(value: Any) -> Answered:
    return value if isinstance(value, JudgeFailed) else Reply(value)


def drive(metric: Asking[Score], judge: Callable[[Ask], Any]) -> Score:
    """The score of one metric whose Asks go to the judge one by one."""
    try:
        asks = next(metric)
        while True:
            asks = metric.send(tuple(_answered(judge(ask)) for ask in asks))
    except StopIteration as end:
        return end.value


def play(
    specs: Sequence[Any], sample: Sample, judge: Callable[[Ask], Any]
) -> tuple[dict[str, Score | Unscored], list[list[Ask]]]:
    """What every metric makes of the sample, and the merged Asks of each round: the engine's way."""
    running, sent, ended = {}, {}, {}
    for spec in specs:
        one = resolve(spec)
        fields = [sample if f == "sample" else getattr(sample, f) for f in one.takes]
        running[one.name] = one.function(*fields, **one.options)
        sent[one.name] = None
    rounds: list[list[Ask]] = []
    while sent:
        asked: list[tuple[str, Ask]] = []
        waiting: dict[str, list[int]] = {}
        for name, replies in sent.items():
            try:
                asks = running[name].send(replies)
            except StopIteration as end:
                ended[name] = end.value
                continue
            except Unscored as outcome:
                ended[name] = outcome
                continue
            waiting[name] = list(range(len(asked), len(asked) + len(asks)))
            asked += [(name, ask) for ask in asks]
        merged = merge_asks([ask for _, ask in asked])
        answers: dict[int, Answered] = {}
        for one in merged:
            value = judge(one.ask)
            for index, take in one.parts:
                failed = isinstance(value, JudgeFailed)
                answers[index] = value if failed else Reply(take(value))
        if merged:
            rounds.append([one.ask for one in merged])
        sent = {name: tuple(answers[n] for n in places) for name, places in waiting.items()}
    return ended, rounds


@pytest.fixture(name="Script")
def script() -> type[Script]:
    return Script


@pytest.fixture(name="drive")
def driver() -> Callable[..., Score]:
    return drive


@pytest.fixture(name="play")
def player() -> Callable[..., Any]:
    return play
