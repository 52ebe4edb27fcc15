"""Haystack pipelines and agents: the question is given to their open inputs, the outputs of their components become one reply."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from ragstone.data.chunks import MISSING, get_first
from ragstone.data.messages import is_conversation
from ragstone.errors import RagstoneError
from ragstone.systems.fields import ANSWER_KEYS, CONTEXT_KEYS
from ragstone.systems.protocol import SystemFault
from ragstone.systems.templates import QUESTION_KEYS, ask_by_template


def is_haystack_pipeline(target: Any) -> bool:
    """Whether an object is a pipeline of Haystack: several methods, so that an object of the user's own with a `run` is not."""
    methods = ("run", "inputs", "add_component")
    return not isinstance(target, type) and all(callable(getattr(target, n, None)) for n in methods)


def is_haystack_agent(target: Any) -> bool:
    """Whether an object is an agent of Haystack."""
    names = ("run", "run_async", "chat_generator", "state_schema")
    return not isinstance(target, type) and all(hasattr(target, name) for name in names)


def adapt_haystack_agent(target: Any, call: Callable[..., Any], inputs: Any) -> Callable[..., Any]:
    """What asks an agent, which takes a conversation; `inputs` is a template of other data."""
    template = inputs if isinstance(inputs, Mapping) else {"messages": "{messages}"}
    return ask_by_template(template, lambda data: call(**_to_own_messages(target, data)))


def adapt_haystack(
    target: Any, call: Callable[..., Any], inputs: Any, answer: str | None = None
) -> Callable[..., Any]:
    """Return a function that asks a pipeline by calling this method of it, sync or async.

    `inputs` is a template of the data with `{question}`; anything but a mapping: built from the open inputs. `answer`
    names the component that answers, where several do."""
    template = inputs if isinstance(inputs, Mapping) else _build_inputs(target)
    shown = _find_retrievers(target) | ({answer} if answer else set())

    def run(data: Any) -> Any:
        data = _to_own_messages(target, data)
        outputs = call(data, include_outputs_from=shown) if shown else call(data)
        if inspect.isawaitable(outputs):
            return _await_outputs(outputs, answer)
        return merge_outputs(outputs, answer)

    return ask_by_template(template, run)


def _to_own_messages(target: Any, data: Any) -> Any:
    """The data with messages of the OpenAI form in Haystack's own class."""
    if not type(target).__module__.startswith("haystack"):
        return data
    own_class = import_module("haystack.dataclasses").ChatMessage

    def convert(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: convert(item) for name, item in value.items()}
        is_dialogue = isinstance(value, list) and is_conversation(value)
        return [own_class.from_openai_dict_format(item) for item in value] if is_dialogue else value

    return convert(data)


async def _await_outputs(outputs: Any, answer: str | None) -> Any:
    return merge_outputs(await outputs, answer)


def _build_inputs(target: Any) -> dict[str, Any]:
    """Build the template of the pipeline's open inputs that take a question."""
    inputs: dict[str, Any] = {}
    missing: list[str] = []
    for component, slots in target.inputs().items():
        for name, slot in slots.items():
            # the type may be absent, or a text in a serialised pipeline
            if name in QUESTION_KEYS and slot.get("type") in (str, "str", str | None, None, Any):
                inputs.setdefault(component, {})[name] = "{question}"
            elif name == "messages" and slot.get("is_mandatory"):
                inputs.setdefault(component, {})[name] = "{messages}"
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


def merge_outputs(outputs: Any, answer: str | None = None) -> Any:
    """Merge the outputs of the components into one reply; `answer` names the component that answers."""
    if not isinstance(outputs, Mapping):
        return outputs
    reply: dict[str, Any] = {}
    for output in outputs.values():
        if not isinstance(output, Mapping):
            continue
        for name in ("documents", *CONTEXT_KEYS):
            if name in output:
                reply["contexts"] = output[name]
        if "messages" in output:  # of an agent
            reply["messages"] = output["messages"]
            reply |= {"tokens": output["token_usage"]} if "token_usage" in output else {}
    reply |= _choose_answer({answer: outputs[answer]} if answer in outputs else outputs)
    return reply or outputs


def _choose_answer(outputs: Mapping[Any, Any]) -> dict[str, Any]:
    """The answer among the outputs: one that was built from replies before the replies; SystemFault where two differ."""
    for kind in ("answers", "replies", *ANSWER_KEYS):
        answers = {
            name: _read_answer(output, kind)
            for name, output in outputs.items()
            if isinstance(output, Mapping) and output.get(kind)
        }
        answers = {name: read for name, read in answers.items() if read}
        if len({str(read["answer"]) for read in answers.values()}) > 1:
            raise SystemFault(
                "several_answers", names=", ".join(answers), example=next(iter(answers))
            )
        for read in answers.values():  # all the same
            return read
    return {}


def _read_answer(output: Mapping[str, Any], kind: str) -> dict[str, Any]:
    value = output[kind]
    if kind not in ("answers", "replies"):
        return {"answer": value} if isinstance(value, str) else {}
    if not isinstance(value, list):
        return {}
    # generators return several candidates; the first is what a user would see
    read = _read_candidate(value[0])
    tokens = _get_tokens(output.get("meta")) or _get_tokens([getattr(value[0], "meta", None)])
    return read if tokens is None else {**read, "tokens": tokens}


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
