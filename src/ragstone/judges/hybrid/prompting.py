"""From a prompt file to a ChoiceRequest: three parts, texts fenced, the letters of the options."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from ragstone.judges.choices import Choice, ChoiceRequest
from ragstone.judges.fences import neutralize
from ragstone.prompts import Prompt, fill_placeholders

LoadPrompt = Callable[[str], Prompt]
"""Loads a prompt by its name in the language of the Ask."""

Deciding = Generator[tuple[ChoiceRequest, ...], tuple[Choice, ...], Any]
"""A decision in progress: yields requests, is sent the choices, returns the value of the reply."""


def name_options(count: int) -> tuple[str, ...]:
    """Return the letters of so many options."""
    return tuple(ascii_uppercase[:count])


def build_request(
    prompt: Prompt, values: Mapping[str, str], options: Sequence[str]
) -> ChoiceRequest:
    """Fill a prompt; its parts after the system message are the common one and the question."""
    common, _, question = prompt.user.partition("\n---\n")
    return ChoiceRequest(
        fill_placeholders(prompt.system, values),
        fill_placeholders(common, values) + "\n\n",
        fill_placeholders(question, values),
        tuple(options),
    )


def fence_texts(*texts: str) -> str:
    """Return texts between fences that none of them can close.

    There is no nonce, unlike on the JSON route: nothing but one letter comes back, and a prompt that is the same in
    every process gives the same probabilities."""
    return "<<<\n" + "\n".join(neutralize(text.strip()) for text in texts) + "\n>>>"


def read_chance(choice: Choice, *options: str) -> float | None:
    """Return the probability of these options together; None when the model gives none."""
    if choice.probabilities is None:
        return None
    return sum(choice.probabilities[option] for option in options)
