"""Functions, generators, objects and programs of every kind are asked without glue; what is unclear is an error."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ragstone.errors import RagstoneError
from ragstone.systems import SystemFault, SystemReply, make_system
from ragstone.systems.methods import ANSWER_METHODS
from ragstone.systems.streams import merge_parts
from ragstone.types import Chunk, Ranked, Sample

CONTEXTS = Ranked([Chunk("d", "Paris is the capital.")])


def ask(target: Any, **options: Any) -> SystemReply:
    async def run() -> SystemReply:
        system = make_system(target, **options)
        try:
            return await system.answer("Capital?", Sample("1"))
        finally:
            await system.close()

    return asyncio.run(run())


# ── functions and generators ──────────────────────────────────────────────────────────────


def plain(question: str) -> dict[str, Any]:
    return {"answer": "Paris.", "contexts": [{"id": "d", "text": "Paris is the capital."}]}


async def awaited(question: str) -> dict[str, Any]:
    return plain(question)


def generator(question: str) -> Iterator[Any]:
    yield from ("Par", "is.")
    yield [{"id": "d", "text": "Paris is the capital."}]


async def async_generator(question: str) -> AsyncIterator[Any]:
    for part in generator(question):
        yield part


def returning_generator(question: str) -> Iterator[str]:
    yield "Par"
    yield "is."
    return {"contexts": plain(question)["contexts"]}  # type: ignore[return-value]


async def awaited_stream(question: str) -> AsyncIterator[Any]:
    return async_generator(question)


@pytest.mark.parametrize(
    "function",
    [plain, awaited, generator, async_generator, returning_generator, awaited_stream],
)
def test_functions_and_generators_answer(function: Callable[..., Any]) -> None:
    reply = ask(function)
    assert (reply.answer, reply.contexts) == ("Paris.", CONTEXTS)
    assert (reply.first_token is not None) == (function not in (plain, awaited))


@pytest.mark.parametrize(
    ("parts", "answer"),
    [
        (["ha", "ha"], "haha"),
        ([{"answer": "Par"}, {"answer": "is."}], "Paris."),
        ([{"answer": "Par"}, {"answer": "Paris"}, {"answer": "Paris."}], "Paris."),
        (["Par", "is.", {"answer": "Paris.", "tokens": 3}], "Paris."),
        (["Par", "is.", {"answer": " Really."}], "Paris. Really."),
        ([{"type": "token", "content": "Par"}, {"type": "token", "content": "is."}], "Paris."),
        ([{"delta": {"text": "Par"}}, {"token": "is."}], "Paris."),
    ],
)
def test_parts_of_a_stream_are_pieces_or_the_answer_so_far(parts: list[Any], answer: str) -> None:
    assert merge_parts(parts)["answer"] == answer


def test_documents_among_the_parts_of_a_stream_are_contexts_and_parts_of_a_message_are_text() -> (
    None
):
    documents = [{"id": "a", "text": "Paris is the capital."}]
    parts = [{"type": "sources", "content": documents}, {"type": "token", "content": "Paris."}]
    assert merge_parts(parts) == {"contexts": documents, "answer": "Paris."}
    message = {"content": [{"type": "text", "text": "Paris."}]}
    assert merge_parts([message]) == {"answer": "Paris."}


def test_a_stream_of_an_unknown_shape_names_what_it_brought() -> None:
    def events(question: str) -> Iterator[Any]:
        yield {"event": "token", "payload": "Paris."}

    with pytest.raises(SystemFault, match=r"no contexts \(event, payload\)"):
        ask(events)


# ── objects ───────────────────────────────────────────────────────────────────────────────


def answer_self(self: Any, question: str) -> dict[str, Any]:
    return plain(question)


async def answer_self_later(self: Any, question: str) -> dict[str, Any]:
    return plain(question)


@pytest.mark.parametrize("method", [answer_self, answer_self_later])
@pytest.mark.parametrize(
    "name",
    [form.format(m) for m in ANSWER_METHODS for form in ("{}", "a{}", "{}_async")] + ["__call__"],
)
def test_an_object_is_asked_by_its_one_method(name: str, method: Callable[..., Any]) -> None:
    kind = type("Rag", (), {name: method})
    reply = ask(kind())
    assert (reply.answer, reply.contexts) == ("Paris.", CONTEXTS)
    assert ask(kind).answer == "Paris.", "a class is made first"


def test_several_methods_are_an_error_that_says_what_to_write() -> None:
    class Rag:
        def query(self, question: str) -> str:
            return "queried"

        def chat(self, question: str) -> str:
            return "chatted"

    with pytest.raises(
        RagstoneError, match=r"Rag has query\(\) and chat\(\); say which answers: method: query"
    ):
        make_system(Rag())
    assert ask(Rag(), method="chat").answer == "chatted"
    with pytest.raises(RagstoneError, match="has no method 'talk'"):
        make_system(Rag(), method="talk")


def test_a_method_of_another_name_is_named_in_the_error() -> None:
    class Model:
        def predict(self, question: str) -> str:
            return "predicted"

    with pytest.raises(RagstoneError, match=r"or say its method: predict$"):
        make_system(Model())
    assert ask(Model(), method="predict").answer == "predicted"


def test_an_index_is_told_to_become_an_engine() -> None:
    class Index:
        def as_query_engine(self) -> None: ...

    with pytest.raises(RagstoneError, match=r"give what its as_query_engine\(\) returns"):
        make_system(Index())


def test_a_chat_that_remembers_is_reset_before_each_question() -> None:
    class Chat:
        def __init__(self) -> None:
            self.history: list[str] = []

        def reset(self) -> None:
            self.history.clear()

        def chat(self, message: str) -> str:
            self.history.append(message)
            return str(len(self.history))

    chat = Chat()
    assert [ask(chat).answer, ask(chat).answer] == ["1", "1"]


def test_an_object_may_want_its_question_in_a_mapping() -> None:
    class Rag:
        def run(self, data: dict[str, str]) -> str:
            return data["text"]

    assert ask(Rag(), inputs="text").answer == "Capital?"
    assert ask(Rag(), inputs={"text": "Q: {question}"}).answer == "Q: Capital?"


def test_settings_of_asking_are_not_those_of_the_system() -> None:
    system: Any = make_system(plain, concurrency=4, warmup=0, timeout=7)
    assert (system.concurrency, system.warmup, system.timeout) == (4, 0, 7)
    assert make_system({"python": plain, "warmup": 3}).identity() == make_system(plain).identity()
    for bad in ({"concurrency": 0}, {"warmup": -1}, {"timeout": 0}, {"concurrency": 1.5}):
        with pytest.raises(RagstoneError, match="give"):
            make_system(plain, **bad)

    def own(question: str, *, concurrency: int = 2) -> str:
        return str(concurrency)

    with pytest.raises(RagstoneError, match=r"write parameters: \{concurrency: …\}"):
        make_system(own, concurrency=3)
    assert ask({"python": own, "parameters": {"concurrency": 3}}).answer == "3"


# ── what frameworks return ────────────────────────────────────────────────────────────────


@dataclass
class Message:
    type: str
    content: str
    usage_metadata: dict[str, int] | None = None
    artifact: list[Any] | None = None
    name: str | None = None


@dataclass
class Streaming:
    response_gen: Any
    source_nodes: list[Any] = field(default_factory=list)


def test_the_last_message_of_a_state_answers_and_tools_give_contexts() -> None:
    state = {
        "messages": [
            Message("human", "An older question?"),
            Message("tool", "Older."),
            Message("ai", "An older answer."),
            Message("human", "Capital?"),
            Message("ai", "", {"total_tokens": 3}),
            Message("tool", "ignored", artifact=[{"id": "d", "text": "Paris is the capital."}]),
            Message("tool", "Also text.", name="search"),
            Message("ai", "Paris.", {"total_tokens": 4}),
        ]
    }
    reply = ask(lambda question: state)
    assert (reply.answer, reply.tokens) == ("Paris.", 7.0)
    assert reply.contexts == Ranked([*CONTEXTS, Chunk("search", "Also text.")])


def test_completions_pipeline_outputs_and_streaming_responses_are_read() -> None:
    completion = {
        "choices": [{"message": {"role": "assistant", "content": "Paris."}}],
        "usage": {"prompt_tokens": 2, "completion_tokens": 3},
    }
    assert ask(lambda question: completion).tokens == 5.0
    outputs = {
        "retriever": {"documents": [{"id": "d", "content": "Paris is the capital."}]},
        "llm": {"replies": [{"role": "assistant", "text": "Paris."}]},
    }
    streaming = Streaming(iter(["Par", "is."]), plain("")["contexts"])
    for returned in (outputs, streaming):
        reply = ask(lambda question, value=returned: value)
        assert (reply.answer, reply.contexts) == ("Paris.", CONTEXTS)


# ── commands ──────────────────────────────────────────────────────────────────────────────

ECHO = """
import json, sys
for count, line in enumerate(sys.stdin, 1):
    print(json.dumps({"answer": line.strip(), "tokens": count}), flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], list[str]]:
    def write(source: str) -> list[str]:
        path = tmp_path / "rag.py"
        path.write_text(source)
        return [sys.executable, str(path)]

    return write


def test_a_program_is_started_once_and_asked_line_by_line(program: Any) -> None:
    async def run() -> list[SystemReply]:
        system = make_system({"command": program(ECHO)})
        try:
            return [await system.answer(f"Why\n{n}?", Sample("1")) for n in range(3)]
        finally:
            await system.close()

    replies = asyncio.run(run())
    assert [reply.answer for reply in replies] == ["Why 0?", "Why 1?", "Why 2?"]
    assert [reply.tokens for reply in replies] == [1, 2, 3]


def test_a_program_may_take_json_or_the_question_as_an_argument(program: Any) -> None:
    words = program("import sys, json\nprint(json.loads(sys.stdin.readline())['q'])")
    assert ask({"command": words, "body": {"q": "{question}"}}).answer == "Capital?"
    words = program("import sys\nprint('two\\nlines of', sys.argv[1])")
    assert ask({"command": [*words, "{question}"]}).answer == "two\nlines of Capital?"


def test_a_program_that_breaks_is_the_systems_fault(program: Any) -> None:
    words = program("import sys\nsys.exit('no index')")
    with pytest.raises(SystemFault, match=r"wrote no reply \(exit code 1\); on stderr: no index"):
        ask({"command": words})
    with pytest.raises(SystemFault, match="could not be started"):
        ask("command:no-such-program-here")
    with pytest.raises(RagstoneError, match="the command is empty"):
        make_system("command:")


def test_a_late_reply_never_answers_the_next_question(program: Any) -> None:
    slow_first = """
import sys, time
for line in sys.stdin:
    if "slow" in line:
        time.sleep(60)
    print(line.strip(), flush=True)
"""

    async def run() -> str | None:
        system = make_system({"command": program(slow_first)})
        try:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await system.answer("slow?", Sample("1"))
            return (await system.answer("next?", Sample("2"))).answer
        finally:
            await system.close()

    assert asyncio.run(run()) == "next?"


def test_a_yaml_file_describes_a_system_for_any_command(tmp_path: Path) -> None:
    path = tmp_path / "rag.yaml"
    path.write_text(f"python: {__file__}:plain\nwarmup: 2\n")
    assert ask(str(path)).answer == "Paris."
    assert getattr(make_system(path), "warmup", None) == 2
    path.write_text("- nothing\n")
    with pytest.raises(RagstoneError, match="describes no system"):
        make_system(path)
