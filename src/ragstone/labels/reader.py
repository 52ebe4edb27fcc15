"""Labels from files: ragstone's own rows, spreadsheets with a column a question, and exports of other tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from ragstone.data.rows import get_path
from ragstone.data.sources import RejectedRow, open_source
from ragstone.errors import DataError, suggest_nearest
from ragstone.labels.label import (
    ORIGINS,
    TARGETS,
    Label,
    Origin,
    Target,
    parse_target,
    parse_value,
)

Row = Mapping[str, Any]

LABEL_FIELDS = ("sample", "on", "item", "value", "author", "at", "chance", "comment", "run")
"""Fields that a column can be mapped to: `--field sample=ticket`."""

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "sample": ("sample", "sample_id", "interaction", "interaction_id", "question_id", "id"),
    "on": ("on", "target"),
    "item": ("item", "claim", "chunk", "chunk_id", "metric", "second"),
    "value": ("value", "label", "verdict", "rating", "score"),
    "author": ("author", "annotator", "labeler", "labeller", "user", "reviewer"),
    "at": ("at", "created_at", "timestamp", "time"),
    "chance": ("chance", "inclusion_probability", "probability"),
    "comment": ("comment", "explanation", "reason"),
    "run": ("run",),
}
"""Names of columns of ragstone's own rows, the first with a value is used."""

TARGET_NAMES: Mapping[str, Target] = {
    **{target: target for target in TARGETS},
    "faithfulness": "support", "groundedness": "support", "faithful": "support", "hallucination_free": "support",
    "answer_correctness": "correctness", "correct": "correctness", "accuracy": "correctness",
    "answer_relevance": "relevance", "answer_relevancy": "relevance", "relevancy": "relevance", "qa_relevance": "relevance",
    "refused": "refusal", "abstention": "refusal", "document_relevance": "chunk", "context_relevance": "chunk",
    "better": "preference", "notes": "note", "correctitud": "correctness", "corrección": "correctness",
    "relevancia": "relevance", "nota": "note",
}  # fmt: skip
"""What columns, criteria and scores are called, and what they are about."""


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The labels of a file, and what could not be read of it."""

    format: str
    """As shown: "read 120 labels as Langfuse scores"."""
    labels: tuple[Label, ...]
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Why rows are no labels of people → how many: an LLM's annotation, for instance."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How the rows of a file become labels, as the flags of `labels import` say it."""

    fields: Mapping[str, str] = field(default_factory=dict)
    """Field of a label → its column, dotted when nested."""
    target: Target | None = None
    """What labels are about that do not say it themselves."""
    author: str = ""
    """Who labelled what names nobody."""
    scale: tuple[float, float] | None = None
    """Lowest and highest number that people could give."""


class NotALabel(Exception):
    """A row that is no label of a person; the argument says why."""


Reader = Callable[[Row, ReadOptions], list[Label]]


def read_labels(path: str, options: ReadOptions = ReadOptions()) -> LabelFile:
    """Read the labels of a jsonl, json, csv or parquet file; the first row that cannot be read is an error."""
    labels: list[Label] = []
    skipped: dict[str, int] = {}
    kind: LabelFormat | None = None
    for where, row in _read_rows(path):
        kind = kind or _detect_format(row, options, where)
        try:
            labels += kind.read(row, options)
        except NotALabel as reason:
            skipped[str(reason)] = skipped.get(str(reason), 0) + 1
        except (ValueError, DataError) as error:
            raise DataError(f"{where}: {error}") from None
    if kind is None:
        raise DataError(f"{path!r} holds no label")
    return LabelFile(kind.title, tuple(labels), skipped)


@dataclass(frozen=True, slots=True)
class LabelFormat:
    """A kind of file with labels: the columns that identify it, and how a row is read."""

    title: str
    columns: frozenset[str]
    read: Reader


def _read_own(row: Row, options: ReadOptions) -> list[Label]:
    target_text = _get(row, "on", options)
    if target_text is None and options.target is None and "claim" in row:
        target_text = "claim"
    if target_text is None and options.target is None:
        return _read_wide(row, options)
    target = options.target if target_text is None else find_target(str(target_text))
    # an exported row has both: of these targets the word says more than the number
    given = row.get("word") if target in ("note", "claim", "preference") else None
    given = _get(row, "value", options) if given is None else given
    if given is None:
        given = row.get("word")
    assert target is not None  # without any, `_read_wide` has read the row
    return [_build_label(row, options, target, given, item=_get(row, "item", options))]


def _read_wide(row: Row, options: ReadOptions) -> list[Label]:
    """A label for each column that is named like a target: `id, correctness, relevance`."""
    columns = {name: TARGET_NAMES[name.lower()] for name in row if name.lower() in TARGET_NAMES}
    labels = [
        _build_label(row, options, target, row[name])
        for name, target in columns.items()
        if row[name] not in (None, "")
    ]
    if not columns:
        raise ValueError(
            f"no column says what is labelled; name one of {', '.join(TARGETS)}, or give --on correctness"
        )
    return labels


def _read_phoenix(row: Row, options: ReadOptions) -> list[Label]:
    kind = str(row.get("annotator_kind", "HUMAN"))
    if kind != "HUMAN":
        raise NotALabel(f"annotated by {kind}")
    nested = row.get("result")
    result = nested if isinstance(nested, Mapping) else row
    name = str(row.get("name") or row.get("annotation_name") or "")
    given = result.get("label") if result.get("score") is None else result.get("score")
    return [
        _build_named(
            row, options, name, given,
            sample=row.get("span_id") or row.get("trace_id"), author=row.get("user_id"),
            comment=result.get("explanation"),
        )
    ]  # fmt: skip


def _read_langfuse(row: Row, options: ReadOptions) -> list[Label]:
    source = str(row.get("source", "ANNOTATION")).upper()
    if source == "EVAL":
        raise NotALabel("scored by an evaluator")
    value = row.get("stringValue") if row.get("dataType") == "CATEGORICAL" else row.get("value")
    sample = row.get("traceId") or row.get("trace_id")
    return [
        _build_named(
            row, options, str(row.get("name", "")), value,
            sample=sample, author=row.get("authorUserId"), comment=row.get("comment"),
        )
    ]  # fmt: skip


def _read_langsmith(row: Row, options: ReadOptions) -> list[Label]:
    source = row.get("feedback_source")
    source = source if isinstance(source, Mapping) else {}
    if source.get("type") in ("model", "auto_eval"):
        raise NotALabel("scored by an evaluator")
    given = row.get("value") if row.get("score") is None else row.get("score")
    return [
        _build_named(
            row, options, str(row.get("key", "")), given,
            sample=row.get("run_id") or row.get("trace_id"),
            author=source.get("user_id") or source.get("user_name"), comment=row.get("comment"),
        )
    ]  # fmt: skip


def _read_argilla(row: Row, options: ReadOptions) -> list[Label]:
    sample = row.get("external_id") or get_path(row, "metadata.id") or row.get("id")
    labels = []
    for question, responses in row["responses"].items():
        for response in responses if isinstance(responses, list) else [responses]:
            if not isinstance(response, Mapping) or response.get("status") == "discarded":
                continue
            author = response.get("user_id") or response.get("user")
            given = response.get("value")
            labels.append(
                _build_named(row, options, str(question), given, sample=sample, author=author)
            )
    if not labels:
        raise NotALabel("not answered")
    return labels


FORMATS: tuple[LabelFormat, ...] = (
    LabelFormat("Phoenix annotations", frozenset({"span_id", "annotator_kind"}), _read_phoenix),
    LabelFormat("Langfuse scores", frozenset({"traceId", "name", "source"}), _read_langfuse),
    LabelFormat("LangSmith feedback", frozenset({"run_id", "key", "score"}), _read_langsmith),
    LabelFormat("Argilla records", frozenset({"responses", "fields"}), _read_argilla),
)
"""Exports of other tools, by the columns that only they have."""
OWN_FORMAT = LabelFormat("labels", frozenset(), _read_own)


def _detect_format(row: Row, options: ReadOptions, where: str) -> LabelFormat:
    for name in options.fields:
        if name not in LABEL_FIELDS:
            raise DataError(f"labels have no field {name!r}{suggest_nearest(name, LABEL_FIELDS)}")
    # who maps columns says that the file is no export that we know
    if not options.fields:
        columns = frozenset(row)
        for kind in FORMATS:
            if kind.columns <= columns:
                return kind
    if _get(row, "sample", options) is None:
        raise DataError(
            f"{where}: no column names the sample ({', '.join(sorted(row)) or 'none'}); "
            "name it: --field sample=COLUMN"
        )
    return OWN_FORMAT


def _read_rows(path: str) -> Iterator[tuple[str, Row]]:
    source = open_source(path)
    for line, text in source.rows():
        where = f"{path}:{line}" if isinstance(line, int) else line
        if isinstance(text, RejectedRow):
            raise DataError(f"{where}: {text.reason}")
        try:
            row = json.loads(text)
        except ValueError:
            raise DataError(f"{where}: not JSON; write one object a line") from None
        if not isinstance(row, dict):
            raise DataError(f"{where}: not an object; write {{key: value, …}}")
        yield where, row


def _get(row: Row, name: str, options: ReadOptions) -> Any:
    paths = (options.fields[name],) if name in options.fields else COLUMNS[name]
    values = (get_path(row, path) for path in paths)
    return next((value for value in values if value not in (None, "")), None)


def find_target(name: str) -> Target:
    """The target that a column, criterion or score of that name is about."""
    folded = "_".join(name.strip().lower().replace("-", " ").split())
    return TARGET_NAMES[folded] if folded in TARGET_NAMES else parse_target(folded)


def _build_named(
    row: Row,
    options: ReadOptions,
    name: str,
    given: Any,
    *,
    sample: Any,
    author: Any = None,
    comment: Any = None,
) -> Label:
    """A label from another tool's score; one whose name means nothing here is a `score` of that name."""
    folded = "_".join(name.strip().lower().replace("-", " ").split())
    target = options.target or TARGET_NAMES.get(folded, "score")
    item = name if target == "score" else None
    label = _build_label(row, options, target, given, item=item, sample=sample)
    return _add_tool_fields(label, author=author, comment=comment)


def _build_label(
    row: Row,
    options: ReadOptions,
    target: Target,
    given: Any,
    *,
    item: Any = None,
    sample: Any = None,
) -> Label:
    sample = _get(row, "sample", options) if sample is None else sample
    if sample is None:
        raise ValueError("the row names no sample")
    if given is None:
        raise NotALabel("no value")
    try:
        value, word = parse_value(target, given, options.scale)
    except ValueError as error:
        raise ValueError(
            f"the {target} of {str(sample)!r} is {str(given)[:60]!r}; {error}"
        ) from None
    if target in ("claim", "chunk", "score") and item is None:
        raise ValueError(f"a label on a {target} needs its item: --field item=COLUMN")
    return Label(
        sample=str(sample),
        target=target,
        value=value,
        word=word,
        item="" if item is None else str(item),
        author=str(_get(row, "author", options) or options.author),
        at=_parse_time(_get(row, "at", options)),
        run=str(_get(row, "run", options) or ""),
        comment=str(_get(row, "comment", options) or ""),
        content=str(row.get("content") or ""),
        sampling_probability=_parse_sampling_probability(_get(row, "chance", options)),
        origin=_parse_origin(row.get("origin")),
    )


def _add_tool_fields(label: Label, *, author: Any, comment: Any) -> Label:
    """The label with what the tool says of it; a column `run` of another tool names no run of ours."""
    return replace(
        label,
        author=str(author) if author else label.author,
        comment=str(comment) if comment else label.comment,
        run="",
    )


def _parse_time(given: Any) -> int:
    if given is None:
        return 0
    if isinstance(given, int | float) and not isinstance(given, bool):
        # 1e11 seconds is the year 5138: larger numbers are milliseconds
        return round(given * (1e6 if abs(given) < 1e11 else 1e3))
    try:
        moment = datetime.fromisoformat(str(given))
    except ValueError:
        raise ValueError(f"the time {str(given)[:40]!r} is not ISO 8601") from None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1e6)


def _parse_sampling_probability(given: Any) -> float | None:
    if given is None:
        return None
    try:
        probability = float(given)
    except (TypeError, ValueError):
        probability = -1.0  # outside, so that the check below rejects it
    if not 0 < probability <= 1:
        raise ValueError(f"the chance {str(given)[:40]!r} is no probability above 0 and up to 1")
    return probability


def _parse_origin(given: Any) -> Origin:
    # a draw belongs to the run it was made in: in a file only its probabilities remain
    return next((name for name in ORIGINS if given == name), "import")
