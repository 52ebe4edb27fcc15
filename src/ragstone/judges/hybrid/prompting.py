"""From a prompt file to a ChoiceRequest: three parts, texts fenced, the options in their order. Versioned by ROUTE_VERSION in judges/hybrid."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

from ragstone.judges.choices import Choice, ChoiceRequest
from ragstone.judges.fences import neutralize
from ragstone.prompts import Prompt, fill_placeholders

LoadPrompt = Callable[[str], Prompt]
"""Loads a prompt by its name in the language of the Ask."""

Deciding = Generator[tuple[ChoiceRequest, ...], tuple[Choice, ...], Any]
"""A decision in progress: yields requests, is sent the choices, returns the value of the reply."""


def build_request(prompt: Prompt, values: Mapping[str, str]) -> ChoiceRequest:
    """Fill a prompt; its parts after the system message are the common one, the question, and the options."""
    common, question, options = prompt.user.split("\n---\n")
    return ChoiceRequest(
        fill_placeholders(prompt.system, values),
        fill_placeholders(common, values) + "\n\n",
        fill_placeholders(question, values),
        tuple(option.strip() for option in fill_placeholders(options, values).split(",")),
    )


def fence_texts(*texts: str) -> str:
    """Return texts between fences that none of them can close.

    There is no nonce, unlike on the JSON route: nothing but one word comes back, and a prompt that is the same in
    every process gives the same probabilities."""
    return "<<<\n" + "\n".join(neutralize(text.strip()) for text in texts) + "\n>>>"


def read_chances(choice: Choice, request: ChoiceRequest) -> list[float] | None:
    """Return the probability of each option in the order of the prompt; None when the model gives none."""
    if choice.probabilities is None:
        return None
    return [choice.probabilities[option] for option in request.options]


def read_number(choice: Choice, request: ChoiceRequest) -> int:
    """Return the index of the chosen option, in the order of the prompt."""
    return request.options.index(choice.option)
