"""Streamed replies: the parts that a user's generator or an HTTP endpoint yields are merged into one reply."""

from __future__ import annotations

import codecs
import json
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from ragstone.data.chunks import MISSING, get_first
from ragstone.systems.fields import ANSWER_KEYS, FIELD_KEYS

PIECE_KEYS = ("delta", "token", "content", "text")
"""Keys of a part whose text is the next piece of the answer, never the answer so far."""


class StreamReader:
    """Collects the parts of one reply and measures how long they took; the clock starts when it is made."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        # seconds before the last pause, and when the clock was last started; 0.0: it is stopped
        self._spent, self._since = 0.0, time.perf_counter()
        self.first_token: float | None = None
        """Seconds until the first text of the answer."""

    def pause(self) -> None:
        """Stop the clock while nobody works on the reply, as between a thread and the event loop."""
        self._spent, self._since = self.seconds, 0.0

    def resume(self) -> None:
        """Start the clock again."""
        self._since = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds spent on the reply so far."""
        return self._spent + (time.perf_counter() - self._since if self._since else 0.0)

    def add(self, part: Any) -> None:
        """Add the next part."""
        if self.first_token is None and get_text(part):
            self.first_token = self.seconds
        self._parts.append(part)

    def collect(self, stream: Iterable[Any]) -> Any:
        """Read a stream to its end and return the reply, also what a generator returns at last."""
        source = iter(stream)
        while True:
            try:
                self.add(next(source))
            except StopIteration as end:
                if end.value is not None:
                    self.add(end.value)
                return merge_parts(self._parts)

    async def collect_async(self, stream: AsyncIterator[Any]) -> Any:
        """Read an async stream to its end and return the reply."""
        async for part in stream:
            self.add(part)
        return self.merge()

    def merge(self) -> Any:
        """The reply that the parts make."""
        return merge_parts(self._parts)


def find_stream(
    value: Any, *, is_awaited: bool = False
) -> Iterator[Any] | AsyncIterator[Any] | None:
    """The stream that a returned value is, or has (LlamaIndex); else None.

    What was awaited is written to by the event loop: its sync stream would wait for ever."""
    if isinstance(value, Iterator | AsyncIterator):
        return value
    if isinstance(value, str | Mapping | list | tuple):
        return None
    if getattr(value, "response", None):  # LlamaIndex: the whole answer is there already
        return None
    make_stream = getattr(value, "async_response_gen", None) if is_awaited else None
    inner = make_stream() if callable(make_stream) else getattr(value, "response_gen", None)
    return inner if isinstance(inner, Iterator | AsyncIterator) else None


def merge_parts(parts: Iterable[Any]) -> dict[str, Any]:
    """Merge the parts of a stream into the fields of one reply.

    A text is the next piece of the answer, a list the contexts; a mapping or object may bring any field."""
    pieces: list[str] = []  # each the next piece of the answer
    answers: list[str] = []  # under a key of the answer: pieces, or each the answer so far
    reply: dict[str, Any] = {}
    fields: dict[str, Any] = {}  # whatever mappings bring, for a stream of a shape of its own
    for part in parts:
        if (documents := _get_documents(part)) is not None:
            reply["contexts"] = documents
            continue
        # a part can bring text and other fields: no `continue` after its text
        if (piece := _get_piece(part)) is not None:
            pieces.append(piece)
        elif (answer := get_text(part)) is not None:
            answers.append(answer)
        if isinstance(part, str):
            continue
        fields |= part if isinstance(part, Mapping) else {}
        for name, keys in FIELD_KEYS.items():
            value = get_first(part, keys)
            if value is not MISSING and value is not None:
                reply[name] = value
    text = _join_answer("".join(pieces), answers)
    # without any known field the last states of a graph make the reply, or the error names what was there
    return (reply or fields) if text is None else {**reply, "answer": text}


def get_text(part: Any) -> str | None:
    """The text of the answer that a part brings, or None."""
    piece = _get_piece(part)
    if piece is not None or isinstance(part, list | tuple):
        return piece
    text = get_first(part, ANSWER_KEYS)
    return text if isinstance(text, str) else None


def _get_piece(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if _get_documents(part) is not None:
        return None
    choices = get_first(part, ("choices",))
    if isinstance(choices, list):  # a chunk of the OpenAI API; the last one may have no choices
        return _get_piece(get_first(choices[0], ("delta",))) if choices else ""
    piece = get_first(part, PIECE_KEYS)
    if isinstance(piece, list):  # the parts of a message
        texts = [
            get_first(item, ("text",)) if not isinstance(item, str) else item for item in piece
        ]
        return "".join(text for text in texts if isinstance(text, str))
    if isinstance(piece, str):
        return piece
    return None if piece is MISSING or piece is None else _get_piece(piece)


def _get_documents(part: Any) -> list[Any] | tuple[Any, ...] | None:
    """The contexts that a part is, or brings where another part brings text; the parts of a message say their type."""
    value = part if isinstance(part, list | tuple) else get_first(part, PIECE_KEYS)
    if not isinstance(value, list | tuple) or (value is not part and not value):
        return None
    is_message = value is not part and all(
        isinstance(item, str) or get_first(item, ("type",)) is not MISSING for item in value
    )
    return None if is_message else value


def _join_answer(joined: str, answers: list[str]) -> str | None:
    """The answer from its pieces, and from texts that may be pieces too, or each the answer so far."""
    if not answers:
        return joined or None
    # each the answer so far, as some servers send; two equal pieces are pieces
    is_growing = all(later.startswith(earlier) for earlier, later in pairwise(answers))
    is_growing = is_growing and (len(answers) == 1 or len(answers[-1]) > len(answers[0]))
    whole = answers[-1] if is_growing else "".join(answers)
    # a last part that repeats the pieces is the whole answer
    return whole if not joined or whole.strip().startswith(joined.strip()) else joined + whole


async def iter_events(content: AsyncIterable[bytes], kind: str) -> AsyncIterator[Any]:
    """Iterate the events of an HTTP stream: server-sent (`sse`), a JSON value per line (`lines`), or bare text (`text`)."""
    if kind == "text":
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        async for part in content:
            yield decoder.decode(part)
        return
    data: list[str] = []
    async for line in _iter_lines(content):
        if kind == "lines":
            if line.strip():
                yield _parse_event(line)
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            # an empty line ends an event; `[DONE]` is how OpenAI's API ends the stream
            event, data = "\n".join(data), []
            if event != "[DONE]":
                yield _parse_event(event)
    if data and data != ["[DONE]"]:
        yield _parse_event("\n".join(data))


async def _iter_lines(content: AsyncIterable[bytes]) -> AsyncIterator[str]:
    rest = b""
    async for part in content:
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace").rstrip("\r")
    if rest:
        yield rest.decode("utf-8", "replace").rstrip("\r")


def _parse_event(text: str) -> Any:
    """Parse an event as JSON; any other text is a piece of the answer as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list | str) else text
