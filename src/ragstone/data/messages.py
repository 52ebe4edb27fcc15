"""Messages of a conversation as chat APIs, frameworks and training files write them, and the turns that they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.data.chunks import MISSING, get_first
from ragstone.data.strict_json import BadRow, decode_json_text
from ragstone.types import ChatMessage, Dialogue, Steps, ToolStep

_ROLES = {
    "user": "user", "human": "user",
    "assistant": "assistant", "ai": "assistant", "aimessagechunk": "assistant", "gpt": "assistant",
    "chatgpt": "assistant", "model": "assistant", "bot": "assistant", "function_call": "assistant",
    "tool": "tool", "function": "tool", "observation": "tool",
    "system": "system", "developer": "system",
}  # fmt: skip
"""Names of the roles in the OpenAI API, LangChain, Gemini and ShareGPT files."""
_ROLE_KEYS = ("role", "type", "from")
_TEXT_KEYS = ("content", "value", "text")
_TOOL_KEYS = ("tool", "name", "tool_name")
_ARGUMENT_KEYS = ("arguments", "args", "input_parameters", "parameters", "input")
_RESULT_KEYS = ("result", "output", "response")
_SECONDS_KEYS = ("seconds", "latency", "time")


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """A question of the user with what was said before and what the system did then."""

    question: str
    answer: str | None
    history: Dialogue
    """Questions and answers before, and the messages of the system role."""
    steps: Steps
    replies: tuple[Any, ...] = ()
    """The messages of the assistant, as they were given."""
    results: tuple[Any, ...] = ()
    """The messages of tools, as they were given."""


def get_role(message: Any) -> str | None:
    """The role of a message: user, assistant, system or tool; None when it is none of these."""
    role = get_first(message, _ROLE_KEYS)
    name = getattr(role, "value", role)  # Haystack and LlamaIndex keep roles as an enum
    return _ROLES.get(name.lower()) if isinstance(name, str) else None


def is_conversation(value: Any) -> bool:
    """Whether a value is a list of messages with roles."""
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(get_role(unwrap_message(item)) is not None for item in value)


def split_turns(messages: Iterable[Any]) -> list[ConversationTurn]:
    """The questions that were answered, and the last one; all of them when the system said nothing in between."""
    groups = _group_by_question([unwrap_message(message) for message in messages])
    is_script = not any(_list_of_role(group, "assistant") for _, group in groups)
    history: list[ChatMessage] = []
    turns: list[ConversationTurn] = []
    for index, (question, group) in enumerate(groups):
        turn = _read_turn(question or "", group, tuple(history))
        is_last = index == len(groups) - 1
        if question is not None and (turn.replies or is_script or is_last):
            turns.append(turn)
        history += _list_said(question, group, turn.answer)
    return turns


def _read_turn(question: str, group: Sequence[Any], history: Dialogue) -> ConversationTurn:
    replies, results = _list_of_role(group, "assistant"), _list_of_role(group, "tool")
    texts = [text for message in replies if (text := get_message_text(message))]
    return ConversationTurn(
        question,
        texts[-1] if texts else None,
        history,
        _pair_steps(replies, results),
        tuple(replies),
        tuple(results),
    )


def _list_said(question: str | None, group: Sequence[Any], answer: str | None) -> list[ChatMessage]:
    """What a turn adds to the history: messages of the system role, the question and its answer."""
    rules = [get_message_text(message) for message in _list_of_role(group, "system")]
    said = [ChatMessage("system", text) for text in rules if text]
    said += [ChatMessage("user", question)] if question is not None else []
    return said + ([ChatMessage("assistant", answer)] if answer is not None else [])


def _list_of_role(messages: Iterable[Any], role: str) -> list[Any]:
    return [message for message in messages if get_role(message) == role]


def to_dialogue(value: Any, column: str) -> Dialogue:
    """Convert a list of messages, or of texts of user and assistant in turn, to a dialogue."""
    value = decode_json_text(value)
    if not isinstance(value, list | tuple):
        raise BadRow(f'"{column}" is no list; give messages: [{{"role": "user", "content": …}}]')
    if all(isinstance(item, str) for item in value):
        roles = ("user", "assistant")
        return tuple(ChatMessage(roles[at % 2], text) for at, text in enumerate(value))
    dialogue = []
    for at, item in enumerate(map(unwrap_message, value)):
        role = get_role(item)
        if role is None:
            raise BadRow(
                f'"{column}"[{at}] has no role of user, assistant, system or tool; '
                'give {"role": "user", "content": …}'
            )
        text = get_message_text(item)
        if text and role != "tool":
            dialogue.append(ChatMessage(role, text))
    return tuple(dialogue)


def to_steps(value: Any, column: str) -> Steps:
    """Convert a list of tool calls, or of the names of tools, to steps."""
    value = decode_json_text(value)
    if not isinstance(value, list | tuple):
        raise BadRow(
            f'"{column}" is no list; give calls: [{{"tool": …, "arguments": {{…}}, "result": …}}]'
        )
    steps = []
    for at, item in enumerate(value):
        step = ToolStep(item) if isinstance(item, str) and item else _to_step(item)
        if step is None:
            raise BadRow(
                f'"{column}"[{at}] names no tool; give {{"tool": …, "arguments": {{…}}, "result": …}}'
            )
        steps.append(step)
    return tuple(steps)


def step_to_json(step: ToolStep) -> dict[str, Any]:
    """A step as it stands in a row: what is not known is left out."""
    names = ("tool", "arguments", "result", "error", "seconds")
    return {name: value for name in names if (value := getattr(step, name)) is not None}


def message_to_json(message: ChatMessage) -> dict[str, str]:
    """A message in the form of the OpenAI API."""
    return {"role": message.role, "content": message.content}


def unwrap_message(message: Any) -> Any:
    """A message without what LangChain puts around it in files, and a tool's of Haystack in the form of the others."""
    returned = getattr(message, "tool_call_result", None)
    if returned is not None:
        origin = returned.origin
        unwrapped = {"role": "tool", "name": origin.tool_name, "content": returned.result}
        known = {} if origin.id is None else {"tool_call_id": origin.id}
        return {**unwrapped, **known, "is_error": returned.error}
    if isinstance(message, Mapping):
        for key in ("kwargs", "data"):
            inner = message.get(key)
            if isinstance(inner, Mapping) and ("content" in inner or "tool_calls" in inner):
                return {"type": message.get("type"), **inner}
    return message


def get_message_text(message: Any) -> str:
    """The text of a message, the texts of its parts together; empty when it has none."""
    content = get_first(message, _TEXT_KEYS)
    if isinstance(content, list | tuple):
        parts = [part if isinstance(part, str) else get_first(part, ("text",)) for part in content]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _group_by_question(messages: Sequence[Any]) -> list[tuple[str | None, list[Any]]]:
    """Each question with the messages up to the next; what stands before the first has None for a question."""
    groups: list[tuple[str | None, list[Any]]] = []
    for message in messages:
        if get_role(message) == "user":
            groups.append((get_message_text(message), []))
        else:
            if not groups:
                groups.append((None, []))
            groups[-1][1].append(message)
    return groups


def _pair_steps(replies: Sequence[Any], results: Sequence[Any]) -> Steps:
    """The tool calls with their results: by the id of the call, else in order."""
    by_id = {get_first(result, ("tool_call_id",)): result for result in results}
    unclaimed = [result for result in results if get_first(result, ("tool_call_id",)) is MISSING]
    steps = []
    for call in [call for reply in replies for call in _list_calls(reply)]:
        step = _to_step(call)
        if step is None:
            continue
        result = by_id.get(get_first(call, ("id",)))
        if result is None and unclaimed:
            result = unclaimed.pop(0)
        steps.append(step if result is None else _add_result(step, result))
    return tuple(steps) or _name_results(results)


def _name_results(results: Sequence[Any]) -> Steps:
    """Steps of results without calls, as some exports leave them: the name of a tool stands on its message."""
    named = [(get_first(result, ("name",)), result) for result in results]
    return tuple(
        _add_result(ToolStep(name), result) for name, result in named if isinstance(name, str)
    )


def _add_result(step: ToolStep, message: Any) -> ToolStep:
    text = get_message_text(message)
    failed = get_first(message, ("status",)) == "error" or get_first(message, ("is_error",)) is True
    if failed:
        return ToolStep(step.tool, step.arguments, None, text or "the call failed", step.seconds)
    return ToolStep(step.tool, step.arguments, text, None, step.seconds)


def _list_calls(message: Any) -> list[Any]:
    calls = get_first(message, ("tool_calls", "tools_called"))
    if isinstance(calls, list | tuple):
        return list(calls)
    call = get_first(message, ("function_call",))
    if call is not MISSING and call is not None:
        return [call]
    if get_first(message, ("from",)) == "function_call":  # ShareGPT keeps the call as JSON
        return [decode_json_text(get_first(message, _TEXT_KEYS))]
    content = get_first(message, ("content",))
    parts = content if isinstance(content, list | tuple) else ()
    return [part for part in parts if get_first(part, ("type",)) == "tool_use"]


def _to_step(item: Any) -> ToolStep | None:
    """A call in any of the known forms; None when it names no tool."""
    function = get_first(item, ("function",))
    body = item if function is MISSING or isinstance(function, str) else function
    name = function if isinstance(function, str) else get_first(body, _TOOL_KEYS)
    if not isinstance(name, str) or not name:
        return None
    arguments = decode_json_text(get_first(body, _ARGUMENT_KEYS))
    result, error = (_get(item, keys) for keys in (_RESULT_KEYS, ("error",)))
    seconds = _get(item, _SECONDS_KEYS)
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return ToolStep(
        name,
        dict(arguments) if isinstance(arguments, Mapping) else None,
        None if result is None else _to_text(result),
        _to_text(error) if error else None,
        float(seconds) if is_number and 0 <= seconds < 1e15 else None,
    )


def _get(item: Any, keys: Iterable[str]) -> Any:
    value = get_first(item, keys)
    return None if value is MISSING else value


def _to_text(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
