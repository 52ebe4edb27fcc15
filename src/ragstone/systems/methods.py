"""Which method of a user's object answers a question."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from typing import Any

from ragstone.errors import RagstoneError

ANSWER_METHODS = ("answer", "query", "ask", "invoke", "run", "chat")
"""Methods that take a question; each also in its async forms."""
_MAKERS = ("as_query_engine", "compile")
"""Methods of what is no system yet: an index of LlamaIndex, a graph of LangGraph."""
_ASYNC_FORMS = ("a{}", "{}_async", "async_{}")


def choose_method(target: Any) -> Callable[..., Any]:
    """The method of an object that answers; RagstoneError when there is none, or more than one.

    The sync form comes first: it runs in a thread of its own, where it is timed alone."""
    methods = {
        name: method for name in ANSWER_METHODS if (method := _find_form(target, name)) is not None
    }
    if len(methods) > 1:
        names = [f"{name}()" for name in methods]
        raise RagstoneError(
            f"{type(target).__name__} has {', '.join(names[:-1])} and {names[-1]}; say which "
            f"answers: method: {next(iter(methods))}"
        )
    for name, method in methods.items():  # at most one
        return _reset_first(target, method) if name == "chat" else method
    # named methods first: __call__ is often only their short form
    retrieve = _find_form(target, "retrieve")
    if callable(target) or retrieve is not None:
        return target if retrieve is None else retrieve
    raise RagstoneError(
        f"{type(target).__name__} is no system; give a function, or an object with one of "
        f"{', '.join(ANSWER_METHODS)}, retrieve or __call__{_suggest_method(target)}"
    )


def _suggest_method(target: Any) -> str:
    """What to write for an object of the user's own, at the end of an error; nothing for other values."""
    for maker in _MAKERS:
        if hasattr(target, maker):
            return f"; of this one, give what its {maker}() returns"
    kind = type(target)
    own = [] if kind.__module__ == "builtins" else [n for n, v in vars(kind).items() if callable(v)]
    public = [name for name in own if not name.startswith("_")]
    return f"; or say its method: {public[0]}" if len(public) == 1 else ""


def _find_form(target: Any, name: str) -> Callable[..., Any] | None:
    for form in (name, *(text.format(name) for text in _ASYNC_FORMS)):
        method = getattr(target, form, None)
        if callable(method):
            return method  # type: ignore[no-any-return]
    return None


def get_method(target: Any, name: str) -> Callable[..., Any]:
    """The method that the user names; one of a chat forgets the question before, as by default."""
    method = getattr(target, name, None)
    if not callable(method):
        raise RagstoneError(f"{type(target).__name__} has no method {name!r}; leave `method` out")
    return _reset_first(target, method) if "chat" in name else method


def _reset_first(target: Any, chat: Callable[..., Any]) -> Callable[..., Any]:
    """A chat that forgets the question before, when the object can: the questions of a test set are independent."""
    reset = getattr(target, "reset", None)
    if not callable(reset):
        return chat

    def ask_afresh(question: str) -> Any:
        reset()
        return chat(question)

    def ask_with_history(question: str, chat_history: Sequence[Mapping[str, str]] = ()) -> Any:
        reset()
        return chat(question, chat_history=_to_own_messages(target, chat_history))

    return ask_with_history if "chat_history" in _list_parameters(chat) else ask_afresh


def _list_parameters(function: Callable[..., Any]) -> Collection[str]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # a builtin has no signature
        return ()


def _to_own_messages(target: Any, history: Sequence[Mapping[str, str]]) -> list[Any]:
    """The messages in LlamaIndex's own class for its chat engines, as they are for anything else."""
    if not type(target).__module__.startswith("llama_index"):
        return list(history)
    own_class = import_module("llama_index.core.llms").ChatMessage
    return [own_class(role=message["role"], content=message["content"]) for message in history]
