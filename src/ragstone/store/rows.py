"""Samples and their scores as rows of the tables `samples`, `sample_inputs`, `scores` and `findings`, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from ragstone.locale.messages import message_from_json, message_to_json
from ragstone.store.database import Connection
from ragstone.types import NO_USAGE, Finding, Score, SecondOpinion, Usage

BATCH_SAMPLES = 512
"""Samples that are written and read together."""

Row = tuple[Any, ...]


class NewRow(NamedTuple):
    """A scored sample that is to be stored."""

    position: int
    id: str
    group: str | None
    row: str
    """The input row, one JSON document."""
    scores: Mapping[str, Score]


class PreparedRows(NamedTuple):
    """Consecutive samples as rows of the tables, without the number of their run: a worker process can make them."""

    first: int
    last: int
    samples: list[Row]
    inputs: list[Row]
    values: list[Row]
    """Scores that are nothing but a number."""
    scores: list[Row]
    """All others."""
    findings: list[Row]


def prepare_rows(rows: Sequence[NewRow]) -> PreparedRows:
    """Turn consecutive samples into rows, metric by metric as the tables are ordered."""
    values: list[Row] = []
    scores: list[Row] = []
    findings: list[Row] = []
    for name in dict.fromkeys(name for row in rows for name in row.scores):
        for row in rows:
            score = row.scores.get(name)
            if score is None:
                continue
            position = row.position
            if _is_plain(score):
                values.append((name, position, score.value))
            else:
                scores.append((name, position, *_to_columns(score)))
                findings += _to_finding_rows(name, position, score.findings)
    return PreparedRows(
        rows[0].position,
        rows[-1].position,
        [(row.position, to_storable(row.id), _to_storable_or_none(row.group)) for row in rows],
        [(row.position, to_storable_json(row.row)) for row in rows],
        values,
        scores,
        findings,
    )


def insert_rows(db: Connection, run: int, rows: PreparedRows) -> None:
    """Insert the rows of the run with this number."""
    for table, values, row in (
        ("samples", rows.samples, "?, ?, ?"),
        ("sample_inputs", rows.inputs, "?, ?"),
        # three parameters and not fourteen: a third of the time
        ("scores (run, metric, position, value, outcome)", rows.values, "?, ?, ?, 'ok'"),
        ("scores", rows.scores, ", ".join("?" * 14)),
        ("findings", rows.findings, ", ".join("?" * 10)),
    ):
        if values:
            db.execute_many(f"INSERT INTO {table} VALUES ({run:d}, {row})", values)  # noqa: S608


_HALF_PAIR = re.compile("[\ud800-\udfff]")


def to_storable(text: str) -> str:
    """Return a text as databases take it: without half surrogate pairs and NUL, which no database holds."""
    return _HALF_PAIR.sub("\ufffd", text).replace("\0", "\ufffd")


def _to_storable_or_none(text: str | None) -> str | None:
    return None if text is None else to_storable(text)


def to_storable_json(document: str) -> str:
    """Return a JSON document with half surrogate pairs written as escapes: the same document for every reader of JSON."""
    if document.isascii():
        return document
    return _HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", document)


# ── a score as columns ────────────────────────────────────────────────────────────────────


def _is_plain(score: Score) -> bool:
    """Whether a score is nothing but a number."""
    return (
        score.value is not None
        and score.label is None
        and score.probability is None
        and score.usage is NO_USAGE
        and not score.findings
        and not score.warnings
    )


def _to_columns(score: Score) -> Row:
    """The columns from `value` on."""
    details: dict[str, Any] = {}
    reason = _split_text("reason", score.reason, details)
    if score.warnings:
        details["warnings"] = [message_to_json(text) for text in score.warnings]
    usage = score.usage
    return (
        None if score.value is None else float(score.value),
        score.outcome,
        reason or None,
        score.kind,
        _split_text("label", score.label, details),
        score.probability,
        usage.calls or None,
        usage.hits or None,
        usage.input_tokens or None,
        usage.output_tokens or None,
        usage.usd or None,
        dump_json(details) if details else None,
    )


def _split_text(name: str, text: str | None, details: dict[str, Any]) -> str | None:
    """Return a text for its column; where that cannot hold all of it, `details` gets the whole."""
    if text is None:
        return None
    storable = to_storable(text)
    # the class: a Message is the text of its English sentence, and has a code and arguments besides
    if text.__class__ is not str or storable != text:
        details[name] = message_to_json(text)
    return str(storable)


def _to_finding_rows(metric: str, position: int, findings: Iterable[Finding]) -> Iterator[Row]:
    for number, finding in enumerate(findings):
        details: dict[str, Any] = {}
        text, verdict, reason, chunk, quote = (
            _split_text(name, getattr(finding, name), details)
            for name in ("text", "verdict", "reason", "chunk", "quote")
        )
        for name in ("start", "end", "verified", "span"):
            value = getattr(finding, name)
            if value is not None:
                details[name] = value
        if finding.opinion is not None:
            details["opinion"] = asdict(finding.opinion)
        yield (
            metric, position, number, text, verdict, finding.probability, reason or None,
            chunk or None, quote or None, dump_json(details) if details else None,
        )  # fmt: skip


# ── and back ──────────────────────────────────────────────────────────────────────────────

SCORE_COLUMNS = (
    "value, outcome, reason, kind, label, probability, calls, hits, input_tokens, output_tokens,"
    " usd, details"
)
FINDING_COLUMNS = "text, verdict, probability, reason, chunk, quote, details"


def build_score(columns: Row, findings: Sequence[Finding] = ()) -> Score:
    """Build a score from its SCORE_COLUMNS."""
    value, outcome, reason, kind, label, probability, calls, hits, read, written, usd, more = (
        columns
    )
    details: Mapping[str, Any] = json.loads(more) if more is not None else {}
    usage = NO_USAGE
    if calls is not None or hits is not None or read is not None or usd is not None or written is not None:  # fmt: skip
        usage = Usage(calls or 0, read or 0, written or 0, usd or 0.0, hits or 0)
    return Score(
        value=value,
        outcome=outcome,
        reason=message_from_json(details["reason"]) if "reason" in details else reason or "",
        kind=kind,
        label=details.get("label", label),
        findings=tuple(findings),
        warnings=tuple(map(message_from_json, details.get("warnings", ()))),
        usage=usage,
        probability=probability,
    )


def build_finding(columns: Row) -> Finding:
    """Build a finding from its FINDING_COLUMNS."""
    text, verdict, probability, reason, chunk, quote, more = columns
    fields: dict[str, Any] = {
        "text": text,
        "verdict": verdict,
        "reason": reason or "",
        "chunk": chunk or "",
        "quote": quote or "",
        "probability": probability,
    }
    if more is not None:
        details = json.loads(more)
        fields |= details
        if "span" in details:
            fields["span"] = tuple(details["span"])
        if "reason" in details:
            fields["reason"] = message_from_json(details["reason"])
        if "opinion" in details:
            fields["opinion"] = SecondOpinion(**details["opinion"])
    return Finding(**fields)


@dataclass(slots=True)
class ScoreBatch:
    """The scores of consecutive samples, metric by metric."""

    first: int
    """Position of the first sample."""
    ids: list[str]
    groups: list[str | None]
    values: dict[str, list[float | None]]
    """Metric → the value of each sample; None where there is none, and `details` or nothing says why."""
    details: dict[str, dict[int, Score]]
    """Metric → index of a sample → its score, where that is more than a number; with findings only in `full_batches`."""
    inputs: list[str] = field(default_factory=list)
    """The input rows, in `full_batches` only."""

    @property
    def count(self) -> int:
        """Number of samples."""
        return len(self.ids)

    @property
    def positions(self) -> range:
        """Positions of the samples, from 1 in a run."""
        return range(self.first, self.first + len(self.ids))

    def get_scores(self, index: int) -> dict[str, Score]:
        """Build metric → Score of one sample."""
        scores = {}
        for name, values in self.values.items():
            score = self.details[name].get(index)
            value = values[index]
            if score is not None:
                scores[name] = score
            elif value is not None:
                scores[name] = Score(value)
        return scores

    def iter_scores(self) -> Iterator[dict[str, Score]]:
        """Yield metric → Score for each sample."""
        return map(self.get_scores, range(self.count))

    def iter_values(self) -> Iterator[dict[str, float | str]]:
        """Yield metric → value for each sample, or → outcome (`judge_error: refusal`) where there is none."""
        for index in range(self.count):
            row: dict[str, float | str] = {}
            for name, values in self.values.items():
                value = values[index]
                if value is not None:
                    row[name] = value
                elif (score := self.details[name].get(index)) is not None:
                    row[name] = f"{score.outcome}: {score.kind}" if score.kind else score.outcome
            yield row


# ASCII, so that half a surrogate pair in a text under test can never break a database
dump_json = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
