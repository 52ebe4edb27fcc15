"""Text under test is data: fenced by a nonce it cannot know, with everything in it that looks like a delimiter broken."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")

_SECRET = secrets.token_bytes(32)
"""New in each process and never stored: neither a data set nor a cached run can foresee a nonce."""


def make_nonce(key: str, attempt: int = 0) -> str:
    """Eight characters that nobody outside this process can guess, one for each attempt at each Ask."""
    return _mac(f"nonce:{attempt}:{key}").hex()[:8]


def choose_number(key: str, sides: int) -> int:
    """A number from 0 to sides − 1 that depends on the key and on this process's secret."""
    return int.from_bytes(_mac(f"dice:{key}")[:8], "big") % sides


class KeyedRandom:
    """Throws that depend on a key and on this process's secret."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._turn = 0
        self._left = 0

    def choice(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.number(len(items))]

    def number(self, sides: int) -> int:
        """A number from 0 to sides − 1."""
        if self._left < 2**32:  # what is left of one digest serves several throws
            self._left = int.from_bytes(_mac(f"dice:{self._turn}:{self._key}"), "big")
            self._turn += 1
        self._left, thrown = divmod(self._left, sides)
        return thrown


def fence(mark: str, label: str, text: str) -> str:
    """The text between fences, with a label that is ours."""
    return f"<<<{mark} {label}\n{neutralize(text)}\n{mark}>>>"


def neutralize(text: str) -> str:
    """The text with fences and chat markers broken by an invisible joiner, which quote checks ignore."""
    if _SUSPECT.search(text) is None:
        return text
    return _SURROGATE.sub("\ufffd", _MARKER.sub(_break, text))


def to_one_line(text: str) -> str:
    """The text on one line, so that it cannot start a numbered line of its own."""
    return neutralize(" ".join(text.split()))


def _mac(message: str) -> bytes:
    return blake2b(message.encode("utf-8", "surrogatepass"), key=_SECRET, digest_size=32).digest()


def _break(match: re.Match[str]) -> str:
    return _JOINER.join(match[0]) if len(match[0]) <= 3 else match[0][0] + _JOINER + match[0][1:]


_JOINER = "\u2060"
_MARKER = re.compile(
    r"<<<|>>>|<\||\|>"
    r"|</?s>|</?think>|\[/?INST\]|\[/?SYS\]|<</?SYS>>"
    r"|</?(?:start|end)_of_turn>|\{\{|\}\}",
    re.IGNORECASE,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SUSPECT = re.compile("[<>{}\\[|\ud800-\udfff]")
