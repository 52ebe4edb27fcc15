"""One interaction of a live system: question, retrieved contexts, answer, time, cost and feedback; and its JSON form."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from ragstone.data.field_values import to_chunks, to_id, to_language
from ragstone.data.strict_json import BadRow, is_moderate_number, replace_unstorable
from ragstone.errors import suggest_nearest
from ragstone.locale.tags import to_language_tag
from ragstone.types import EMPTY, Chunk, Ranked, Sample

Scalar = str | int | float | bool
"""Types of a meta field: values that one can group by."""

MAX_ID_CHARS = 200
MAX_META_FIELDS = 32
MAX_META_CHARS = 200
MAX_CHUNKS = 1000
EARLIEST_MICROS = 946_684_800_000_000
"""2000-01-01: an earlier time was given in the wrong unit."""
MAX_CLOCK_SKEW_MICROS = 86_400_000_000
"""How far ahead of ours a caller's clock may be: a day."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """One question to a live system with its contexts, answer and measures. None means "not known"."""

    id: str
    at: int
    """When it happened: microseconds since 1970, UTC."""
    question: str | None = None
    contexts: Ranked | None = None
    answer: str | None = None
    reference: str | None = None
    feedback: float | None = None
    """A person's rating: 0 is bad, 1 is good."""
    comment: str | None = None
    """A person's comment."""
    latency: float | None = None
    """Seconds."""
    cost: float | None = None
    """US dollars."""
    tokens: int | None = None
    language: str | None = None
    error: str | None = None
    """Why the system gave no answer."""
    meta: Mapping[str, Scalar] = field(default_factory=lambda: EMPTY)
    """Model, prompt version, tenant …: each field defines slices."""

    @property
    def when(self) -> datetime:
        """The time as a datetime in UTC."""
        return from_micros(self.at)

    @property
    def slices(self) -> dict[str, str]:
        """Field → value, as text, of every slice that it belongs to."""
        values = {name: to_slice_value(value) for name, value in self.meta.items()}
        if self.language is not None:
            values["language"] = self.language
        return values

    @property
    def sample(self) -> Sample:
        """The interaction as metrics see it."""
        numbers = {"latency": self.latency, "cost": self.cost, "tokens": self.tokens}
        known = {name: value for name, value in numbers.items() if value is not None}
        return Sample(
            id=self.id,
            question=self.question,
            answer=self.answer,
            contexts=self.contexts,
            reference=self.reference,
            # a store of an earlier version may hold what is no language tag
            language=None if self.language is None else to_language_tag(self.language),
            meta={**self.meta, **known},
            error=self.error,
        )


@dataclass(frozen=True, slots=True)
class Feedback:
    """A person's rating or comment on an interaction, perhaps long after it."""

    interaction: str
    """The interaction's id."""
    at: int
    """When it was given: microseconds since 1970, UTC."""
    value: float | None = None
    comment: str | None = None


FIELDS: tuple[str, ...] = (
    "id", "at", "question", "contexts", "answer", "reference", "feedback", "comment", "latency",
    "cost", "tokens", "language", "error", "meta",
)  # fmt: skip
"""Keys of an interaction written as JSON; `interaction_to_json` relies on the first two and the last."""


def parse_interaction(row: Any, now: int | None = None) -> Interaction:
    """The interaction in a JSON object; BadRow says what is wrong with it."""
    if not isinstance(row, dict):
        raise BadRow("the interaction is not an object; write {key: value, …}")
    for key in row:
        if key not in FIELDS:
            hint = suggest_nearest(key, FIELDS)
            raise BadRow(f"no field {key[:60]!r}{hint} (other facts go into meta)")
    now = now_micros() if now is None else now
    question, answer = parse_text(row, "question"), parse_text(row, "answer")
    error = parse_text(row, "error")
    contexts = row.get("contexts")
    if contexts is not None:
        contexts = to_chunks(contexts, "contexts")
        if len(contexts) > MAX_CHUNKS:
            raise BadRow(f'"contexts" has {len(contexts)} items; give at most {MAX_CHUNKS}')
    if question is None and answer is None and error is None:
        raise BadRow("has neither question, answer nor error; give the question and the answer")
    tokens = parse_number(row, "tokens")
    return Interaction(
        id=new_id() if row.get("id") is None else parse_id(row["id"]),
        at=now if row.get("at") is None else parse_time(row["at"], now),
        question=question,
        contexts=contexts,
        answer=answer,
        reference=parse_text(row, "reference"),
        feedback=parse_rating(row.get("feedback")),
        comment=parse_text(row, "comment"),
        latency=parse_number(row, "latency"),
        cost=parse_number(row, "cost"),
        tokens=None if tokens is None else int(tokens),
        language=to_language(row.get("language"), "language"),
        error=error,
        meta=parse_meta(row.get("meta")),
    )


FEEDBACK_FIELDS: tuple[str, ...] = ("id", "at", "feedback", "comment")


def parse_feedback(row: Any, now: int | None = None) -> Feedback:
    """The feedback in a JSON object: the interaction's id, and a rating, a comment or both."""
    if not isinstance(row, dict):
        raise BadRow("the feedback is not an object; write {key: value, …}")
    for key in row:
        if key not in FEEDBACK_FIELDS:
            raise BadRow(f"no field {key[:60]!r}{suggest_nearest(key, FEEDBACK_FIELDS)}")
    now = now_micros() if now is None else now
    if row.get("id") is None:
        raise BadRow('has no "id"; give the id of the interaction')
    value, comment = parse_rating(row.get("feedback")), parse_text(row, "comment")
    if value is None and comment is None:
        raise BadRow("has neither feedback nor comment; give one of them")
    at = now if row.get("at") is None else parse_time(row["at"], now)
    return Feedback(parse_id(row["id"]), at, value, comment)


def interaction_to_json(interaction: Interaction) -> dict[str, Any]:
    """The interaction as a JSON object, which `parse_interaction` reads back."""
    row: dict[str, Any] = {"id": interaction.id, "at": format_iso(interaction.at)}
    for name in FIELDS[2:-1]:  # without id, at and meta
        value = getattr(interaction, name)
        if value is not None:
            row[name] = [chunk_to_json(chunk) for chunk in value] if name == "contexts" else value
    if interaction.meta:
        row["meta"] = dict(interaction.meta)
    return row


def chunk_to_json(chunk: Chunk) -> dict[str, Any]:
    """A chunk as a JSON object, without empty fields."""
    row: dict[str, Any] = {"id": chunk.id} if chunk.id else {}
    row["text"] = chunk.text
    if chunk.score is not None:
        row["score"] = chunk.score
    return row


# ── single values ─────────────────────────────────────────────────────────────────────────


def new_id() -> str:
    """A random unique id."""
    return uuid.uuid4().hex


def now_micros() -> int:
    """The current time in microseconds since 1970, UTC."""
    return time.time_ns() // 1000


def from_micros(at: int) -> datetime:
    """A time in microseconds as a datetime in UTC."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)


def to_micros(when: datetime) -> int:
    """A datetime as microseconds since 1970; one without a zone is taken as UTC."""
    aware = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def format_iso(at: int) -> str:
    """A time in microseconds as ISO 8601 text."""
    return from_micros(at).isoformat().replace("+00:00", "Z")


def parse_time(value: Any, now: int) -> int:
    """A time from ISO 8601 text or seconds since 1970; neither before 2000 nor over a day ahead."""
    hint = "give ISO 8601 text such as 2026-05-01T12:00:00Z, or seconds since 1970"
    if isinstance(value, str):
        try:
            at = to_micros(datetime.fromisoformat(value))
        except (ValueError, OverflowError):
            raise BadRow(f'"at" is {value[:60]!r}; {hint}') from None
    elif isinstance(value, int | float) and not isinstance(value, bool):
        # 1e12 seconds is the year 33,658: such a value is in milliseconds or finer, and -1 is
        # refused below
        at = round(value * 1_000_000) if abs(value) < 1e12 else -1
    else:
        raise BadRow(f'"at" is {str(value)[:60]!r}; {hint}')
    if not EARLIEST_MICROS <= at <= now + MAX_CLOCK_SKEW_MICROS:
        raise BadRow(f'"at" is {str(value)[:60]!r}, before 2000 or over a day ahead; {hint}')
    return at


def parse_rating(value: Any) -> float | None:
    """Feedback as a number from 0 to 1; also from true, false or a word such as "up" or "down"."""
    if value is None:
        return None
    if isinstance(value, str):
        value = RATING_WORDS.get(value.strip().lower(), value)
    if isinstance(value, int | float) and 0 <= value <= 1:  # a bool is an int
        return float(value)
    raise BadRow(f'"feedback" is {str(value)[:60]!r}; give a number from 0 to 1, "up" or "down"')


RATING_WORDS: Mapping[str, float] = {
    "up": 1.0, "down": 0.0, "👍": 1.0, "👎": 0.0, "good": 1.0, "bad": 0.0, "thumbs_up": 1.0,
    "thumbs_down": 0.0, "positive": 1.0, "negative": 0.0,
}  # fmt: skip


def parse_id(value: Any) -> str:
    """An id: a short text of visible characters, or a whole number."""
    id = to_id(value, "id")
    if id is None:
        raise BadRow('"id" is an empty string; give a text, or leave it out')
    if len(id) > MAX_ID_CHARS or not _VISIBLE.fullmatch(id):
        raise BadRow(f'"id" is {id[:60]!r}; give at most {MAX_ID_CHARS} visible characters')
    return id


_VISIBLE = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]+")


def parse_text(row: Mapping[str, Any], key: str) -> str | None:
    """The text in a field, if any."""
    value = row.get(key)
    if value is None or isinstance(value, str):
        return value
    raise BadRow(f'"{key}" is {str(value)[:60]!r}; give a text')


def parse_number(row: Mapping[str, Any], key: str) -> float | None:
    """The finite number ≥ 0 in a field, if any."""
    value = row.get(key)
    if value is None:
        return None
    is_valid = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e15
    if not is_valid or (key == "tokens" and value != int(value)):
        expected = "a whole number" if key == "tokens" else "a number"
        raise BadRow(f'"{key}" is {str(value)[:60]!r}; give {expected} from 0')
    return float(value)


def parse_label(value: Any, key: str) -> str | None:
    """A text short enough to name a slice; None for an empty one. `key` names the field in errors."""
    if value is None:
        return None
    if isinstance(value, str) and len(value) <= MAX_META_CHARS:
        return replace_unstorable(value) or None
    raise BadRow(
        f'"{key}" is {str(value)[:60]!r}; give a text of at most {MAX_META_CHARS} characters'
    )


def parse_meta(value: Any) -> Mapping[str, Scalar]:
    """Meta fields: single values under short names; null values are dropped."""
    if value is None:
        return EMPTY
    if not isinstance(value, dict):
        raise BadRow(f'"meta" is {str(value)[:60]!r}; give an object')
    if len(value) > MAX_META_FIELDS:
        raise BadRow(f'"meta" has {len(value)} fields; give at most {MAX_META_FIELDS}')
    fields: dict[str, Scalar] = {}
    for name, item in value.items():
        if not _NAME.fullmatch(name):
            raise BadRow(f'the meta field {name[:60]!r} is not a name; use letters, digits, "._-"')
        if item is None:
            continue
        if isinstance(item, str):
            item = parse_label(item, f"meta.{name}") or ""
        elif not is_moderate_number(item):
            raise BadRow(f'"meta.{name}" is {str(item)[:60]!r}; give a text, a number or a boolean')
        fields[name] = item
    return fields or EMPTY


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


def to_slice_value(value: Scalar) -> str:
    """A meta value as the text that names its slice; 1 and 1.0 are the same slice, true is another."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)
