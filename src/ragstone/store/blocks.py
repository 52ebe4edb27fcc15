"""Blocks: some hundred consecutive samples of a run as one row of the database, their scores column by column.

One row a sample costs more than scoring it: statements, JSON, and as many again for every reader. Of a block, readers
decode only what they need: a summary takes the numbers as they are and never sees the findings."""

from __future__ import annotations

import json
import math
import sys
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ragstone.store.checksums import (
    ChecksumMismatch,
    add_bytes_checksum,
    explain_damage,
    remove_bytes_checksum,
)
from ragstone.store.codec import (
    build_bare_score,
    build_score,
    dump_json,
    encode_detail,
    encode_plain,
    findings_to_json,
    format_outcome,
    is_plain,
)
from ragstone.store.database import Connection
from ragstone.types import Score

BLOCK_SAMPLES = 512
"""Samples of a full block."""

MAX_BLOCK_CHARS = 1 << 18
"""Rows longer than this together are split into several blocks: one sample is read by decoding its block."""

_NOTHING = math.nan
"""In the numbers of a block: the score has no value, or the sample no score of this metric."""


class NewRow(NamedTuple):
    """A scored sample that is to be stored."""

    position: int
    id: str
    group: str | None
    row: str
    """The input row, one JSON document without line breaks."""
    scores: Mapping[str, Score] | str
    """The scores, or their text when `encode_scores` ran in another process."""


class EncodedScores(NamedTuple):
    """The scores of a block in the form that the database has; the fields are its columns."""

    keys: str
    """JSON: names of the metrics, ids and groups of the samples; without ids they are known by their positions."""
    numbers: bytes
    """Doubles, metric by metric; NaN where there is none."""
    details: bytes
    """JSON: metric → [what a score has besides its number and findings, [indices of the samples]], …"""
    evidence: bytes
    """JSON: metric → [index of the sample, findings], …"""


class EncodedBlock(NamedTuple):
    """A block as it goes into the database."""

    first: int
    """Position of the first sample."""
    last: int
    rows: bytes
    """The input rows (`encode_rows`)."""
    scores: EncodedScores


def encode_block(rows: Sequence[NewRow]) -> EncodedBlock:
    """Encode consecutive samples."""
    texts = encode_rows([row.row for row in rows])
    return EncodedBlock(rows[0].position, rows[-1].position, texts, encode_scores_block(rows))


_INSERT_SAMPLES = "INSERT INTO sample_blocks VALUES (?, ?, ?)"
_INSERT_SCORES = "INSERT INTO score_blocks VALUES (?, ?, ?, ?, ?, ?, ?)"


def insert_blocks(db: Connection, run: int, blocks: Sequence[EncodedBlock]) -> None:
    """Insert blocks of the run with this number."""
    db.execute_many(_INSERT_SAMPLES, [(run, block.first, block.rows) for block in blocks])
    db.execute_many(
        _INSERT_SCORES, [(run, block.first, block.last, *block.scores) for block in blocks]
    )


def cut_blocks(rows: Sequence[NewRow]) -> Iterator[Sequence[NewRow]]:
    """Cut rows into pieces of at most `BLOCK_SAMPLES` and about `MAX_BLOCK_CHARS`."""
    start = chars = 0
    for index, row in enumerate(rows):
        if index > start and (
            index - start == BLOCK_SAMPLES or chars + len(row.row) > MAX_BLOCK_CHARS
        ):
            yield rows[start:index]
            start, chars = index, 0
        chars += len(row.row)
    if rows:
        yield rows[start:] if start else rows


def encode_rows(rows: Sequence[str]) -> bytes:
    """Encode input rows as JSON Lines. Not compressed: zlib takes 14 ns a byte, a third of the time of an evaluation."""
    if any("\n" in row for row in rows):
        raise ValueError("a row has a line break; write each as one line of JSON")
    return add_bytes_checksum("\n".join(rows).encode("utf-8", "surrogatepass"))


def decode_rows(body: bytes, block: ScoreBlock | None = None) -> list[str]:
    """Decode the rows that `encode_rows` wrote; with the scores of the same samples, rows that are cut off are found."""
    rows = remove_bytes_checksum(body).decode("utf-8", "surrogatepass").split("\n")
    # with the end of the rows their checksum is lost, too
    if block is not None and (len(rows) != block.count or not rows[-1].endswith("}")):
        raise ChecksumMismatch("rows are missing")
    return rows


def encode_scores_block(rows: Sequence[NewRow]) -> EncodedScores:
    """Encode the scores of consecutive samples."""
    first = rows[0].position
    ids: list[str] | None = [row.id for row in rows]
    if ids == [str(position) for position in range(first, first + len(rows))]:
        ids = None
    groups = [row.group for row in rows]
    columns = _ColumnWriter(len(rows))
    for index, row in enumerate(rows):
        if isinstance(row.scores, str):
            columns.add_encoded(index, json.loads(row.scores))
        else:
            columns.add(index, row.scores)
    keys = {
        "metrics": list(columns.numbers),
        **({"ids": ids} if ids is not None else {}),
        **({"groups": groups} if any(group is not None for group in groups) else {}),
    }
    parts = columns.encode()
    return EncodedScores(dump_json(keys | {"check": _compute_check(keys, parts)}), *parts)


def _compute_check(keys: Mapping[str, Any], parts: Sequence[bytes]) -> int:
    """The CRC-32 of a block's columns."""
    check = zlib.crc32(dump_json({name: keys[name] for name in keys if name != "check"}).encode())
    for part in parts:
        check = zlib.crc32(part, check)
    return check


class _ColumnWriter:
    """Collects the scores of a block metric by metric."""

    def __init__(self, samples: int) -> None:
        self._empty = array("d", [_NOTHING]) * samples
        self.numbers: dict[str, array[float]] = {}
        self._details: dict[str, dict[str, list[int]]] = {}
        """Metric → encoded detail → indices of the samples: of a run, most details are the same few."""
        self._evidence: dict[str, list[tuple[int, Any]]] = {}

    def add(self, index: int, scores: Mapping[str, Score]) -> None:
        """Add the scores of a sample."""
        for name, score in scores.items():
            numbers = self.numbers.get(name)
            if numbers is None:
                numbers = self.numbers[name] = self._empty[:]
            value = score.value
            if value is not None:
                numbers[index] = value
                if is_plain(score):
                    continue
            self._add_detail(name, index, encode_detail(score))
            if score.findings:
                self._evidence.setdefault(name, []).append((index, findings_to_json(score)))

    def add_encoded(self, index: int, scores: Mapping[str, Any]) -> None:
        """Add the scores of a sample as the parsed text of `encode_scores`."""
        for name, item in scores.items():
            if name not in self.numbers:
                self.numbers[name] = self._empty[:]
            if item.__class__ is float:
                self.numbers[name][index] = item
                continue
            value, findings = item.pop("value", None), item.pop("findings", None)
            if value is not None:
                self.numbers[name][index] = value
            if findings:
                self._evidence.setdefault(name, []).append((index, findings))
            self._add_detail(name, index, dump_json(item))

    def _add_detail(self, name: str, index: int, text: str) -> None:
        self._details.setdefault(name, {}).setdefault(text, []).append(index)

    def encode(self) -> tuple[bytes, bytes, bytes]:
        """Encode the last three fields of EncodedScores."""
        doubles = b"".join(map(_to_little_endian, self.numbers.values()))
        evidence = encode_plain(self._evidence) if self._evidence else b""
        if evidence is None:
            evidence = dump_json(self._evidence).encode("ascii")
        return (
            _compress(doubles),
            _compress(_join_details(self._details)),
            _compress(evidence),
        )


class ScoreBlock:
    """The scores of consecutive samples as the database has them; each part is decoded when it is first asked for."""

    def __init__(self, first: int, last: int, encoded: EncodedScores) -> None:
        self.first = first
        """Position of the first sample."""
        self.count = last - first + 1
        keys: Mapping[str, Any] = json.loads(encoded.keys)
        # blocks of the first version with blocks have none
        if "check" in keys and keys["check"] != _compute_check(keys, encoded[1:]):
            raise ChecksumMismatch("the checksum does not match")
        if len(keys.get("ids") or keys.get("groups") or range(self.count)) != self.count:
            raise ChecksumMismatch("the positions do not match the samples")
        self.metrics: list[str] = keys["metrics"]
        self._keys = keys
        self.encoded = encoded
        """As the database has it."""

    @property
    def positions(self) -> range:
        """Positions of the samples, from 1 in a run."""
        return range(self.first, self.first + self.count)

    @cached_property
    def ids(self) -> list[str]:
        """Ids of the samples."""
        return self._keys.get("ids") or [str(position) for position in self.positions]

    @cached_property
    def groups(self) -> list[str | None]:
        """Groups of the samples."""
        return self._keys.get("groups") or [None] * self.count

    @cached_property
    def numbers(self) -> dict[str, array[float]]:
        """Metric → the value of each sample; NaN where there is none, and `details` or nothing says why."""
        size = 8 * self.count
        with explain_damage(f"samples {self.first} to {self.positions[-1]} of a run in the store"):
            body = _decompress(self.encoded.numbers)
            if len(body) != size * len(self.metrics):
                raise ChecksumMismatch("the positions do not match the samples")
        return {
            name: _from_little_endian(body[at * size : (at + 1) * size])
            for at, name in enumerate(self.metrics)
        }

    @cached_property
    def details(self) -> dict[str, list[tuple[int, dict[str, Any]]]]:
        """Metric → index and stored fields of the scores that are more than a number, in order; findings are not in them.

        The objects are shared between samples and must not be changed."""
        body = _decompress(self.encoded.details)
        parsed = json.loads(body) if body else {}
        return {
            name: sorted(
                ((index, item) for item, indices in items for index in indices),
                key=lambda pair: pair[0],
            )
            for name, items in parsed.items()
        }

    @cached_property
    def evidence(self) -> dict[str, dict[int, list[dict[str, Any]]]]:
        """Metric → index → stored findings."""
        body = _decompress(self.encoded.evidence)
        parsed = json.loads(body) if body else {}
        return {name: dict(items) for name, items in parsed.items()}

    def count_hits(self) -> int:
        """Count the replies that the scores were made of and an earlier run paid for."""
        return sum(
            item.get("usage", {}).get("hits", 0)
            for items in self.details.values()
            for _, item in items
        )

    def build_details(self, metric: str) -> Iterator[tuple[int, Score]]:
        """Yield the index and Score, without its findings, of each score that is more than a number."""
        numbers = self.numbers.get(metric)
        for index, item in self.details.get(metric, ()):
            assert numbers is not None  # a metric with details has a column of numbers
            yield index, build_score(_to_value(numbers[index]), item, ())

    def get_scores(self, index: int) -> dict[str, Score]:
        """Build metric → Score of one sample."""
        scores = {}
        for name, numbers in self.numbers.items():
            detail = self._details_by_index.get(name, {}).get(index)
            if detail is not None:
                findings = self.evidence.get(name, {}).get(index, ())
                scores[name] = build_score(_to_value(numbers[index]), detail, findings)
            elif numbers[index] == numbers[index]:
                scores[name] = build_bare_score(numbers[index])
        return scores

    @cached_property
    def _details_by_index(self) -> dict[str, dict[int, dict[str, Any]]]:
        return {name: dict(items) for name, items in self.details.items()}

    def iter_scores(self) -> Iterator[dict[str, Score]]:
        """Yield metric → Score for each sample."""
        columns: list[list[Score | None]] = []
        for name in self.metrics:
            numbers, evidence = self.numbers[name], self.evidence.get(name, {})
            column = [None if value != value else build_bare_score(value) for value in numbers]
            for index, item in self.details.get(name, ()):
                column[index] = build_score(
                    _to_value(numbers[index]), item, evidence.get(index, ())
                )
            columns.append(column)
        yield from self._iter_rows(columns)

    def iter_values(self) -> Iterator[dict[str, float | str]]:
        """Yield metric → value for each sample, or → outcome (`judge_error: refusal`) where there is none."""
        columns: list[list[float | str | None]] = []
        for name in self.metrics:
            column: list[float | str | None] = [
                None if value != value else value for value in self.numbers[name]
            ]
            for index, item in self.details.get(name, ()):
                if column[index] is None:
                    column[index] = format_outcome(item)
            columns.append(column)
        yield from self._iter_rows(columns)

    def _iter_rows(self, columns: list[list[Any]]) -> Iterator[dict[str, Any]]:
        names = self.metrics
        if not columns:
            yield from ({} for _ in range(self.count))
        elif any(map(self._has_gaps, names)):
            for row in zip(*columns, strict=True):
                yield {n: item for n, item in zip(names, row, strict=True) if item is not None}
        else:
            for row in zip(*columns, strict=True):
                yield dict(zip(names, row, strict=True))

    def _has_gaps(self, name: str) -> bool:
        """Whether the store has nothing of this metric for some sample."""
        explained = sum("outcome" in item for _, item in self.details.get(name, ()))
        return sum([value != value for value in self.numbers[name]]) > explained


def build_block(scores: Sequence[Mapping[str, Score]]) -> ScoreBlock:
    """Build a block of scores from anywhere; its samples are numbered from 1."""
    rows = [NewRow(at, str(at), None, "", sample) for at, sample in enumerate(scores, 1)]
    return ScoreBlock(1, len(rows), encode_scores_block(rows))


def replace_scores(
    block: ScoreBlock, index: int, scores: Mapping[str, Score] | str
) -> EncodedScores:
    """Encode the block with other scores of one sample."""
    samples = zip(block.positions, block.ids, block.groups, block.iter_scores(), strict=True)
    rows = [NewRow(position, name, group, "", old) for position, name, group, old in samples]
    old = rows[index]
    rows[index] = NewRow(old.position, old.id, old.group, "", scores)
    return encode_scores_block(rows)


def mark_as_found(block: ScoreBlock) -> EncodedScores:
    """Encode the block for a run that pays nothing for it: calls of the judge become replies found in the store."""
    keys, numbers, details, evidence = block.encoded
    parsed: dict[str, list[tuple[dict[str, Any], list[int]]]]
    parsed = json.loads(_decompress(details)) if details else {}
    merged: dict[str, dict[str, list[int]]] = {}
    for name, items in parsed.items():
        by_text = merged.setdefault(name, {})
        for item, indices in items:
            # scores that cost differently may now be the same
            by_text.setdefault(dump_json(_count_as_found(item)), []).extend(indices)
    parts = (numbers, _compress(_join_details(merged)), evidence)
    plain = {name: value for name, value in json.loads(keys).items() if name != "check"}
    return EncodedScores(dump_json(plain | {"check": _compute_check(plain, parts)}), *parts)


def _count_as_found(item: Mapping[str, Any]) -> dict[str, Any]:
    usage = item.get("usage", {})
    found = usage.get("calls", 0) + usage.get("hits", 0)
    rest = {name: value for name, value in item.items() if name != "usage"}
    return {**rest, "usage": {"hits": found}} if found else rest


def _join_details(details: Mapping[str, Mapping[str, Sequence[int]]]) -> bytes:
    """JSON of metric → encoded detail → indices of the samples, as `EncodedScores.details` has it."""
    text = ",".join(
        f"{dump_json(name)}:[{','.join(f'[{text},{list(indices)}]' for text, indices in items.items())}]"
        for name, items in details.items()
    )
    return f"{{{text}}}".encode("ascii") if text else b""


def _to_value(number: float) -> float | None:
    return None if number != number else number


def _to_little_endian(numbers: array[float]) -> bytes:
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def _from_little_endian(body: bytes) -> array[float]:
    numbers = array("d", body)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _compress(body: bytes) -> bytes:
    """Compress; level 1 makes numbers four times smaller in 0.2 µs a sample, and level 6 little more in five times that."""
    return zlib.compress(body, 1) if body else b""


def _decompress(body: bytes) -> bytes:
    return zlib.decompress(body) if body else b""
