"""Fences around text under test, against prompt injection.

Each text stands between delimiters with a nonce that it cannot know, and everything in it that looks like a
delimiter is broken up. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")

_PROCESS_SECRET = secrets.token_bytes(32)
"""New in each process and not stored, so that neither a data set nor a cached run can predict a nonce.

A run whose questions wait in the job of a provider is the exception: a later process must read the replies, so the run
has a secret of its own, which its store keeps as long as the jobs."""
_SECRET: ContextVar[bytes] = ContextVar("fence_secret", default=_PROCESS_SECRET)


def make_secret() -> bytes:
    """Return a new secret."""
    return secrets.token_bytes(32)


@contextmanager
def use_secret(secret: bytes) -> Iterator[None]:
    """Make nonces with this secret in the current task and those that it starts."""
    token = _SECRET.set(secret)
    try:
        yield
    finally:
        _SECRET.reset(token)


def make_nonce(key: str, attempt: int = 0) -> str:
    """Return eight characters that nobody outside this process can guess, different for each attempt at each key."""
    return _mac(f"nonce:{attempt}:{key}").hex()[:8]


def choose_number(key: str, count: int) -> int:
    """Return a number from 0 to count − 1 that depends on the key and on this process's secret."""
    return int.from_bytes(_mac(f"dice:{key}")[:8], "big") % count


class KeyedRandom:
    """Random numbers that depend on a key and on this process's secret."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._digests = 0
        self._entropy = 0

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.number(len(items))]

    def number(self, count: int) -> int:
        """Return a number from 0 to count − 1."""
        if self._entropy < 2**32:  # one digest serves several numbers
            self._entropy = int.from_bytes(_mac(f"dice:{self._digests}:{self._key}"), "big")
            self._digests += 1
        self._entropy, number = divmod(self._entropy, count)
        return number


def fence(nonce: str, label: str, text: str) -> str:
    """Return the text between fences, under a label."""
    return f"<<<{nonce} {label}\n{neutralize(text)}\n{nonce}>>>"


def neutralize(text: str) -> str:
    """Break fences and chat markers in the text with an invisible joiner, which quote verification ignores."""
    # by far the most texts have none of these; looking for each is ten times as fast as one pattern
    if not any(map(text.__contains__, "<>{}[|")) and (
        text.isascii() or not _SURROGATE.search(text)
    ):
        return text
    return _SURROGATE.sub("\ufffd", _MARKER.sub(_break_up, text))


def to_one_line(text: str) -> str:
    """Return the text on one line, so that it cannot start a numbered line of its own."""
    return neutralize(" ".join(text.split()))


def _mac(message: str) -> bytes:
    return blake2b(
        message.encode("utf-8", "surrogatepass"), key=_SECRET.get(), digest_size=32
    ).digest()


def _break_up(match: re.Match[str]) -> str:
    return _JOINER.join(match[0]) if len(match[0]) <= 3 else match[0][0] + _JOINER + match[0][1:]


_JOINER = "\u2060"
_MARKER = re.compile(
    r"<<<|>>>|<\||\|>"
    r"|</?s>|</?think>|\[/?INST\]|\[/?SYS\]|<</?SYS>>"
    r"|</?(?:start|end)_of_turn>|\{\{|\}\}",
    re.IGNORECASE,
)
_SURROGATE = re.compile("[\ud800-\udfff]")
