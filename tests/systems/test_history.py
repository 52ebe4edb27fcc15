"""The earlier turns of a conversation reach the system under test."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone import evaluate
from ragstone.systems.factory import make_system
from ragstone.systems.protocol import phrase_question
from ragstone.types import ChatMessage, Sample

QUESTION = "And the Pro plan?"
HISTORY = [
    {"role": "user", "content": "How long is the warranty of the Basic plan?"},
    {"role": "assistant", "content": "Two years."},
]
SAMPLE = Sample(
    "1", QUESTION, messages=tuple(ChatMessage(m["role"], m["content"]) for m in HISTORY)
)
MESSAGES = [*HISTORY, {"role": "user", "content": QUESTION}]


class Recorder:
    """Keeps what a system was called with."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def ask(self, system: Any, **options: Any) -> Any:
        evaluate(
            [SAMPLE], ["latency"], system=make_system(system, warmup=0, **options), store=":memory:"
        )
        (call,) = self.calls
        return call


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.mark.parametrize("name", ["history", "chat_history"])
def test_a_function_by_its_argument(recorder: Recorder, name: str) -> None:
    space: dict[str, Any] = {"calls": recorder.calls}
    exec(f"def answer(question, {name}=()):\n calls.append((question, {name}))\n return 'x'", space)
    assert recorder.ask(space["answer"]) == (QUESTION, HISTORY)


def test_a_function_without_one_is_asked_with_the_turns_in_front(recorder: Recorder) -> None:
    def answer(question: str) -> str:
        recorder.calls.append(question)
        return "x"

    expected = f"{HISTORY[0]['content']}\nTwo years.\n{QUESTION}"
    assert recorder.ask(answer) == expected
    assert phrase_question(make_system(answer), Sample("1", QUESTION)) == QUESTION


def test_a_chat_engine(recorder: Recorder) -> None:
    class Engine:
        def reset(self) -> None:
            recorder.calls.clear()

        def chat(self, message: str, chat_history: list[Any] | None = None) -> str:
            recorder.calls.append((message, chat_history))
            return "x"

    assert recorder.ask(Engine()) == (QUESTION, HISTORY)


def test_a_runnable_by_its_inputs(recorder: Recorder) -> None:
    class Chain:
        def __init__(self, *names: str) -> None:
            self.names = names

        def get_input_jsonschema(self) -> dict[str, Any]:
            return {"properties": {name: {} for name in self.names}}

        def invoke(self, given: Any) -> str:
            recorder.calls.append(given)
            return "x"

        async def ainvoke(self, given: Any) -> str:
            return self.invoke(given)

    assert recorder.ask(Chain("input", "chat_history")) == {
        "input": QUESTION,
        "chat_history": HISTORY,
    }
    recorder.calls.clear()
    assert recorder.ask(Chain("messages")) == {"messages": MESSAGES}
    recorder.calls.clear()
    told = recorder.ask(Chain("x"), inputs={"q": "{question}", "past": "{history}"})
    assert told == {"q": QUESTION, "past": HISTORY}


def test_templates_of_http_and_commands() -> None:
    endpoint = make_system({"url": "http://localhost:1/x", "body": {"messages": "{messages}"}})
    assert phrase_question(endpoint, SAMPLE) == QUESTION
    plain = make_system({"url": "http://localhost:1/x", "body": {"q": "{question}"}})
    assert phrase_question(plain, SAMPLE).endswith(f"Two years.\n{QUESTION}")
    program = make_system({"command": "cat", "body": {"answer": "{messages}"}})
    assert phrase_question(program, SAMPLE) == QUESTION


def test_a_program_reads_the_messages() -> None:
    body = {"answer": "{question}", "contexts": "{history}"}
    program = make_system({"command": "cat", "body": body})
    run = evaluate([SAMPLE], ["latency"], system=program, store=":memory:")
    (sample,) = [row.sample for row in run.rows()]
    assert sample.answer == QUESTION
    assert sample.contexts is not None
    assert sample.contexts.texts == [message["content"] for message in HISTORY]


def test_a_script_of_questions_is_asked_with_the_own_answers() -> None:
    calls: list[Any] = []

    def answer(question: str, history: list[Any] = ()) -> str:  # type: ignore[assignment]
        calls.append((question, [m["content"] for m in history]))
        return f"answer to {question}"

    rows = [
        {"conversation": "a", "turn": n, "question": q} for n, q in enumerate(["A?", "B?", "C?"])
    ]
    run = evaluate(
        rows, ["latency"], system=make_system(answer, warmup=0, concurrency=4), store=":memory:"
    )
    assert sorted(calls) == [
        ("A?", []),
        ("B?", ["A?", "answer to A?"]),
        ("C?", ["A?", "answer to A?", "B?", "answer to B?"]),
    ]
    last = list(run.rows())[-1].sample
    assert last.messages is not None
    assert [m.content for m in last.messages] == calls[-1][1]


def test_a_failed_turn_fails_those_after_it() -> None:
    def answer(question: str, history: list[Any] = ()) -> str:  # type: ignore[assignment]
        if question == "A?":
            raise ValueError("no")
        return "x"

    rows = [{"conversation": "a", "turn": n, "question": q} for n, q in enumerate(["A?", "B?"])]
    run = evaluate(
        rows, ["answer_language"], system=make_system(answer, warmup=0), store=":memory:"
    )
    reasons = [row.sample.error for row in run.rows()]
    assert reasons[0] == "ValueError: no"
    assert "earlier question" in str(reasons[1])


def test_steps_of_a_reply_are_kept_and_stored() -> None:
    def answer(question: str) -> Any:
        call = {"id": "1", "name": "search", "args": {"q": "x"}}
        return {
            "messages": [
                {"role": "user", "content": question},
                {"role": "assistant", "content": "", "tool_calls": [call]},
                {"role": "tool", "content": "found", "tool_call_id": "1", "status": "error"},
                {"role": "assistant", "content": "It is there."},
            ]
        }

    run = evaluate([{"question": "Where?"}], ["latency"], system=answer, store=":memory:")
    (sample,) = [row.sample for row in run.rows()]
    assert sample.answer == "It is there."
    assert sample.steps is not None
    assert (sample.steps[0].tool, sample.steps[0].error) == ("search", "found")


def test_a_single_conversation_has_a_summary_with_its_latency() -> None:
    """All turns are one cluster: there is no interval, and no percentile but of what was seen."""
    script = [{"messages": [{"role": "user", "content": text} for text in ("One?", "Two?")]}]
    run = evaluate(script, ["latency"], system=lambda question: "x", store=":memory:")
    latency = run.summary()["latency"]
    assert (latency.scored, latency.clusters, latency.low) == (2, 1, None)
