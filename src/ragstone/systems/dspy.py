"""Modules of DSPy (`Predict`, `ChainOfThought`, programs of one's own), which take their fields by keyword."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ragstone.errors import RagstoneError
from ragstone.systems.templates import QUESTION_KEYS


def is_dspy_module(target: Any) -> bool:
    """Whether an object is a module of DSPy."""
    # by the class: DSPy warns whoever reads `forward` of a module
    return all(hasattr(type(target), name) for name in ("named_predictors", "set_lm", "forward"))


def adapt_dspy(target: Any, inputs: Any = None) -> Callable[[str], Any]:
    """What asks a module: by the input that takes the question, or by `inputs`, a name or a mapping with `{question}`."""
    fields = _list_inputs(target)
    if inputs is None:
        key = next((name for name in QUESTION_KEYS if name in fields), None)
        key = fields[0] if key is None and len(fields) == 1 else key
        missing = [name for name in fields if name != key]
        if key is None or missing:
            wanted = ", ".join(missing or fields) or "nothing by keyword"
            raise RagstoneError(
                f"the module wants {wanted} besides the question; give a program that retrieves, or say what it is "
                'given: inputs={"question": "{question}", …}'
            )
        inputs = {key: "{question}"}
    template = {inputs: "{question}"} if isinstance(inputs, str) else dict(inputs)

    def ask(question: str) -> Any:
        given = {
            name: value.replace("{question}", question) if isinstance(value, str) else value
            for name, value in template.items()
        }
        return _read_prediction(target(**given))

    return ask


def _list_inputs(target: Any) -> list[str]:
    """The inputs of a module: of its signature, of its `forward`, or of its first predictor."""
    signature = getattr(target, "signature", None)
    if signature is None:
        parameters = inspect.signature(type(target).forward).parameters.values()
        named = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD][1:]
        if named:
            return named
        predictors = target.named_predictors()
        signature = predictors[0][1].signature if predictors else None
    return list(getattr(signature, "input_fields", None) or ())


def _read_prediction(prediction: Any) -> Any:
    """The fields of a prediction; one without an answer gives its last field as the answer."""
    if not hasattr(prediction, "toDict"):
        return prediction
    fields: Mapping[str, Any] = prediction.toDict()
    names = [name for name in fields if name != "reasoning"]
    return {**fields, "answer": fields[names[-1]]} if names and "answer" not in fields else fields
