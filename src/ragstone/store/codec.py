"""The stored form of scores and replies, JSON text: a bare number, or an object where there is evidence."""

from __future__ import annotations

import json
import sys
from array import array
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache, reduce
from operator import getitem
from typing import Any

from ragstone.asks import Reply
from ragstone.locale.messages import Message, message_from_json, message_to_json
from ragstone.store.checksums import add_checksum, explain_damage, remove_checksum
from ragstone.types import NO_USAGE, Finding, Score, SecondOpinion, Usage


def encode_scores(scores: Mapping[str, Score]) -> str:
    """Encode scores as one JSON object: metric → number, or → object when there is more than a number."""
    parts = []
    # written for speed: JSON by concatenation, identity before equality
    for name, score in scores.items():
        key = _encoded_names.get(name)
        if key is None:
            key = _encoded_names[name] = json.dumps(name) + ":"
        # three forms: a full object, a bare number (nearly all scores of a run without a judge), an
        # outcome without evidence, whose text is made once and cached
        if _has_full_fields(score):
            parts.append(key + _encode_full(score))
        elif (value := score.value) is not None and score.label is None:
            parts.append(key + _format_number(value))
        else:
            parts.append(
                key + _encode_bare(value, score.outcome, score.reason, score.kind, score.label)
            )
    return "{" + ",".join(parts) + "}"


def is_plain(score: Score) -> bool:
    """Whether a score that has a value is nothing but its number."""
    return score.label is None and not _has_full_fields(score)


def encode_detail(score: Score) -> str:
    """Encode what a score has besides its value and findings."""
    if score.value is None and not _has_full_fields(score):
        return _encode_bare(None, score.outcome, score.reason, score.kind, score.label)
    return dump_json(_detail_to_json(score, message_to_json))


def findings_to_json(score: Score) -> list[dict[str, Any]]:
    """Convert the findings of a score to their stored form."""
    return [_finding_to_json(finding, message_to_json) for finding in score.findings]


def _has_full_fields(score: Score) -> bool:
    """Whether a score has a field that the cached forms leave out (`_FULL_FIELDS`)."""
    return bool(
        score.findings
        or score.warnings
        or score.usage is not NO_USAGE
        or score.probability is not None
    )


@lru_cache(maxsize=16384)
def _format_number(value: float) -> str:
    return repr(float(value))


@lru_cache(maxsize=1024, typed=True)  # a message is not the plain text of the same words
def _encode_bare(*fields: Any) -> str:
    """Encode a score without evidence; `fields` are the first fields of Score, in their order."""
    return _encode_full(Score(*fields))


def encode_score(score: Score) -> str:
    """Encode one score with its evidence."""
    return _encode_full(score)


def score_to_json(score: Score) -> dict[str, Any]:
    """Convert one score with its evidence for export: its messages are English sentences."""
    return _to_json(score, str)


def decode_score(text: str) -> Score:
    """Decode the score that `encode_score` wrote; StoreError when the text is damaged."""
    with explain_damage("a score in the store"):
        item = json.loads(text)
        return build_score(item.get("value"), item, item.get("findings", ()))


def encode_reply(reply: Reply) -> str:
    """Encode value and notes of a reply; vectors as base64 of their doubles, which is exact and much faster.

    Messages inside the value (an explanation of the embedded judge) stay readable text there; `messages` lists where
    they are and their codes, which a version without it passes over."""
    value = reply.value
    is_vectors = value.__class__ is dict and value.keys() == {"vectors"}
    plain = None if is_vectors else _dump_plain({"value": value} | _encode_margins(reply))
    if plain is not None:  # then it has no message either
        return add_checksum(plain)
    # exact classes, here and in `_pack_vectors`: anything but plain dicts and lists is stored as JSON
    if is_vectors:
        packed = _pack_vectors(value["vectors"])
        if packed is not None:
            item = {"vectors": packed} | _encode_margins(reply)
            return add_checksum(_dump_plain(item) or dump_json(item))
    item = {"value": value} | _encode_margins(reply)
    if isinstance(value, dict | list):
        messages: list[Any] = []
        _collect_messages(value, (), messages)
        if messages:
            item["messages"] = messages
    return add_checksum(dump_json(item))


def decode_reply(text: str, usage: Usage) -> Reply:
    """Decode the reply that `encode_reply` wrote."""
    item = _load_json(remove_checksum(text))
    value = item["value"] if "value" in item else {"vectors": _unpack_vectors(item["vectors"])}
    for path, message in item.get("messages", ()):
        *parents, last = path
        reduce(getitem, parents, value)[last] = message_from_json(message)
    notes = tuple(map(message_from_json, item["notes"]))
    return Reply(value, usage, notes, item.get("seconds"))


def _encode_margins(reply: Reply) -> dict[str, Any]:
    """What is kept beside the value: notes, and how long the reply took where that was measured."""
    notes = [message_to_json(text) for text in reply.notes]
    return {"notes": notes} if reply.seconds is None else {"notes": notes, "seconds": reply.seconds}


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


def _pack_vectors(vectors: Any) -> list[str] | None:
    """Encode each vector as base64 of little-endian doubles; None when one is not a list of numbers."""
    if vectors.__class__ is not list:
        return None
    texts = []
    for vector in vectors:
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


# Metric name → its JSON with the colon. Names are few and each stands in every row of a run.
_encoded_names: dict[str, str] = {}


def _encode_full(score: Score) -> str:
    return dump_json(_to_json(score, message_to_json))


def _to_json(score: Score, write: Callable[[str], Any]) -> dict[str, Any]:
    """The fields that differ from their defaults; `write` converts each message: to its stored form, or to text."""
    item: dict[str, Any] = {} if score.value is None else {"value": float(score.value)}
    item |= _detail_to_json(score, write)
    if score.findings:
        item["findings"] = [_finding_to_json(finding, write) for finding in score.findings]
    return item


def _detail_to_json(score: Score, write: Callable[[str], Any]) -> dict[str, Any]:
    item: dict[str, Any] = {}
    if score.value is None:
        item["outcome"] = score.outcome
        item["reason"] = write(score.reason)
    if score.kind is not None:
        item["kind"] = score.kind
    if score.label is not None:
        item["label"] = score.label
    if score.probability is not None:
        item["probability"] = score.probability
    if score.warnings:
        item["warnings"] = [write(text) for text in score.warnings]
    if score.usage != NO_USAGE:
        item["usage"] = _usage_to_json(score.usage)
    return item


def format_outcome(item: Mapping[str, Any]) -> str:
    """Format the outcome of a stored score without value: `outcome` or `outcome: kind`."""
    kind = item.get("kind")
    return f"{item['outcome']}: {kind}" if kind else str(item["outcome"])


@lru_cache(maxsize=8192)
def build_bare_score(value: float) -> Score:
    """Build a bare score; scores are immutable and repeat often, so equal ones share one object."""
    return Score(value)


def build_score(
    value: float | None, item: Mapping[str, Any], findings: Iterable[dict[str, Any]]
) -> Score:
    """Build a score from its value, its other stored fields and its stored findings."""
    # the common case, a score without evidence, is built once and cached by its fields
    if not findings and len(item) <= 4 and item.keys().isdisjoint(_FULL_FIELDS):
        get = item.get
        reason = get("reason", "")
        if reason.__class__ is dict:  # a message; its items are hashable where the dict is not
            try:
                return _build_unscored(get("outcome"), get("kind"), get("label"), *reason.items())
            except TypeError:  # an argument is a list or another message: not hashable
                reason = message_from_json(reason)
        return _build_bare(value, get("outcome"), reason, get("kind"), get("label"))
    return Score(
        value=value,
        outcome=item.get("outcome", "ok"),
        reason=message_from_json(item.get("reason", "")),
        kind=item.get("kind"),
        label=item.get("label"),
        findings=tuple(_to_findings(findings)),
        warnings=tuple(map(message_from_json, item.get("warnings", ()))),
        usage=Usage(**item["usage"]) if "usage" in item else NO_USAGE,
        probability=item.get("probability"),
    )


_FULL_FIELDS = ("findings", "warnings", "usage", "probability")
"""Fields of a score that the cached forms leave out; `_has_full_fields` tests the same ones."""


@lru_cache(maxsize=1024, typed=True)
def _build_bare(value: Any, outcome: Any, reason: Any, kind: Any, label: Any) -> Score:
    return Score(value, outcome or "ok", reason, kind, label)


@lru_cache(maxsize=1024)
def _build_unscored(outcome: Any, kind: Any, label: Any, *reason: tuple[str, Any]) -> Score:
    """Build an outcome from the stored items of its message; equal ones share one object."""
    return Score(None, outcome, message_from_json(dict(reason)), kind, label)


def _to_findings(items: Iterable[dict[str, Any]]) -> Iterable[Finding]:
    for item in items:
        # changed in place: done twice, as when a block is read twice, it comes out the same
        if "span" in item:
            item["span"] = tuple(item["span"])
        if item.get("reason").__class__ is dict:  # a message; plain text is stored as it is
            item["reason"] = message_from_json(item["reason"])
        if item.get("opinion").__class__ is dict:
            item["opinion"] = SecondOpinion(**item["opinion"])
        yield Finding(**item)


_USAGE_DEFAULTS = tuple(asdict(NO_USAGE).items())


def _usage_to_json(usage: Usage) -> dict[str, Any]:
    """Convert the fields that differ from their defaults."""
    return {
        name: value
        for name, default in _USAGE_DEFAULTS
        if (value := getattr(usage, name)) != default
    }


def _finding_to_json(finding: Finding, write: Callable[[str], Any]) -> dict[str, Any]:
    """Convert text, verdict and the fields that differ from their defaults; without a loop, which is faster."""
    item: dict[str, Any] = {"text": finding.text, "verdict": finding.verdict}
    if finding.reason:
        reason = finding.reason
        # not isinstance: a Message is a str too, and only a plain text is stored as it is
        item["reason"] = reason if reason.__class__ is str else write(reason)
    if finding.chunk:
        item["chunk"] = finding.chunk
    if finding.quote:
        item["quote"] = finding.quote
    if finding.start is not None:
        item["start"] = finding.start
    if finding.end is not None:
        item["end"] = finding.end
    if finding.verified is not None:
        item["verified"] = finding.verified
    if finding.span is not None:
        item["span"] = finding.span
    if finding.probability is not None:
        item["probability"] = finding.probability
    if finding.opinion is not None:
        item["opinion"] = asdict(finding.opinion)
    return item


def encode_plain(item: Any) -> bytes | None:
    """Encode as JSON in UTF-8, several times as fast as `dump_json`; None where it would not read back the same.

    msgspec refuses a Message and half a surrogate pair; it would write NaN as null."""
    from msgspec.json import encode  # here, since most commands store no evidence

    try:
        encoded = encode(item)
    except (TypeError, ValueError):
        return None
    return None if b"null" in encoded else encoded


def _dump_plain(item: Any) -> str | None:
    encoded = encode_plain(item)
    return encoded.decode("ascii") if encoded is not None and encoded.isascii() else None


def _load_json(text: str) -> Any:
    from msgspec.json import decode

    try:
        return decode(text)
    except ValueError:  # half a surrogate pair, or no JSON at all
        return json.loads(text)


# ASCII, so that lone surrogates in a text under test can never break the database
dump_json = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
