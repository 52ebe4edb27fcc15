"""Workflows of LlamaIndex, and its agents, which are workflows: run with the question, read to the end with their tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.systems.templates import QUESTION_KEYS, ask_by_template


def is_llama_workflow(target: Any) -> bool:
    """Whether an object is a workflow of LlamaIndex."""
    return all(hasattr(type(target), name) for name in ("run", "start_event_class"))


def adapt_llama_workflow(target: Any, inputs: Any = None) -> Callable[..., Any]:
    """What asks a workflow: by the field of its start event that takes the question, or by `inputs`."""
    template = {inputs: "{question}"} if isinstance(inputs, str) else inputs
    return ask_by_template(
        _build_inputs(target) if template is None else template, lambda data: _run(target, data)
    )


def _build_inputs(target: Any) -> dict[str, Any]:
    start = target.start_event_class
    if any(kind.__name__ == "AgentWorkflowStartEvent" for kind in start.__mro__):
        return {"user_msg": "{question}", "chat_history": "{history}"}
    fields = start.model_fields
    if not fields:
        # a start event takes whatever it is given, and only the steps know under which name they read it
        return dict.fromkeys(QUESTION_KEYS, "{question}")
    required = [name for name, field in fields.items() if field.is_required()]
    key = next((name for name in QUESTION_KEYS if name in fields), None)
    key = required[0] if key is None and len(required) == 1 else key
    missing = [name for name in required if name != key]
    if key is None or missing:
        raise RagstoneError(
            f"the workflow starts with {', '.join(missing or fields)}; say what it is given: "
            f'inputs={{"{(missing or list(fields))[0]}": "{{question}}"}}'
        )
    return {key: "{question}"}


async def _run(target: Any, data: Mapping[str, Any]) -> Any:
    """The result of a run, with the calls of tools that its events tell of."""
    handler = target.run(**data)
    steps, nodes = [], []
    async for event in handler.stream_events():
        output = getattr(event, "tool_output", None)
        if output is not None:
            steps.append(_to_step(event, output))
            nodes += _list_nodes(output.raw_output)
    result = await handler
    if not steps:
        return result
    return {"answer": getattr(result, "response", result), "steps": steps} | (
        {"contexts": nodes} if nodes else {}
    )


def _to_step(event: Any, output: Any) -> dict[str, Any]:
    outcome = "error" if output.is_error else "result"
    return {"tool": event.tool_name, "arguments": event.tool_kwargs, outcome: output.content}


def _list_nodes(output: Any) -> list[Any]:
    """The nodes that a tool returned: of a query engine, or of a retriever."""
    nodes = getattr(output, "source_nodes", output)
    return [node for node in nodes if hasattr(node, "node")] if isinstance(nodes, list) else []
