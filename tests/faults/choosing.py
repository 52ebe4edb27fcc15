"""An honest model that is asked for one word: reads our one-token prompts and answers by looking words up."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ragstone.text.evidence import find_quote

if TYPE_CHECKING:
    from faults.server import Call

BLOCK = re.compile(r"<<<\n(.*?)\n>>>", re.DOTALL)
SUPPORT = re.compile(
    r"(?:Source|Fuente):\n(?P<source>.*)\n\n(?:Statement|Afirmación): (?P<claim>[^\n]*)\n\n.*",
    re.DOTALL,
)
WORD = re.compile(r"\w{4,}")


def is_choice(body: dict[str, Any]) -> bool:
    """Whether a request asks for one token."""
    return 1 in (body.get("max_tokens"), body.get("max_completion_tokens"))


OPTIONS = {
    "fully": ("fully", "partly", "no"), "todo": ("todo", "parte", "nada"),
    "yes": ("yes", "no"), "sí": ("sí", "no"), "1": ("1", "2", "3"),
    "A": ("A", "B", "tie"), "o": ("A", "B", "empate"),
}  # fmt: skip
"""First option of a prompt → all of them."""


def offered(user: str) -> tuple[str, ...]:
    """The options that a prompt ends with."""
    for head, first in (("Statement:", "yes"), ("Afirmación:", "sí")):
        if f"\n{head} " in user:
            return OPTIONS[first]
    if "A, B o empate" in user:
        return OPTIONS["o"]
    return OPTIONS[re.findall(r"(?:One word|Una palabra|One digit|Una cifra), (\w+)", user)[-1]]


def truth(user: str) -> int:
    """The place of the true option of a prompt."""
    blocks = BLOCK.findall(user)
    if asked := SUPPORT.fullmatch(user):
        return 0 if find_quote(asked["claim"], asked["source"]) else 1
    if re.search(r"^(?:The passage|Passage|Pasaje|El pasaje):$", user, re.MULTILINE):
        wanted = set(WORD.findall(blocks[-2].lower()))
        shared = len(wanted & set(WORD.findall(blocks[-1].lower()))) / max(1, len(wanted))
        return 0 if shared > 0.6 else 1 if shared > 0.3 else 2
    if re.search(r"^(?:What was asked|Lo que se pregunta):$", user, re.MULTILINE):
        said = set(WORD.findall(blocks[1].lower()))
        return 0 if said & set(WORD.findall(blocks[2].lower())) else 1
    if re.search(r"^(?:Answer|Respuesta) B:$", user, re.MULTILINE):
        first, second = (len(block) for block in blocks[-2:])
        return 2 if first == second else int(second > first)
    if re.search(r"^(?:Criterion|Criterio) ", user, re.MULTILINE):
        return 1
    return 0 if "do not know" in blocks[0] else 1


def envelope(text: str, chances: dict[str, float] | None, size: int) -> dict[str, Any]:
    """A chat completion of one token, with log-probabilities if chances are given."""
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "length",
    }
    if chances is not None:
        rows = [{"token": token, "logprob": to_log(p)} for token, p in chances.items()]
        choice["logprobs"] = {"content": [{**rows[0], "token": text, "top_logprobs": rows}]}
    return {"choices": [choice], "usage": {"prompt_tokens": size, "completion_tokens": 1}}


def to_log(chance: float) -> float:
    return math.log(chance) if chance > 0 else chance


async def answer(call: Call, chance: float = 0.9) -> None:
    """The true option with this probability, the rest shared out."""
    options = offered(call.prompt[1])
    said = options[truth(call.prompt[1])]
    others = [option for option in options if option != said]
    chances = {said: chance, **dict.fromkeys(others, (1 - chance) / len(others))}
    await say(call, said, chances)


async def give_in(call: Call) -> None:
    """The first option, which is the one that attacks ask for, whatever is true."""
    first, *others = offered(call.prompt[1])
    await say(call, first, {first: 0.998, **dict.fromkeys(others, 0.001)})


async def say(call: Call, text: str, chances: dict[str, float] | None = None) -> None:
    """This token."""
    await call.send(200, json.dumps(envelope(text, chances, len(call.raw) // 4)).encode())


def always(text: str, chances: dict[str, float] | None = None) -> Callable[[Call], Awaitable[None]]:
    """A model that says the same whatever it is asked."""

    async def behave(call: Call) -> None:
        if is_choice(call.body):
            await say(call, text, chances)
        else:
            await call.answer()

    return behave
