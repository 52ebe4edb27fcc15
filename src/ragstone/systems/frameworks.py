"""Adapters for objects of LangChain, LangGraph, LlamaIndex, DSPy and Haystack, recognised by their methods without importing them."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.systems.dspy import adapt_dspy, is_dspy_module
from ragstone.systems.graph_streams import read_graph_stream
from ragstone.systems.haystack import (
    adapt_haystack,
    adapt_haystack_agent,
    is_haystack_agent,
    is_haystack_pipeline,
)
from ragstone.systems.llama_workflows import adapt_llama_workflow, is_llama_workflow
from ragstone.systems.methods import get_method
from ragstone.systems.templates import HISTORY_KEYS, QUESTION_KEYS, ask_by_template

AskFunction = Callable[..., Any]


def adapt_framework(
    target: Any, *, method: str | None = None, inputs: Any = None, answer: str | None = None
) -> tuple[str, AskFunction] | None:
    """Return the framework of an object and a function that asks it; None for anything else.

    `method` names another method to call, `inputs` its input: a key, or a mapping in which `{question}` stands for
    the question, `answer` the component of a pipeline that answers. Engines and retrievers of LlamaIndex need no adapter: they are asked
    as any object with `query`, `chat` or `retrieve`."""
    if is_haystack_agent(target):
        return "haystack", adapt_haystack_agent(target, get_method(target, method or "run"), inputs)
    if is_llama_workflow(target) and method is None:
        return "llama_index", adapt_llama_workflow(target, inputs)
    if is_haystack_pipeline(target):
        call = get_method(target, method or "run")
        return "haystack", adapt_haystack(target, call, inputs, answer)
    if is_dspy_module(target) and method is None:
        return "dspy", adapt_dspy(target, inputs)
    is_runnable = all(callable(getattr(target, name, None)) for name in ("invoke", "ainvoke"))
    if is_runnable and not isinstance(target, type):
        return "langchain", _adapt_langchain(target, method, inputs)
    return None


def _adapt_langchain(target: Any, method: str | None, inputs: Any) -> AskFunction:
    call = _invoke_either(target) if method is None else get_method(target, method)
    if method in ("stream", "astream") and _is_graph(target):
        call = read_graph_stream(call)
    if inputs is None:
        inputs = _find_langchain_inputs(target)
    if isinstance(inputs, str):
        inputs = {inputs: "{question}"}
    fields = {field.id for field in getattr(target, "config_specs", ())} & {"session_id"}
    fields |= {"thread_id"} if getattr(target, "checkpointer", None) else set()
    if fields:
        # what has a memory wants the name of a thread: a new one each, as questions are independent
        ask_in_thread = call

        def call(given: Any) -> Any:
            thread = secrets.token_hex(8)
            return ask_in_thread(given, {"configurable": dict.fromkeys(fields, thread)})

    if inputs is None:
        return call
    return ask_by_template(inputs, call)


def _invoke_either(target: Any) -> AskFunction:
    """`invoke`, or `ainvoke` once it shows that a part of the runnable is written for the latter alone.

    A callback collects what its retrievers give, for chains that return the text alone."""
    is_async = False

    def call(given: Any, config: Mapping[str, Any] | None = None) -> Any:
        nonlocal is_async
        collector = _make_collector(target)
        more = [] if config is None and collector is None else [dict(config or {})]
        if collector is not None:
            more[0]["callbacks"] = [collector]
        if not is_async:
            try:
                return _add_documents(target.invoke(given, *more), collector)
            except (TypeError, NotImplementedError) as raised:
                # LangGraph's word for nodes that are async only; a node's own error is not asked for twice
                if isinstance(raised, TypeError) and "synchronous" not in str(raised):
                    raise
                is_async = True
        return _await_documents(target.ainvoke(given, *more), collector)

    return call


def _make_collector(target: Any) -> Any:
    """A callback handler with the documents that were retrieved; None for what only looks like a runnable."""
    if _is_graph(target) or not type(target).__module__.startswith("langchain"):
        return None
    from langchain_core.callbacks import BaseCallbackHandler

    class Collector(BaseCallbackHandler):  # type: ignore[misc]
        def __init__(self) -> None:
            self.documents: list[Any] = []

        def on_retriever_end(self, documents: Any, **more: Any) -> None:
            self.documents += documents

    return Collector()


async def _await_documents(result: Any, collector: Any) -> Any:
    return _add_documents(await result, collector)


def _add_documents(result: Any, collector: Any) -> Any:
    """A text with the documents that its chain retrieved; anything else says itself what it has."""
    is_text = isinstance(result, str) or isinstance(getattr(result, "content", None), str)
    if collector is None or not collector.documents or not is_text:
        return result
    return {"answer": result, "contexts": collector.documents}


def _find_langchain_inputs(target: Any) -> Any:
    """Find the input of a runnable: a key, a conversation, or None when it takes the bare text."""
    names = _list_langchain_inputs(target)
    if names is None:
        return None
    key = next((name for name in QUESTION_KEYS if name in names), None)
    if key is not None:
        # a graph's state of messages beside the question is its own working memory
        history = () if _is_graph(target) else HISTORY_KEYS
        given = {key: "{question}"} | {name: "{history}" for name in history if name in names}
        missing = [name for name in names if names[name] and name not in given]
        if missing:
            raise RagstoneError(
                f"the chain wants {', '.join(missing)} besides the question; give it a retriever, or "
                f'say what it is given: inputs={{"{key}": "{{question}}", "{missing[0]}": …}}'
            )
        return given
    if "messages" in names:
        return {"messages": "{messages}"}
    if _is_graph(target):
        raise RagstoneError(
            f"the state of the graph has {', '.join(names)}; say which is the question: inputs: KEY"
        )
    return None


def _list_langchain_inputs(target: Any) -> dict[str, bool] | None:
    """The keys of a runnable's input, and whether it must have each; None when it has none, or cannot describe them."""
    if _is_graph(target):
        # by the annotations: the JSON schema of a typing.TypedDict cannot be made before Python 3.12;
        # the nodes of a graph fill the rest of its state
        builder = target.builder
        fields = _collect_fields(getattr(builder, "input_schema", builder.state_schema))
        return dict.fromkeys(fields, False)
    describe = getattr(target, "get_input_jsonschema", None)
    if not callable(describe):
        return None
    try:
        schema = describe()
    except Exception:  # some runnables cannot describe their input; the bare text is what most take
        return None
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return None
    return {name: name in schema.get("required", ()) for name in properties}


def _is_graph(target: Any) -> bool:
    """Whether a runnable is a compiled graph of LangGraph."""
    return isinstance(getattr(getattr(target, "builder", None), "state_schema", None), type)


def _collect_fields(state: type) -> dict[str, Any]:
    """The annotations of a state's classes: MessagesState and its like inherit theirs."""
    fields: dict[str, Any] = {}
    for kind in state.__mro__:
        fields |= inspect.get_annotations(kind)
    return fields
