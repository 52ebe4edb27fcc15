"""Conversations as rows: whole ones, one row a turn, and samples with their history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone import read
from ragstone.errors import BadRows, DataError
from ragstone.types import ChatMessage, Sample, ToolStep

FIRST, ANSWER, SECOND, REPLY = (
    "How long is the warranty of the Basic plan?",
    "It is two years.",
    "And the Pro plan?",
    "Five years.",
)
HISTORY = (ChatMessage("user", FIRST), ChatMessage("assistant", ANSWER))
OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": FIRST},
    {"role": "assistant", "content": ANSWER},
    {"role": "user", "content": [{"type": "text", "text": SECOND}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"plan": "Pro"}'}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "Pro: five years"},
    {"role": "assistant", "content": REPLY},
]  # fmt: skip


def samples(rows: Any, **options: Any) -> list[Sample]:
    return [record.sample for record in read(rows, **options)]


@pytest.mark.parametrize(
    ("column", "messages"),
    [
        ("messages", OPENAI),
        (
            "messages",
            [
                {"type": "human", "data": {"content": FIRST}},
                {"type": "ai", "data": {"content": ANSWER}},
                {"type": "human", "data": {"content": SECOND}},
                {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "search", "args": {"plan": "Pro"}, "id": "x"}]}},
                {"type": "tool", "data": {"content": "Pro: five years", "tool_call_id": "x"}},
                {"type": "ai", "data": {"content": REPLY}},
            ],
        ),
        (
            "user_input",
            [
                {"type": "human", "content": FIRST},
                {"type": "ai", "content": ANSWER},
                {"type": "human", "content": SECOND},
                {"type": "ai", "content": "Let me look.", "tool_calls": [{"name": "search", "args": {"plan": "Pro"}}]},
                {"type": "tool", "content": "Pro: five years"},
                {"type": "ai", "content": REPLY},
            ],
        ),
        (
            "conversations",
            [
                {"from": "human", "value": FIRST},
                {"from": "gpt", "value": ANSWER},
                {"from": "human", "value": SECOND},
                {"from": "function_call", "value": '{"name": "search", "arguments": {"plan": "Pro"}}'},
                {"from": "observation", "value": "Pro: five years"},
                {"from": "gpt", "value": REPLY},
            ],
        ),
        (
            "turns",
            [
                {"role": "user", "content": FIRST},
                {"role": "assistant", "content": ANSWER},
                {"role": "user", "content": SECOND},
                {"role": "assistant", "content": REPLY, "tools_called": [{"name": "search", "input_parameters": {"plan": "Pro"}, "output": "Pro: five years"}]},
            ],
        ),
    ],
    ids=["openai", "langchain", "ragas", "sharegpt", "deepeval"],
)  # fmt: skip
def test_each_turn_of_a_conversation_is_a_sample(column: str, messages: Any) -> None:
    row = {"id": "talk", column: messages, "reference": "five years", "topic": "plans"}
    first, second = samples([row])
    assert (first.question, first.answer, first.reference) == (FIRST, ANSWER, None)
    assert first.messages in ((), (ChatMessage("system", "Be brief."),))
    assert (second.question, second.answer, second.reference) == (SECOND, REPLY, "five years")
    assert second.messages is not None
    assert tuple(m for m in second.messages if m.role != "system") == HISTORY
    assert second.steps == (ToolStep("search", {"plan": "Pro"}, "Pro: five years"),)
    assert second.contexts is not None
    assert second.contexts.texts == ["Pro: five years"]
    assert [s.group for s in (first, second)] == ["talk", "talk"]
    assert [s.meta["turn"] for s in (first, second)] == [1, 2]
    assert second.meta["topic"] == "plans"


def test_greetings_and_thanks_are_history_alone_and_counted() -> None:
    texts = ["Hello", "Hello, how can I help?", FIRST, ANSWER, "Thanks!", "You are welcome."]
    messages = [{"role": ("user", "assistant")[n % 2], "content": t} for n, t in enumerate(texts)]
    dataset = read([{"messages": messages}])
    (sample,) = [record.sample for record in dataset]
    assert (sample.question, sample.meta["turn"], sample.meta["turns"]) == (FIRST, 3, 3)
    assert dataset.notes == ["read 2 turns as history alone: greetings, thanks and the like"]


def test_yes_to_a_question_of_the_system_is_a_turn() -> None:
    texts = [FIRST, "Do you mean the plan of 2024?", "Yes", ANSWER]
    messages = [{"role": ("user", "assistant")[n % 2], "content": t} for n, t in enumerate(texts)]
    assert [s.question for s in samples([{"messages": messages}])] == [FIRST, "Yes"]


def test_rows_of_one_conversation_get_their_history_by_turn_whatever_their_order() -> None:
    rows = [
        {"conversation": "a", "turn": 10, "question": "Why?", "answer": "So."},
        {"conversation": "a", "turn": 9, "question": SECOND, "answer": REPLY},
        {"conversation": "a", "turn": 1, "question": FIRST, "answer": ANSWER},
        {"conversation": "b", "turn": 1, "question": "Other?", "answer": "Yes."},
    ]
    last, second, first, other = samples(rows)
    assert first.messages == other.messages == ()
    assert second.messages == HISTORY
    assert last.messages is not None
    assert [m.content for m in last.messages] == [FIRST, ANSWER, SECOND, REPLY]
    assert [s.group for s in (last, second, first, other)] == ["a", "a", "a", "b"]
    assert (last.id, last.meta["turn"], last.meta["turns"]) == ("a#3", 3, 3)


@pytest.mark.parametrize(
    "reply",
    [
        {"answer": REPLY},
        {"response": {"choices": [{"message": {"role": "assistant", "content": REPLY}}]}},
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": REPLY}}]},
        {"output": [{"role": "assistant", "content": [{"type": "output_text", "text": REPLY}]}]},
    ],
    ids=["a text", "a completion", "its choices", "messages"],
)
def test_the_reply_to_the_last_message_may_stand_in_a_column_of_its_own(reply: Any) -> None:
    dataset = read([{"messages": OPENAI[:4], **reply, "usage": {"total_tokens": 9}}])
    *_, last = [record.sample for record in dataset]
    assert (last.question, last.answer) == (SECOND, REPLY)
    assert dataset.notes == ["columns left over (in meta where they are short): usage"]
    (said,) = samples([{"messages": OPENAI[:3], **reply}])
    assert said.answer == ANSWER, "the messages have one themselves"


def test_runs_below_others_bring_contexts_and_steps() -> None:
    """Rows as `langsmith.Client.list_runs` gives them, and nested as `read_run(load_child_runs=True)` does."""
    root = {
        "id": "r", "name": "rag", "run_type": "chain", "trace_id": "r", "parent_run_id": None,
        "start_time": "2025-01-01T00:00:00", "end_time": "2025-01-01T00:00:02",
        "inputs": {"input": FIRST}, "outputs": {"output": ANSWER},
    }  # fmt: skip
    found = {"documents": [{"page_content": "Basic: two years", "metadata": {"source": "a.md"}}]}
    parts = [
        {"id": "s", "name": "search", "run_type": "tool", "parent_run_id": "r", "trace_id": "r",
         "inputs": {"input": "{'plan': 'Basic'}"}, "outputs": {"output": {"type": "tool", "content": "found"}}},
        {"id": "d", "name": "store", "run_type": "retriever", "parent_run_id": "s", "trace_id": "r",
         "inputs": {"query": FIRST}, "outputs": found},
    ]  # fmt: skip
    nested = {**root, "child_runs": [{**parts[0], "child_runs": [parts[1]]}]}
    for rows in ([root, *parts], [parts[1], parts[0], root], [nested]):
        dataset = read(rows)
        (sample,) = [record.sample for record in dataset]
        assert (sample.question, sample.answer, sample.meta["latency"]) == (FIRST, ANSWER, 2)
        assert sample.contexts is not None
        assert (sample.contexts.ids, sample.contexts.texts) == (["a.md"], ["Basic: two years"])
        assert sample.steps == (ToolStep("search", {"plan": "Basic"}, "found"),)
        assert "read 2 runs as parts of the runs above" in dataset.notes


def test_the_last_retriever_with_documents_counts_and_times_may_be_milliseconds() -> None:
    root = {"id": "r", "run_type": "chain", "trace_id": "r", "parent_run_id": None,
            "start_time": 1_700_000_000_000, "end_time": 1_700_000_001_500,
            "inputs": {"input": FIRST}, "outputs": {"output": ANSWER}}  # fmt: skip
    searches = [
        {"id": str(second), "run_type": "retriever", "parent_run_id": "r", "trace_id": "r",
         "start_time": f"2025-01-01T00:00:0{second}", "inputs": {"query": FIRST}, "outputs": documents}
        for second, documents in enumerate([
            {"documents": [{"page_content": "first search"}]},
            [{"page_content": "second search"}],
            {"documents": []},
        ])
    ]  # fmt: skip
    (sample,) = [record.sample for record in read([root, *searches])]
    assert sample.contexts is not None
    assert sample.contexts.texts == ["second search"]
    assert sample.meta["latency"] == 1.5


def test_threads_of_langsmith_by_time_and_without_inner_runs() -> None:
    def run(n: int, question: str, answer: str, **more: Any) -> dict[str, Any]:
        return {
            "id": f"r{n}",
            "run_type": "chain",
            "start_time": f"2025-01-01T00:00:0{n}",
            "inputs": {"question": question},
            "outputs": {"answer": answer},
            "extra": {"metadata": {"thread_id": "t"}},
            **more,
        }

    rows = [
        run(2, SECOND, REPLY),
        run(1, FIRST, ANSWER),
        run(3, "inner", "x", parent_run_id="r2"),
    ]
    second, first = samples(rows)
    assert (second.id, second.messages, second.group) == ("r2", HISTORY, "t")
    assert first.messages == ()


@pytest.mark.parametrize(
    "history",
    [
        [FIRST, ANSWER],
        [{"role": "user", "content": FIRST}, {"role": "assistant", "content": ANSWER}],
        [{"role": "user", "content": FIRST}, {"role": "assistant", "content": ANSWER}, {"role": "user", "content": SECOND}],
    ],
    ids=["texts", "messages", "with the question"],
)  # fmt: skip
def test_a_question_may_bring_its_history(history: Any, tmp_path: Path) -> None:
    table = tmp_path / "data.csv"
    table.write_text(
        'question,answer,messages\n"And the Pro plan?","Five years.","'
        + json.dumps(history).replace('"', '""')
        + '"\n'
    )
    for source in (
        [{"question": SECOND, "answer": REPLY, "messages": history}],
        [{"question": SECOND, "answer": REPLY, "meta": {"history": history}}],
        table,
    ):
        (sample,) = samples(source)
        assert sample.messages == HISTORY
        (again,) = samples([sample])
        assert again == sample


def test_steps_are_read_in_the_usual_forms_and_written_back() -> None:
    row = {
        "question": FIRST,
        "steps": [
            {"tool": "search", "arguments": {"q": "x"}, "result": "found", "seconds": 0.5},
            {"name": "book", "args": {"day": 3}, "error": "closed"},
        ],
        "expected_steps": ["search", {"tool": "book", "arguments": {"day": 3}}],
    }
    (sample,) = samples([row])
    assert sample.steps == (
        ToolStep("search", {"q": "x"}, "found", None, 0.5),
        ToolStep("book", {"day": 3}, None, "closed"),
    )
    assert sample.expected_steps == (ToolStep("search"), ToolStep("book", {"day": 3}))
    assert sample.contexts is not None
    assert [(c.id, c.text) for c in sample.contexts] == [("search", "found")]
    assert samples([sample]) == [sample]


@pytest.mark.parametrize(
    ("column", "value", "complaint"),
    [
        ("messages", "hello", '"messages" is no list'),
        ("messages", [{"role": "wizard", "content": "x"}], r'"messages"\[0\] has no role'),
        ("steps", {"tool": "x"}, '"steps" is no list'),
        ("steps", [{"arguments": {}}], r'"steps"\[0\] names no tool'),
    ],
)
def test_what_is_no_conversation_is_said(column: str, value: Any, complaint: str) -> None:
    with pytest.raises(BadRows, match=complaint):
        samples([{"question": FIRST, column: value}])


def test_a_row_without_messages_among_conversations_is_named() -> None:
    with pytest.raises(DataError, match="sample 2: no messages"):
        samples([{"messages": OPENAI}, {"messages": []}])


def span(name: str, at: int, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "traceId": more.get("trace", "a" * 32),
        "spanId": f"{at:016x}",
        "parentSpanId": more.get("parent", ""),
        "name": name,
        "startTimeUnixNano": str(at * 10**9),
        "endTimeUnixNano": str(at * 10**9 + 5 * 10**8),
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in attributes.items()],
        "status": {"code": 2, "message": more["error"]} if "error" in more else {},
    }


def to_request(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}]


@pytest.mark.parametrize(
    "tool",
    [
        {"openinference.span.kind": "TOOL", "tool.name": "search", "input.value": '{"q": "Pro"}', "output.value": "five years"},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": '{"q": "Pro"}', "gen_ai.tool.call.result": "five years"},
    ],
    ids=["OpenInference", "GenAI"],
)  # fmt: skip
def test_traces_hold_steps_and_the_conversation(tool: dict[str, str]) -> None:
    root = {"openinference.span.kind": "CHAIN", "input.value": SECOND, "output.value": REPLY}
    model = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(
            [
                {"role": "user", "content": FIRST},
                {"role": "assistant", "content": ANSWER},
                {"role": "user", "content": SECOND},
            ]
        ),
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "content": REPLY}]),
    }
    spans = [
        span("agent", 1, root),
        span("search", 2, tool, parent=f"{1:016x}"),
        span("book", 3, {**tool, "tool.name": "book", "gen_ai.tool.name": "book"}, parent=f"{1:016x}", error="closed"),
        span("chat", 4, model, parent=f"{1:016x}"),
    ]  # fmt: skip
    (sample,) = samples(to_request(spans))
    assert (sample.question, sample.answer, sample.messages) == (SECOND, REPLY, HISTORY)
    assert sample.steps == (
        ToolStep("search", {"q": "Pro"}, "five years", None, 0.5),
        ToolStep("book", {"q": "Pro"}, None, "closed", 0.5),
    )


def test_traces_of_one_session_are_turns_by_time() -> None:
    def chain(at: int, question: str, answer: str) -> dict[str, Any]:
        kind = {"openinference.span.kind": "CHAIN", "session.id": "s"}
        texts = {"input.value": question, "output.value": answer}
        return span("rag", at, {**kind, **texts}, trace=f"{at:032x}")

    second, first = samples(to_request([chain(9, SECOND, REPLY), chain(2, FIRST, ANSWER)]))
    assert (second.messages, second.group, second.meta["turn"]) == (HISTORY, "s", 2)
    assert first.messages == ()


def test_sessions_of_langfuse_are_conversations() -> None:
    def trace(at: int, given: Any, answer: Any) -> dict[str, Any]:
        time = f"2025-01-01T00:00:0{at}Z"
        return {
            "id": f"t{at}",
            "timestamp": time,
            "input": given,
            "output": answer,
            "sessionId": "s",
        }

    spoken = {"role": "assistant", "content": REPLY}
    second, first = samples([trace(2, SECOND, spoken), trace(1, {"question": FIRST}, ANSWER)])
    assert (second.answer, second.messages, second.group) == (REPLY, HISTORY, "s")
    assert first.messages == ()


def test_a_turn_without_a_call_made_none_where_calls_are_expected() -> None:
    messages = [{"role": "user", "content": FIRST}, {"role": "assistant", "content": ANSWER}]
    (sample,) = samples([{"messages": messages, "expected_steps": ["search"]}])
    assert sample.steps == ()
    (sample,) = samples([{"messages": messages}])
    assert sample.steps is None
