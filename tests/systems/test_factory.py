"""What a user writes becomes a system; what they mistype is said."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragstone.errors import RagstoneError
from ragstone.systems import SystemFault, SystemReply, make_system, takes_contexts
from ragstone.systems.replies import parse_reply
from ragstone.types import Chunk, Ranked, Sample, chunks


def ask(system: Any, question: str = "Why?", sample: Sample | None = None) -> SystemReply:
    return asyncio.run(system.answer(question, sample or Sample("1", question)))


# ── functions and objects ─────────────────────────────────────────────────────────────────


def test_parameters_are_those_with_a_default() -> None:
    def answer(
        question: str, contexts: Ranked | None = None, *, top_k: int = 3, deep: bool = False
    ) -> str:
        return f"{question} {top_k}"

    system = make_system(answer, top_k=7)
    assert dict(system.parameters) == {"top_k": 7, "deep": False}
    assert ask(system).answer == "Why? 7"


def test_two_lambdas_are_two_systems() -> None:
    found = [make_system(f).identity() for f in (lambda q: "yes", lambda q: "no")]
    assert found[0] != found[1]
    built = [make_system(f).identity() for f in (lambda: Shop("dry"), lambda: Shop("warm"))]
    assert built[0] != built[1]
    assert make_system(ask_twice).identity() == make_system(ask_twice).identity()


def ask_twice(question: str, times: int = 2) -> str:
    return question * times


@dataclass
class Settings:
    depth: int = 1


class Shop:
    def __init__(self, tone: str = "dry") -> None:
        self.tone = tone
        self.top_k = 2
        self.config = {"rerank": False}
        self.settings = Settings()

    def query(self, question: str, *, lines: int = 1) -> str:
        return f"{self.tone} {self.top_k} {self.config['rerank']} {self.settings.depth} {lines}"


CHANGES = {"tone": "warm", "top_k": 3, "rerank": True, "depth": 4, "lines": 5}


@pytest.mark.parametrize("target", [Shop(), Shop, lambda: Shop()])
def test_settings_of_an_object_are_its_attributes_its_configuration_or_parameters(
    target: Any,
) -> None:
    system = make_system(target, **CHANGES)
    assert ask(system).answer == "warm 3 True 4 5"
    assert dict(system.parameters) == CHANGES
    assert ask(make_system(target)).answer == "dry 2 False 1 1", "the user's object stays as it is"
    with pytest.raises(RagstoneError, match="no parameter 'colour'"):
        make_system(target, colour="red")


def test_an_unknown_parameter_is_refused_before_any_question() -> None:
    def answer(question: str, *, top_k: int = 3) -> str:
        return question

    with pytest.raises(RagstoneError, match="no parameter 'topk'; did you mean 'top_k'"):
        make_system(answer, topk=7)


def test_a_function_that_takes_contexts_can_be_given_some() -> None:
    def answer(question: str, contexts: Ranked | None = None) -> str:
        return "none" if contexts is None else " ".join(contexts.texts)

    system: Any = make_system(answer)
    given = chunks({"id": "a", "text": "gold"})
    reply = asyncio.run(system.answer_with("Why?", given))
    assert takes_contexts(system)
    assert (reply.answer, reply.contexts) == ("gold", given)
    assert ask(system).answer == "none"
    assert not takes_contexts(make_system(lambda question: question))


def test_a_class_is_made_with_its_parameters(tmp_path: Path) -> None:
    path = tmp_path / "rag.py"
    path.write_text(
        "class Rag:\n"
        "    def __init__(self, top_k=3):\n        self.top_k = top_k\n"
        "    async def answer(self, question):\n        return {'answer': str(self.top_k)}\n"
        "    def answer_with(self, question, contexts):\n        return contexts[0].text\n"
        "def make(*, top_k=3):\n    return Rag(top_k)\n"
        "ready = Rag(4)\n"
    )
    for name in ("Rag", "make"):
        system = make_system(f"{path}:{name}", top_k=9)
        assert (ask(system).answer, system.parameters["top_k"]) == ("9", 9)
        assert takes_contexts(system)
    assert ask(make_system({"python": f"{path}:ready"})).answer == "4"


def test_identity_is_stable_across_processes_only_when_it_can_be() -> None:
    known = make_system(f"{__file__}:a_function"), make_system(f"{__file__}:a_function")
    assert known[0].identity() == known[1].identity()
    held = {"n": 1}

    def closing(question: str) -> str:
        return f"{held['n']}"

    assert make_system(closing).identity() != make_system(closing).identity()
    assert (
        make_system(closing, version="7").identity() == make_system(closing, version="7").identity()
    )


def a_function(question: str) -> str:
    return question


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("nonsense", "'nonsense' is no system; give pipeline, module:function"),
        ("no_such_module:f", "cannot import 'no_such_module' for the system"),
        ("nowhere.jsonl", "no file 'nowhere.jsonl'"),
        (17, "int is no system"),
        ({"url": "https://x/", "predictions": "y"}, "a system has one of"),
        ({"url": "ftp://x/"}, "is not a URL"),
        (lambda: None, "cannot|is no system"),
        (lambda question, key: None, "wants 'key' besides the question"),
    ],
)
def test_mistakes_are_one_sentence(spec: Any, says: str) -> None:
    with pytest.raises(RagstoneError, match=says) as raised:
        make_system(spec)
    assert "\n" not in str(raised.value)


# ── replies ───────────────────────────────────────────────────────────────────────────────


class Message:
    content = "hello"
    usage_metadata = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}  # noqa: RUF012


@pytest.mark.parametrize(
    ("value", "reply"),
    [
        ("a", SystemReply("a")),
        (("a", ["t"]), SystemReply("a", Ranked([Chunk(text="t")]))),
        ({"answer": "a", "contexts": []}, SystemReply("a", Ranked())),
        ({"response": "a", "context_ids": ["x", 7]}, SystemReply("a", chunks("x", "7"))),
        (
            {"answer": "a", "contexts": ["t"], "ids": ["x"], "latency": 2, "cost": 0.5},
            SystemReply("a", Ranked([Chunk("x", "t")]), 2.0, None, 0.5),
        ),
        (
            {"answer": "a", "contexts": [{"page_content": "t", "metadata": {"source": "f"}}]},
            SystemReply("a", Ranked([Chunk("f", "t")])),
        ),
        ([{"id": "x", "text": "t", "score": 0.5}], SystemReply(None, Ranked([Chunk("x", "t", 0.5)]))),
        (Message(), SystemReply("hello", None, None, 7.0)),
        ({"answer": "a", "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
         SystemReply("a", None, None, 3.0)),
        ({"answer": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, SystemReply("ab")),
    ],
)  # fmt: skip
def test_whatever_is_returned_is_read(value: Any, reply: SystemReply) -> None:
    assert parse_reply(value) == reply
    assert SystemReply.from_json(json.loads(json.dumps(reply.to_json()))) == reply


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "returned nothing"),
        ({}, "no answer and no contexts"),
        ({"anser": "a"}, r"no answer and no contexts \(anser\)"),
        ({"answer": None}, "answer is null"),
        ({"answer": 5}, "answer is a int"),
        ({"answer": "a", "contexts": 5}, "contexts are a int"),
        ({"answer": "a", "contexts": ["t"], "ids": []}, "1 context and 0 ids"),
        ({"answer": "a", "latency": "fast"}, "latency is 'fast'"),
        ({"answer": "a", "cost": float("nan")}, "cost is nan"),
        ({"answer": "a", "contexts": [object()]}, "without text and id"),
        ({"error": "rate limit"}, "rate limit"),
    ],
)
def test_what_cannot_be_judged_is_the_systems_fault(value: Any, says: str) -> None:
    with pytest.raises(SystemFault, match=says):
        parse_reply(value)


def test_id_from_says_where_ids_stand() -> None:
    reply = parse_reply([{"text": "t", "metadata": {"doc": {"key": 5}}}], "metadata.doc.key")
    assert reply.contexts == Ranked([Chunk("5", "t")])
    with pytest.raises(SystemFault, match=r"nothing at 'metadata\.nope'"):
        parse_reply([{"text": "t", "metadata": {}}], "metadata.nope")


# ── predictions ───────────────────────────────────────────────────────────────────────────


def test_predictions_are_matched_by_id_else_by_question(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    rows = [
        {"id": "7", "question": "Other?", "answer": "by id"},
        {"question": "Why  not?", "answer": "by question", "latency": 0.5},
        {"question": "Twice?", "answer": "a"},
        {"question": "Twice?", "answer": "b"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    system = make_system(str(path))
    assert ask(system, "Anything?", Sample("7")).answer == "by id"
    reply = ask(system, "why not?", Sample("x"))
    assert (reply.answer, reply.latency) == ("by question", 0.5)
    for question in ("Twice?", "Never?"):
        with pytest.raises(SystemFault, match="no prediction for 'x' in"):
            ask(system, question, Sample("x"))


def test_changed_predictions_are_another_system(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    identities = []
    for answer in ("a", "b"):
        path.write_text(json.dumps({"id": "1", "question": "?", "answer": answer}))
        identities.append(make_system(path).identity())
    assert identities[0] != identities[1]
