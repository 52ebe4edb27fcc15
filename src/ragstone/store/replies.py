"""Replies of judges as stored texts: JSON with a checksum at its end, for what was paid must not change unseen."""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable
from functools import reduce
from operator import getitem
from typing import Any

from ragstone.asks import Reply
from ragstone.locale.messages import Message, message_from_json, message_to_json
from ragstone.store.rows import dump_json
from ragstone.types import Usage

_MARK = "#"
"""Stands between a text and its checksum: no JSON document ends like this, so that texts of earlier versions are known."""
_LENGTH = 9
"""Characters of mark and checksum."""


def encode_reply(reply: Reply) -> str:
    """Encode value and notes of a reply; vectors as base64 of their doubles, which is exact and much faster.

    Messages inside the value (an explanation of the embedded judge) stay readable text there; `messages` lists where
    they are and their codes, which a version without it passes over."""
    value = reply.value
    item: dict[str, Any]
    packed = _pack_vectors(value)
    item = {"value": value} if packed is None else {"vectors": packed}
    item["notes"] = [message_to_json(text) for text in reply.notes]
    if reply.seconds is not None:
        item["seconds"] = reply.seconds
    if packed is None and isinstance(value, dict | list):
        messages: list[Any] = []
        _collect_messages(value, (), messages)
        if messages:
            item["messages"] = messages
    return add_checksum(dump_json(item))


def decode_reply(text: str, usage: Usage) -> Reply:
    """Decode the reply that `encode_reply` wrote."""
    item = json.loads(remove_checksum(text))
    value = item["value"] if "value" in item else {"vectors": _unpack_vectors(item["vectors"])}
    for path, message in item.get("messages", ()):
        *parents, last = path
        reduce(getitem, parents, value)[last] = message_from_json(message)
    notes = tuple(map(message_from_json, item["notes"]))
    return Reply(value, usage, notes, item.get("seconds"))


def add_checksum(text: str) -> str:
    """Add the CRC-32 of a text to its end."""
    return f"{text}{_MARK}{zlib.crc32(text.encode()):08x}"


def remove_checksum(text: str) -> str:
    """Return the text without its checksum, which must match; a text of an earlier version has none."""
    if text[-_LENGTH : 1 - _LENGTH] != _MARK:
        return text
    body = text[:-_LENGTH]
    if add_checksum(body) != text:
        raise ValueError("the checksum does not match")
    return body


def _collect_messages(
    value: dict[str, Any] | list[Any], path: tuple[str | int, ...], messages: list[Any]
) -> None:
    """Add the path and JSON of each Message inside a JSON value."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        # the class first: most items are plain texts, and every reply is looked through
        if item.__class__ is str:
            continue
        if isinstance(item, dict | list):
            _collect_messages(item, (*path, key), messages)
        elif isinstance(item, Message):
            messages.append(((*path, key), message_to_json(item)))


def _pack_vectors(value: Any) -> list[str] | None:
    """Encode `{"vectors": …}` as base64 of little-endian doubles; None for anything but lists of numbers there."""
    if value.__class__ is not dict or value.keys() != {"vectors"}:
        return None
    texts = []
    for vector in value["vectors"] if isinstance(value["vectors"], list) else [None]:
        if vector.__class__ is not list:
            return None
        try:
            numbers = array("d", vector)
        except (TypeError, OverflowError):
            return None
        if sys.byteorder == "big":
            numbers.byteswap()
        texts.append(b2a_base64(numbers, newline=False).decode("ascii"))
    return texts


def _unpack_vectors(texts: Iterable[str]) -> list[list[float]]:
    vectors = []
    for text in texts:
        numbers = array("d", a2b_base64(text))
        if sys.byteorder == "big":
            numbers.byteswap()
        vectors.append(numbers.tolist())
    return vectors
