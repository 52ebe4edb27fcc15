"""Adapters for LangChain, LangGraph and Haystack objects, recognised by their methods without importing them."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.systems.haystack import adapt_haystack
from ragstone.systems.templates import HISTORY_KEYS, QUESTION_KEYS, ask_by_template

AskFunction = Callable[..., Any]


def adapt_framework(
    target: Any, *, method: str | None = None, inputs: Any = None
) -> tuple[str, AskFunction] | None:
    """Return the framework of an object and a function that asks it; None for anything else.

    `method` names another method to call, `inputs` its input: a key, or a mapping in which `{question}` stands for
    the question. LlamaIndex needs no adapter: its objects are asked as any object with `query`, `chat` or `retrieve`."""
    # several methods each, so that an object of the user's own with a `run` is not taken for a
    # pipeline; Haystack first, as its pipelines are the most specific
    if _has_methods(target, "run", "inputs", "add_component"):
        return "haystack", adapt_haystack(target, get_method(target, method or "run"), inputs)
    if _has_methods(target, "invoke", "ainvoke"):
        return "langchain", _adapt_langchain(target, method or "invoke", inputs)
    return None


def _has_methods(target: Any, *methods: str) -> bool:
    return not isinstance(target, type) and all(
        callable(getattr(target, name, None)) for name in methods
    )


def get_method(target: Any, name: str) -> Callable[..., Any]:
    """The method that the user names."""
    method = getattr(target, name, None)
    if not callable(method):
        raise RagstoneError(f"{type(target).__name__} has no method {name!r}; leave `method` out")
    return method  # type: ignore[no-any-return]


def _adapt_langchain(target: Any, method: str, inputs: Any) -> AskFunction:
    call = get_method(target, method)
    if inputs is None:
        inputs = _find_langchain_inputs(target)
    if isinstance(inputs, str):
        inputs = {inputs: "{question}"}
    if getattr(target, "checkpointer", None):
        # a graph with a memory wants the name of a thread: a new one each, as questions are independent
        ask_in_thread = call

        def call(given: Any) -> Any:
            return ask_in_thread(given, {"configurable": {"thread_id": secrets.token_hex(8)}})

    if inputs is None:
        return call
    return ask_by_template(inputs, call)


def _find_langchain_inputs(target: Any) -> Any:
    """Find the input of a runnable: a key, a conversation, or None when it takes the bare text."""
    names = _list_langchain_inputs(target)
    if names is None:
        return None
    key = next((name for name in QUESTION_KEYS if name in names), None)
    if key is not None:
        # a graph's state of messages beside the question is its own working memory
        history = () if _is_graph(target) else HISTORY_KEYS
        return {key: "{question}"} | {name: "{history}" for name in history if name in names}
    if "messages" in names:
        return {"messages": "{messages}"}
    if _is_graph(target):
        raise RagstoneError(
            f"the state of the graph has {', '.join(names)}; say which is the question: inputs: KEY"
        )
    return None


def _list_langchain_inputs(target: Any) -> list[str] | None:
    """List the keys of a runnable's input; None when it has none, or cannot describe them."""
    if _is_graph(target):
        # by the annotations: the JSON schema of a typing.TypedDict cannot be made before Python 3.12
        builder = target.builder
        return list(_collect_fields(getattr(builder, "input_schema", builder.state_schema)))
    describe = getattr(target, "get_input_jsonschema", None)
    if not callable(describe):
        return None
    try:
        schema = describe()
    except Exception:  # some runnables cannot describe their input; the bare text is what most take
        return None
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return list(properties) if isinstance(properties, Mapping) else None


def _is_graph(target: Any) -> bool:
    """Whether a runnable is a compiled graph of LangGraph."""
    return isinstance(getattr(getattr(target, "builder", None), "state_schema", None), type)


def _collect_fields(state: type) -> dict[str, Any]:
    """The annotations of a state's classes: MessagesState and its like inherit theirs."""
    fields: dict[str, Any] = {}
    for kind in state.__mro__:
        fields |= inspect.get_annotations(kind)
    return fields
