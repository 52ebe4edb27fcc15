"""One-token questions: what a small model is asked where it cannot write JSON.

A kind's one-token form is a generator that yields ChoiceRequests, is sent the Choices and returns the value of the
reply. The options of a question stand in its prompt file. Versioned by ROUTE_VERSION in judges/plain.py."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragstone.asks.fences import neutralize
from ragstone.asks.types import Ask
from ragstone.prompts import Prompt, fill_placeholders
from ragstone.types import NO_USAGE, Usage


class ChoiceRequest(NamedTuple):
    """One question whose answer is one of a few options, each a digit, a letter or a short word.

    The prompt is system message, then a user message of `prefix` directly followed by `question`."""

    system: str
    prefix: str
    """Long common part: the same text for many questions in a row, so that a server's cache serves them all."""
    question: str
    options: tuple[str, ...]
    """Different in their first letter, whatever its case: tokenizers cut words, and one token is read."""


class Choice(NamedTuple):
    """The option that a model chose."""

    option: str
    probabilities: Mapping[str, float] | None = None
    """Of each option, summing up to 1; None when the model gives no probabilities."""
    usage: Usage = NO_USAGE


Deciding = Generator[tuple[ChoiceRequest, ...], tuple[Choice, ...], Any]
"""A decision in progress: yields requests, is sent the choices, returns the value of the reply."""


@dataclass(frozen=True, slots=True)
class LocalCode:
    """What code does around the model's decisions."""

    load_prompt: Callable[[str], Prompt]
    """In the language of the Ask."""
    reply: Mapping[str, Any]
    """The embedded judge's reply to the same Ask: the parts of a question, quotes; empty where it has none."""
    choose_passages: Callable[[Sequence[str], Sequence[str]], list[str]]
    """From texts and sources: the sources, of long ones the passages that are closest to the texts."""
    find_evidence: Callable[[str, Sequence[str]], list[tuple[int, str]]]
    """From a text and sources: index of a source and a quote of it, the closest first."""


Choose = Callable[[Ask, LocalCode], Deciding]


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


def read_yes(choice: Choice, request: ChoiceRequest) -> tuple[bool, float | None]:
    """Return whether the first option was chosen, and its probability if the model gives one."""
    chances = read_chances(choice, request)
    return read_number(choice, request) == 0, None if chances is None else round(chances[0], 4)
