"""LangChain, LlamaIndex and Haystack objects, known by their methods; nothing of theirs is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.systems.reading import ANSWERS, CONTEXTS

QUESTIONS = ("question", "query", "input", "text", "prompt", "user_input", "query_text")
"""What inputs for a question are called, the likeliest first."""

Asked = Callable[[str], Any]


def framework_call(
    target: Any, *, method: str | None = None, inputs: Any = None
) -> tuple[str, Asked] | None:
    """The kind of a framework's object and a function that asks it; None for anything else.

    `method` names another method to call, `inputs` says what it is given: a key, or a mapping in which
    `{question}` stands for the question."""
    if _has(target, "run", "inputs", "add_component"):
        return "haystack", _haystack(target, method or "run", inputs)
    if _has(target, "invoke", "ainvoke"):
        return "langchain", _langchain(target, method or "invoke", inputs)
    if _has(target, "query", "aquery"):
        return "llamaindex", _llamaindex(target, method or "query")
    if _has(target, "retrieve", "aretrieve"):
        return "llamaindex", _llamaindex(target, method or "retrieve")
    return None


def filled_in(template: Any, values: Mapping[str, Any]) -> Any:
    """A template with `{name}` replaced by values: alone it becomes the value itself, inside a text its text."""
    if isinstance(template, Mapping):
        return {key: filled_in(item, values) for key, item in template.items()}
    if isinstance(template, list | tuple):
        return [filled_in(item, values) for item in template]
    if not isinstance(template, str) or "{" not in template:
        return template
    if template[1:-1] in values and template == "{" + template[1:-1] + "}":
        return values[template[1:-1]]
    parts, at = [], 0
    while at < len(template):  # one pass: what a question contains is never taken for a placeholder
        end = template.find("}", at) if template[at] == "{" else -1
        if end > 0 and template[at + 1 : end] in values:
            parts.append(_as_text(values[template[at + 1 : end]]))
            at = end + 1
        else:
            parts.append(template[at])
            at += 1
    return "".join(parts)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _has(target: Any, *methods: str) -> bool:
    return not isinstance(target, type) and all(
        callable(getattr(target, name, None)) for name in methods
    )


def _method(target: Any, name: str) -> Callable[..., Any]:
    found = getattr(target, name, None)
    if not callable(found):
        raise RagstoneError(f"{type(target).__name__} has no method {name!r}; leave `method` out")
    return found  # type: ignore[no-any-return]


def _langchain(target: Any, method: str, inputs: Any) -> Asked:
    call = _method(target, method)
    if inputs is None:
        inputs = _langchain_key(target)
    if isinstance(inputs, str):
        inputs = {inputs: "{question}"}
    if inputs is None:
        return call
    return lambda question: call(filled_in(inputs, {"question": question}))


def _langchain_key(target: Any) -> str | None:
    """The key under which a runnable wants the question; None when it takes the bare text."""
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
    return next((name for name in QUESTIONS if name in properties), None)


def _llamaindex(target: Any, method: str) -> Asked:
    return _method(target, method)


def _haystack(target: Any, method: str, inputs: Any) -> Asked:
    call = _method(target, method)
    template = inputs if isinstance(inputs, Mapping) else _haystack_inputs(target)
    shown = _haystack_retrievers(target)

    def ask(question: str) -> Any:
        data = filled_in(template, {"question": question})
        given = call(data, include_outputs_from=shown) if shown else call(data)
        return _haystack_reply(given)

    return ask


def _haystack_inputs(target: Any) -> dict[str, Any]:
    """The open inputs of the pipeline that take a question."""
    found: dict[str, Any] = {}
    wanted: list[str] = []
    for component, slots in target.inputs().items():
        for name, about in slots.items():
            if name in QUESTIONS and about.get("type") in (str, "str", str | None, None, Any):
                found.setdefault(component, {})[name] = "{question}"
            elif about.get("is_mandatory"):
                wanted.append(f"{component}.{name}")
    if not found or wanted:
        what = f"wants {', '.join(wanted)}" if wanted else "has no open input for a question"
        raise RagstoneError(
            f'the pipeline {what}; say what it is given: inputs={{"component": '
            '{"input": "{question}"}}'
        )
    return found


def _haystack_retrievers(target: Any) -> set[str]:
    """Components that give documents, whose outputs a pipeline hides unless asked for them."""
    outputs_of = getattr(target, "outputs", None)
    if not callable(outputs_of):
        return set()
    try:
        outputs = outputs_of(include_components_with_connected_outputs=True)
    except TypeError:  # an older or another pipeline: only what it shows by itself
        return set()
    return {component for component, slots in outputs.items() if "documents" in slots}


def _haystack_reply(given: Any) -> Any:
    """One reply from the outputs of the components; the last one that speaks decides."""
    if not isinstance(given, Mapping):
        return given
    reply: dict[str, Any] = {}
    for output in given.values():
        if not isinstance(output, Mapping):
            continue
        for name in ("documents", *CONTEXTS):
            if name in output:
                reply["contexts"] = output[name]
        texts = output.get("replies", output.get("answers"))
        if isinstance(texts, list) and texts:
            first = texts[0]
            reply["answer"] = getattr(first, "data", None) or getattr(first, "text", first)
            if getattr(first, "documents", None):
                reply["contexts"] = first.documents
            reply["tokens"] = _haystack_tokens(output)
        for name in ANSWERS:
            if isinstance(output.get(name), str):
                reply["answer"] = output[name]
    return reply or given


def _haystack_tokens(output: Mapping[str, Any]) -> Any:
    about = output.get("meta")
    if isinstance(about, list) and about and isinstance(about[0], Mapping):
        return about[0].get("usage") or None
    return None
