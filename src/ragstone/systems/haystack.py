"""Haystack pipelines: the question is given to their open inputs, the outputs of their components become one reply."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ragstone.data.chunks import MISSING, get_first
from ragstone.errors import RagstoneError
from ragstone.systems.fields import ANSWER_KEYS, CONTEXT_KEYS
from ragstone.systems.templates import QUESTION_KEYS, ask_by_template


def adapt_haystack(target: Any, call: Callable[..., Any], inputs: Any) -> Callable[..., Any]:
    """Return a function that asks a pipeline by calling this method of it, sync or async.

    `inputs` is a template of the data with `{question}`; anything but a mapping: built from the open inputs."""
    template = inputs if isinstance(inputs, Mapping) else _build_inputs(target)
    retrievers = _find_retrievers(target)

    def run(data: Any) -> Any:
        outputs = call(data, include_outputs_from=retrievers) if retrievers else call(data)
        return _await_outputs(outputs) if inspect.isawaitable(outputs) else merge_outputs(outputs)

    return ask_by_template(template, run)


async def _await_outputs(outputs: Any) -> Any:
    return merge_outputs(await outputs)


def _build_inputs(target: Any) -> dict[str, Any]:
    """Build the template of the pipeline's open inputs that take a question."""
    inputs: dict[str, Any] = {}
    missing: list[str] = []
    for component, slots in target.inputs().items():
        for name, slot in slots.items():
            # the type may be absent, or a text in a serialised pipeline
            if name in QUESTION_KEYS and slot.get("type") in (str, "str", str | None, None, Any):
                inputs.setdefault(component, {})[name] = "{question}"
            elif slot.get("is_mandatory"):
                missing.append(f"{component}.{name}")
    if not inputs or missing:
        problem = f"wants {', '.join(missing)}" if missing else "has no open input for a question"
        raise RagstoneError(
            f'the pipeline {problem}; say what it is given: inputs={{"component": '
            '{"input": "{question}"}}'
        )
    return inputs


def _find_retrievers(target: Any) -> set[str]:
    """Find the components that output documents, which a pipeline hides unless they are requested."""
    outputs_of = getattr(target, "outputs", None)
    if not callable(outputs_of):
        return set()
    try:
        outputs = outputs_of(include_components_with_connected_outputs=True)
    except TypeError:  # an older or another pipeline: only its visible outputs can be read
        return set()
    return {component for component, slots in outputs.items() if "documents" in slots}


def merge_outputs(outputs: Any) -> Any:
    """Merge the outputs of the components into one reply; the last answer wins."""
    if not isinstance(outputs, Mapping):
        return outputs
    reply: dict[str, Any] = {}
    for output in outputs.values():
        if not isinstance(output, Mapping):
            continue
        for name in ("documents", *CONTEXT_KEYS):
            if name in output:
                reply["contexts"] = output[name]
        texts = output.get("replies", output.get("answers"))
        # generators return several candidates; the first is what a user would see
        if isinstance(texts, list) and texts:
            reply |= _read_candidate(texts[0])
            tokens = _get_tokens(output.get("meta")) or _get_tokens(
                [getattr(texts[0], "meta", None)]
            )
            if tokens is not None:
                reply["tokens"] = tokens
        for name in ANSWER_KEYS:
            if isinstance(output.get(name), str):
                reply["answer"] = output[name]
    return reply or outputs


def _read_candidate(candidate: Any) -> dict[str, Any]:
    """Read a reply: a text, a ChatMessage, or a GeneratedAnswer with its documents; each also as a mapping."""
    answer = get_first(candidate, ("data", "answer", "text", "content"))
    documents = get_first(candidate, ("documents",))
    read = {"answer": candidate if answer is MISSING or isinstance(candidate, str) else answer}
    return read | ({"contexts": documents} if isinstance(documents, list) and documents else {})


def _get_tokens(meta: Any) -> Any:
    if isinstance(meta, list) and meta and isinstance(meta[0], Mapping):
        return meta[0].get("usage") or None
    return None
