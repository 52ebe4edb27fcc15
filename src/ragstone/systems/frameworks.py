"""Adapters for LangChain, LlamaIndex and Haystack objects, recognised by their methods without importing them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.systems.replies import ANSWER_KEYS, CONTEXT_KEYS

QUESTION_KEYS = ("question", "query", "input", "text", "prompt", "user_input", "query_text")
"""Names of the input that takes the question, the likeliest first."""

AskFunction = Callable[[str], Any]


def adapt_framework(
    target: Any, *, method: str | None = None, inputs: Any = None
) -> tuple[str, AskFunction] | None:
    """Return the framework of an object and a function that asks it; None for anything else.

    `method` names another method to call, `inputs` its input: a key, or a mapping in which `{question}` stands for
    the question."""
    # three methods each, so that an object of the user's own with a `run` is not taken for a
    # pipeline; Haystack first, as its pipelines are the most specific
    if _has_methods(target, "run", "inputs", "add_component"):
        return "haystack", _adapt_haystack(target, method or "run", inputs)
    if _has_methods(target, "invoke", "ainvoke"):
        return "langchain", _adapt_langchain(target, method or "invoke", inputs)
    if _has_methods(target, "query", "aquery"):
        return "llamaindex", _adapt_llamaindex(target, method or "query")
    if _has_methods(target, "retrieve", "aretrieve"):
        return "llamaindex", _adapt_llamaindex(target, method or "retrieve")
    return None


def fill_template(template: Any, values: Mapping[str, Any]) -> Any:
    """Replace `{name}` in a template by its value: alone by the value itself, inside a text by its text."""
    if isinstance(template, Mapping):
        return {key: fill_template(item, values) for key, item in template.items()}
    if isinstance(template, list | tuple):
        return [fill_template(item, values) for item in template]
    if not isinstance(template, str) or "{" not in template:
        return template
    if template[1:-1] in values and template == "{" + template[1:-1] + "}":
        return values[template[1:-1]]
    parts, index = [], 0
    while index < len(
        template
    ):  # one pass, so that braces in a question are never taken for a placeholder
        end = template.find("}", index) if template[index] == "{" else -1
        if end > 0 and template[index + 1 : end] in values:
            parts.append(_to_text(values[template[index + 1 : end]]))
            index = end + 1
        else:
            parts.append(template[index])
            index += 1
    return "".join(parts)


def _to_text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _has_methods(target: Any, *methods: str) -> bool:
    return not isinstance(target, type) and all(
        callable(getattr(target, name, None)) for name in methods
    )


def _get_method(target: Any, name: str) -> Callable[..., Any]:
    method = getattr(target, name, None)
    if not callable(method):
        raise RagstoneError(f"{type(target).__name__} has no method {name!r}; leave `method` out")
    return method  # type: ignore[no-any-return]


def _adapt_langchain(target: Any, method: str, inputs: Any) -> AskFunction:
    call = _get_method(target, method)
    if inputs is None:
        inputs = _find_langchain_key(target)
    if isinstance(inputs, str):
        inputs = {inputs: "{question}"}
    if inputs is None:
        return call
    return lambda question: call(fill_template(inputs, {"question": question}))


def _find_langchain_key(target: Any) -> str | None:
    """Find the input key of a runnable; None when it takes the bare text."""
    schema_of = getattr(target, "get_input_jsonschema", None)
    if not callable(schema_of):
        return None
    try:
        schema = schema_of()
    except Exception:  # some runnables cannot describe their input; the bare text is what most take
        return None
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return None
    return next((name for name in QUESTION_KEYS if name in properties), None)


def _adapt_llamaindex(target: Any, method: str) -> AskFunction:
    return _get_method(target, method)


def _adapt_haystack(target: Any, method: str, inputs: Any) -> AskFunction:
    call = _get_method(target, method)
    template = inputs if isinstance(inputs, Mapping) else _build_haystack_inputs(target)
    retrievers = _find_haystack_retrievers(target)

    def ask(question: str) -> Any:
        data = fill_template(template, {"question": question})
        outputs = call(data, include_outputs_from=retrievers) if retrievers else call(data)
        return _merge_haystack_outputs(outputs)

    return ask


def _build_haystack_inputs(target: Any) -> dict[str, Any]:
    """Build the template of the pipeline's open inputs that take a question."""
    inputs: dict[str, Any] = {}
    missing: list[str] = []
    for component, slots in target.inputs().items():
        for name, slot in slots.items():
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


def _find_haystack_retrievers(target: Any) -> set[str]:
    """Find the components that output documents, which a pipeline hides unless they are requested."""
    outputs_of = getattr(target, "outputs", None)
    if not callable(outputs_of):
        return set()
    try:
        outputs = outputs_of(include_components_with_connected_outputs=True)
    except TypeError:  # an older or another pipeline: only its visible outputs can be read
        return set()
    return {component for component, slots in outputs.items() if "documents" in slots}


def _merge_haystack_outputs(outputs: Any) -> Any:
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
            first = texts[0]
            reply["answer"] = getattr(first, "data", None) or getattr(first, "text", first)
            if getattr(first, "documents", None):
                reply["contexts"] = first.documents
            reply["tokens"] = _get_haystack_tokens(output)
        for name in ANSWER_KEYS:
            if isinstance(output.get(name), str):
                reply["answer"] = output[name]
    return reply or outputs


def _get_haystack_tokens(output: Mapping[str, Any]) -> Any:
    meta = output.get("meta")
    if isinstance(meta, list) and meta and isinstance(meta[0], Mapping):
        return meta[0].get("usage") or None
    return None
