"""One interaction of a live system: what was asked, found and answered, when, at what price, and what people said."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeGuard

from ragstone.data.strict import BadRow, mend
from ragstone.data.values import chunks_of, id_of
from ragstone.errors import nearest
from ragstone.types import EMPTY, Chunk, Ranked, Sample

Scalar = str | int | float | bool
"""What a meta field may hold: anything one can group by."""

LONGEST_ID = 200
MOST_META = 32
LONGEST_META = 200
MOST_CHUNKS = 1000
EARLIEST = 946_684_800_000_000
"""2000-01-01: an earlier time is a mistake in its unit."""
AHEAD = 86_400_000_000
"""How far a caller's clock may be ahead: a day, in microseconds."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """One question to a live system with all that became of it. None means "not known"."""

    id: str
    at: int
    """When it happened: microseconds since 1970, UTC."""
    question: str | None = None
    contexts: Ranked | None = None
    answer: str | None = None
    reference: str | None = None
    feedback: float | None = None
    """What a person thought of it: 0 is bad, 1 is good."""
    comment: str | None = None
    """What a person wrote about it."""
    latency: float | None = None
    """Seconds."""
    cost: float | None = None
    """US dollars."""
    tokens: int | None = None
    language: str | None = None
    error: str | None = None
    """Why the system gave no answer."""
    meta: Mapping[str, Scalar] = field(default_factory=lambda: EMPTY)
    """Model, prompt version, tenant …: single values, each of which cuts slices."""

    @property
    def when(self) -> datetime:
        """The time as a datetime in UTC."""
        return from_micros(self.at)

    @property
    def slices(self) -> dict[str, str]:
        """Field → value, as text, of every slice that it belongs to."""
        found = {name: slice_text(value) for name, value in self.meta.items()}
        if self.language is not None:
            found["language"] = self.language
        return found

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
            language=self.language,
            meta={**self.meta, **known},
            error=self.error,
        )


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person said of an interaction, perhaps long after it."""

    interaction: str
    at: int
    value: float | None = None
    comment: str | None = None


FIELDS: tuple[str, ...] = (
    "id", "at", "question", "contexts", "answer", "reference", "feedback", "comment", "latency",
    "cost", "tokens", "language", "error", "meta",
)  # fmt: skip
"""Keys of an interaction written as JSON."""


def interaction_of(row: Any, now: int | None = None) -> Interaction:
    """The interaction that a JSON object describes; BadRow says what is wrong with it."""
    if not isinstance(row, dict):
        raise BadRow("the interaction is not an object; write {key: value, …}")
    for key in row:
        if key not in FIELDS:
            hint = nearest(key, FIELDS)
            raise BadRow(f"no field {key[:60]!r}{hint} (other facts go into meta)")
    now = micros() if now is None else now
    question, answer = text(row, "question"), text(row, "answer")
    error = text(row, "error")
    contexts = row.get("contexts")
    if contexts is not None:
        contexts = chunks_of(contexts, "contexts")
        if len(contexts) > MOST_CHUNKS:
            raise BadRow(f'"contexts" has {len(contexts)} items; give at most {MOST_CHUNKS}')
    if question is None and answer is None and error is None:
        raise BadRow("has neither question, answer nor error; give the question and the answer")
    tokens = number(row, "tokens")
    return Interaction(
        id=new_id() if row.get("id") is None else checked_id(row["id"]),
        at=now if row.get("at") is None else moment(row["at"], now),
        question=question,
        contexts=contexts,
        answer=answer,
        reference=text(row, "reference"),
        feedback=opinion(row.get("feedback")),
        comment=text(row, "comment"),
        latency=number(row, "latency"),
        cost=number(row, "cost"),
        tokens=None if tokens is None else int(tokens),
        language=short(row.get("language"), "language"),
        error=error,
        meta=meta_of(row.get("meta")),
    )


FEEDBACK_FIELDS: tuple[str, ...] = ("id", "at", "feedback", "comment")


def feedback_of(row: Any, now: int | None = None) -> Feedback:
    """The feedback that a JSON object describes: the interaction's id, and a value, a comment or both."""
    if not isinstance(row, dict):
        raise BadRow("the feedback is not an object; write {key: value, …}")
    for key in row:
        if key not in FEEDBACK_FIELDS:
            raise BadRow(f"no field {key[:60]!r}{nearest(key, FEEDBACK_FIELDS)}")
    now = micros() if now is None else now
    if row.get("id") is None:
        raise BadRow('has no "id"; give the id of the interaction')
    value, comment = opinion(row.get("feedback")), text(row, "comment")
    if value is None and comment is None:
        raise BadRow("has neither feedback nor comment; give one of them")
    at = now if row.get("at") is None else moment(row["at"], now)
    return Feedback(checked_id(row["id"]), at, value, comment)


def row_of(one: Interaction) -> dict[str, Any]:
    """The interaction as a JSON object, which `interaction_of` reads back."""
    row: dict[str, Any] = {"id": one.id, "at": iso(one.at)}
    for name in FIELDS[2:-1]:
        value = getattr(one, name)
        if value is not None:
            row[name] = [chunk_row(chunk) for chunk in value] if name == "contexts" else value
    if one.meta:
        row["meta"] = dict(one.meta)
    return row


def chunk_row(chunk: Chunk) -> dict[str, Any]:
    """A chunk as a JSON object without what it does not have."""
    row: dict[str, Any] = {"id": chunk.id} if chunk.id else {}
    row["text"] = chunk.text
    if chunk.score is not None:
        row["score"] = chunk.score
    return row


# ── single values ─────────────────────────────────────────────────────────────────────────


def new_id() -> str:
    """An id nobody else has."""
    return uuid.uuid4().hex


def micros() -> int:
    """Now."""
    return time.time_ns() // 1000


def from_micros(at: int) -> datetime:
    """A time as a datetime in UTC."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)


def to_micros(when: datetime) -> int:
    """A datetime as microseconds since 1970; one without a zone is taken as UTC."""
    aware = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def iso(at: int) -> str:
    """A time as ISO 8601 text."""
    return from_micros(at).isoformat().replace("+00:00", "Z")


def moment(value: Any, now: int) -> int:
    """A time from ISO 8601 text or seconds since 1970; neither before 2000 nor over a day ahead."""
    wrong = "give ISO 8601 text such as 2026-05-01T12:00:00Z, or seconds since 1970"
    if isinstance(value, str):
        try:
            at = to_micros(datetime.fromisoformat(value))
        except (ValueError, OverflowError):
            raise BadRow(f'"at" is {value[:60]!r}; {wrong}') from None
    elif isinstance(value, int | float) and not isinstance(value, bool):
        at = round(value * 1_000_000) if abs(value) < 1e12 else -1
    else:
        raise BadRow(f'"at" is {str(value)[:60]!r}; {wrong}')
    if not EARLIEST <= at <= now + AHEAD:
        raise BadRow(f'"at" is {str(value)[:60]!r}, before 2000 or over a day ahead; {wrong}')
    return at


def opinion(value: Any) -> float | None:
    """Feedback as a number from 0 to 1; a thumb up or down as text or as true and false is one too."""
    if value is None:
        return None
    if isinstance(value, str):
        value = THUMBS.get(value.strip().lower(), value)
    if isinstance(value, int | float) and 0 <= value <= 1:
        return float(value)
    raise BadRow(f'"feedback" is {str(value)[:60]!r}; give a number from 0 to 1, "up" or "down"')


THUMBS: Mapping[str, float] = {
    "up": 1.0, "down": 0.0, "👍": 1.0, "👎": 0.0, "good": 1.0, "bad": 0.0, "thumbs_up": 1.0,
    "thumbs_down": 0.0, "positive": 1.0, "negative": 0.0,
}  # fmt: skip


def checked_id(value: Any) -> str:
    """An id: a short text of visible characters, or a whole number."""
    found = id_of(value, "id")
    if found is None:
        raise BadRow('"id" is an empty string; give a text, or leave it out')
    if len(found) > LONGEST_ID or not _VISIBLE.fullmatch(found):
        raise BadRow(f'"id" is {found[:60]!r}; give at most {LONGEST_ID} visible characters')
    return found


_VISIBLE = re.compile(r"[^\s\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffd]+")


def text(row: Mapping[str, Any], key: str) -> str | None:
    """A text."""
    value = row.get(key)
    if value is None or isinstance(value, str):
        return value
    raise BadRow(f'"{key}" is {str(value)[:60]!r}; give a text')


def number(row: Mapping[str, Any], key: str) -> float | None:
    """A finite number from 0 on."""
    value = row.get(key)
    if value is None:
        return None
    fits = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e15
    if not fits or (key == "tokens" and value != int(value)):
        wanted = "a whole number" if key == "tokens" else "a number"
        raise BadRow(f'"{key}" is {str(value)[:60]!r}; give {wanted} from 0')
    return float(value)


def short(value: Any, key: str) -> str | None:
    """A short text that can name a slice."""
    if value is None:
        return None
    if isinstance(value, str) and len(value) <= LONGEST_META:
        return mend(value) or None
    raise BadRow(
        f'"{key}" is {str(value)[:60]!r}; give a text of at most {LONGEST_META} characters'
    )


def meta_of(value: Any) -> Mapping[str, Scalar]:
    """Meta fields: single values under short names; null is left out."""
    if value is None:
        return EMPTY
    if not isinstance(value, dict):
        raise BadRow(f'"meta" is {str(value)[:60]!r}; give an object')
    if len(value) > MOST_META:
        raise BadRow(f'"meta" has {len(value)} fields; give at most {MOST_META}')
    found: dict[str, Scalar] = {}
    for name, item in value.items():
        if not _NAME.fullmatch(name):
            raise BadRow(f'the meta field {name[:60]!r} is not a name; use letters, digits, "._-"')
        if item is None:
            continue
        if isinstance(item, str):
            item = short(item, f"meta.{name}") or ""
        elif not moderate(item):
            raise BadRow(f'"meta.{name}" is {str(item)[:60]!r}; give a text, a number or a boolean')
        found[name] = item
    return found or EMPTY


def moderate(value: Any) -> TypeGuard[float]:
    """Whether it is a number between -1e15 and 1e15; `math.isfinite` fails on a whole number beyond every float."""
    return isinstance(value, int | float) and -1e15 <= value <= 1e15


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


def slice_text(value: Scalar) -> str:
    """A meta value as the text that names its slice; 1 and 1.0 are one slice, true is another."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)
