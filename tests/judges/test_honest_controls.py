"""An honest judge is believed: ordinary answers of many shapes pass every check, and all their claims count."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

import ragstone
from faults.controls import CONTROLS, Control
from ragstone.asks import Reply, useful
from ragstone.judges.completion import Completion, CompletionRequest
from ragstone.judges.embeddings import OfflineEmbeddings
from ragstone.judges.model_judge import ModelJudge
from ragstone.types import Chunk, Usage


class HonestModel:
    """Reads the labels of a prompt and answers each with what the control says; what it does not know it judges as invented."""

    name, concurrency, deadline = "honest", 4, 60.0
    notes: tuple[str, ...] = ()

    def __init__(self, control: Control) -> None:
        self.claims = {
            " ".join(sentence.split()): [claim for claim, _ in claims]
            for sentence, claims in control.answer
        }
        self.quotes = {claim: quote for _, claims in control.answer for claim, quote in claims}
        self.calls: list[CompletionRequest] = []

    def identity(self) -> Mapping[str, Any]:
        return {"model": "honest"}

    async def complete(self, request: CompletionRequest) -> Completion:
        self.calls.append(request)
        check = re.search(r'{"check": "(\w+)"', request.user)
        assert check is not None
        reply = getattr(self, f"_{request.name}")(request.user)
        return Completion(json.dumps({"check": check[1], **reply}), usage=Usage(1, 10, 10))

    async def close(self) -> None:
        return

    def _claims(self, user: str) -> dict[str, Any]:
        rows = []
        for label, sentence in re.findall(r"^(s\d+): (.*)$", user, re.MULTILINE):
            claims = self.claims.get(sentence, [sentence])
            rows += [{"sentence": label, "claim": claim} for claim in claims or [""]]
        return {"claims": rows}

    def _support(self, user: str) -> dict[str, Any]:
        rows = []
        for label, claim in re.findall(r"^(c\d+): (.*)$", user, re.MULTILINE):
            quote = self.quotes.get(claim)
            row: dict[str, Any] = {
                "id": label,
                "verdict": "not_found",
                "evidence": [],
                "reason": "",
            }
            if quote is not None:
                row |= {"verdict": "supported", "evidence": [{"source": "k1", "quote": quote}]}
            rows.append(row)
        return {"verdicts": rows}

    def _useful(self, user: str) -> dict[str, Any]:
        """Half help for everything that was not invented just now."""
        rows = []
        for label, text in re.findall(r"passage (k\d+)\n(.*)$", user, re.MULTILINE):
            grade = 1 if text in self.quotes else 0
            rows.append({"id": label, "grade": grade, "reason": ""})
        return {"grades": rows}

    def _rate(self, user: str) -> dict[str, Any]:
        return {"reason": "", "level": 2, "control": 0}


def put(model: HonestModel, ask: Any) -> Any:
    return asyncio.run(ModelJudge(model, OfflineEmbeddings()).answer([ask]))[0]


def test_there_are_sixty_controls_in_two_languages_and_more() -> None:
    assert len(CONTROLS) >= 60
    assert sum(control.language == "es" for control in CONTROLS) >= 18


@pytest.mark.parametrize("control", CONTROLS, ids=lambda one: f"{one.language} {one.name}")
def test_an_honest_reading_is_believed(control: Control) -> None:
    model = HonestModel(control)
    answer = "\n".join(sentence for sentence, _ in control.answer)
    sample = {"id": "1", "question": "q", "answer": answer, "contexts": control.contexts,
              "language": control.language}  # fmt: skip
    judge = ModelJudge(model, OfflineEmbeddings())
    (row,) = ragstone.evaluate([sample], ["faithfulness"], judge=judge).rows()
    score = row.scores["faithfulness"]
    assert score.ok, score
    wanted = [claim for _, claims in control.answer for claim, _ in claims]
    assert [finding.text for finding in score.findings] == wanted
    assert score.value == 1.0, [f for f in score.findings if f.verdict != "supported"]
    assert len(model.calls) == 2  # nothing was asked for a second time


def test_a_single_sentence_is_split_without_a_call() -> None:
    from ragstone.asks import claims

    model = HonestModel(CONTROLS[0])
    answered = put(
        model,
        claims("The tower stands in Paris and it was built in 1889.", "Cats sleep. Dogs run."),
    )
    assert isinstance(answered, Reply)
    rows = [row["claim"] for row in answered.value["claims"] if row["text_id"] == "t1"]
    assert [row.rstrip(".") for row in rows] == [
        "The tower stands in Paris",
        "It was built in 1889",
    ]
    assert len(model.calls) == 1
    assert "tower" not in model.calls[0].user
    alone = HonestModel(CONTROLS[0])
    assert isinstance(put(alone, claims("The tower stands in Paris.")), Reply)
    assert not alone.calls


@pytest.mark.parametrize(
    "passages", [["The receipt is needed"], ["The receipt is needed", "x y"], ["x y"]]
)
def test_an_honest_grade_stands_beside_the_probe(passages: list[str]) -> None:
    control = next(control for control in CONTROLS if control.name == "negation")
    model = HonestModel(control)
    model.quotes["The receipt is needed"] = ""
    chunks = [Chunk(text=text) for text in passages]
    answered = put(model, useful("What is needed?", chunks, {"question": None}))
    assert isinstance(answered, Reply)
    grades = [row["grade"] for row in answered.value["grades"]]
    assert grades == [int(text != "x y") for text in passages]
