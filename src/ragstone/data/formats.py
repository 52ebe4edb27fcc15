"""The table of known row formats, and the detection of a file's format by its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ragstone.data import converters
from ragstone.data.limits import shorten_names
from ragstone.errors import DataError, UnknownFormat, suggest_nearest
from ragstone.types import SAMPLE_FIELDS

FIELDS: tuple[str, ...] = (*SAMPLE_FIELDS, "context_ids")
"""Fields that a column can be mapped to: those of a Sample, and the ids of contexts kept in a separate column."""


@dataclass(frozen=True, slots=True)
class Format:
    """A row format: the columns that identify it, and the columns of each field."""

    name: str
    """As given to --format."""
    title: str
    """As shown: "read 120 samples as ragas columns"."""
    signatures: tuple[frozenset[str], ...]
    """Sets of columns; a row with all columns of any set may have this format.

    Every column named here counts as known: a long set beside a short one lets this format win over others that fit."""
    fields: Mapping[str, tuple[str, ...]]
    """Field → its possible columns, dotted when nested; the first with a value is used."""
    allows_nested_text: bool = False
    """Whether texts may be nested in messages or objects, as logging tools write them."""
    allows_single_context: bool = False
    """Whether the contexts may be one text instead of a list."""
    context_separator: str = ""
    """What separates the contexts in one CSV cell, if not a JSON list."""
    error_only_without_answer: bool = False
    """Whether the error column counts only without an answer (it also reports failed checks)."""
    convert: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    """Turns a row into a flat one before its columns are mapped; `fields` are then columns of the flat row."""
    matches: Callable[[Mapping[str, Any]], bool] | None = None
    """Whether a row is of this format, where its columns alone cannot show it."""

    def count_known(self, columns: frozenset[str]) -> int:
        """Count the columns that the format knows."""
        return len(columns & self.columns)

    @property
    def columns(self) -> frozenset[str]:
        """Every top-level column that the format knows."""
        mapped = {path.split(".")[0] for paths in self.fields.values() for path in paths}
        return frozenset(mapped).union(*self.signatures)


def detect_format(columns: Iterable[str], where: str) -> Format:
    """Return the format that knows most of the columns; a tie or no match is an error."""
    names = frozenset(columns)
    # A table of nested records has columns like "inputs.question", which imply the column "inputs".
    roots = names | {name.split(".")[0] for name in names}
    fits = [
        row_format
        for row_format in FORMATS.values()
        if any(signature <= roots for signature in row_format.signatures)
    ]
    shown_columns = shorten_names(sorted(names)) or "none"
    if not fits:
        closest = max(
            FORMATS.values(),
            key=lambda row_format: (row_format.count_known(roots), row_format.name),
        )
        hint = (
            f"nearest is {closest.name!r} ({', '.join(sorted(closest.columns))})"
            if closest.count_known(roots)
            else f"known: {', '.join(FORMATS)}"
        )
        raise UnknownFormat(
            f"{where}: the columns ({shown_columns}) fit no known format; {hint}; choose one with "
            "--format, or name your columns: fields: {question: …, answer: …, contexts: …}"
        )
    # a signature says "may be", the number of known columns decides: many tools share `question`
    # and `answer`
    best_count = max(row_format.count_known(roots) for row_format in fits)
    best = [row_format for row_format in fits if row_format.count_known(roots) == best_count]
    if len(best) > 1:
        candidates = " or ".join(row_format.name for row_format in best)
        raise UnknownFormat(
            f"{where}: the columns ({shown_columns}) may be {candidates}; say which with --format, or name "
            "your columns: fields: {question: …, answer: …, contexts: …}"
        )
    return best[0]


def register_format(row_format: Format) -> None:
    """Add a row format to those that are detected and that --format names."""
    FORMATS[row_format.name] = row_format


def get_format(name: str) -> Format:
    """Look up a format by name."""
    if name not in FORMATS:
        raise UnknownFormat(f"no format {name!r}{suggest_nearest(name, list(FORMATS))}")
    return FORMATS[name]


def map_fields(row_format: Format, fields: Mapping[str, str] | None) -> dict[str, tuple[str, ...]]:
    """Build field → columns of the format, where `fields` replaces the columns of single fields."""
    paths = dict(row_format.fields)
    for field, column in (fields or {}).items():
        if field not in FIELDS:
            raise DataError(
                f"fields: {field!r} is not a field of a sample{suggest_nearest(field, list(FIELDS))}"
            )
        if not isinstance(column, str) or not column:
            raise DataError(f"fields: {field} is {column!r}; give the name of a column")
        paths[field] = (column,)
    # ids of another column than the contexts would be attached to the wrong texts
    if fields and "contexts" in fields and "context_ids" not in fields:
        paths.pop("context_ids", None)
    return paths


def _signatures(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(columns.split()) for columns in sets)


def _fields(**columns: str) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({field: tuple(names.split()) for field, names in columns.items()})


def _nest_names(root: str, names: str) -> str:
    return " ".join(f"{root}.{name}" for name in names.split())


_QUESTION = "question query input user_input prompt messages"
_ANSWER = "answer output response generated_answer result text content messages generations"
_CONTEXTS = "contexts context documents retrieved_contexts retrieved_context source_documents docs"
_REFERENCE = "reference expected expected_output expected_answer ground_truth reference_answer"

_PLAIN_FIELDS = _fields(
    id="id",
    question="question",
    answer="answer",
    contexts="contexts",
    reference="reference",
    relevant="relevant",
    meta="meta",
    error="error",
)
"""Columns of the flat rows that a converter returns."""

_TABLE: Sequence[Format] = (
    Format(
        "ragstone",
        "ragstone columns",
        _signatures(
            "question",
            "answer reference",
            "answer contexts",
            "contexts relevant",
            "context_ids relevant",
        ),
        _fields(
            id="id",
            question="question",
            answer="answer",
            contexts="contexts",
            context_ids="context_ids",
            reference="reference",
            relevant="relevant",
            language="language",
            group="group",
            meta="meta",
            error="error",
            messages="messages chat_history history meta.history",
            steps="steps",
            expected_steps="expected_steps",
        ),
    ),
    Format(
        "ragas",
        "ragas columns",
        _signatures("user_input", "retrieved_contexts", "retrieved_context_ids"),
        _fields(
            id="id",
            question="user_input",
            answer="response",
            contexts="retrieved_contexts",
            context_ids="retrieved_context_ids",
            reference="reference",
            relevant="reference_context_ids",
            meta="metadata",
            error="error",
            expected_steps="reference_tool_calls",
        ),
        allows_nested_text=True,
    ),
    Format(
        "ragas-old",
        "ragas columns (before 0.2)",
        _signatures("question ground_truth", "question ground_truths"),
        _fields(
            id="id",
            question="question",
            answer="answer",
            contexts="contexts",
            reference="ground_truth ground_truths",
            meta="metadata",
            error="error",
        ),
    ),
    Format(
        "search-set",
        "a search set (query, relevant_docs)",
        _signatures("query relevant_docs"),
        _fields(
            id="id query_id",
            question="query",
            relevant="relevant_docs",
            reference="ground_truth_answer",
            contexts="retrieved_docs",
            context_ids="retrieved_doc_ids",
            answer="generated_answer",
            meta="metadata",
            error="error",
        ),
    ),
    Format(
        "search-run",
        "a search run (query, retrieved_docs, generated_answer)",
        _signatures(
            "query relevant_doc_ids",
            "query ground_truth_answer",
            "query retrieved_docs",
            "query retrieved_doc_ids",
        ),
        _fields(
            id="id query_id",
            question="query",
            relevant="relevant_doc_ids",
            reference="ground_truth_answer",
            contexts="retrieved_docs",
            context_ids="retrieved_doc_ids",
            answer="generated_answer",
            meta="metadata",
            error="error",
        ),
    ),
    Format(
        "query-context",
        "query, context, answer, ground_truth",
        _signatures("query context", "query ground_truth", "query answer", "question context"),
        _fields(
            id="id",
            question="query question",
            contexts="context contexts",
            answer="answer",
            reference="ground_truth reference",
            meta="metadata",
            error="error",
        ),
        allows_single_context=True,
    ),
    Format(
        "answers",
        "answers by question_id",
        _signatures("question_id question", "question_id answer"),
        _fields(
            id="question_id",
            question="question",
            answer="answer",
            reference="reference",
            contexts="contexts",
            group="doc_id",
            meta="metadata",
            error="error",
        ),
    ),
    Format(
        "deepeval",
        "deepeval test cases",
        _signatures(
            "input actual_output",
            "input expected_output",
            "input retrieval_context",
            "input actualOutput",
            "input expectedOutput",
            "input retrievalContext",
        ),
        _fields(
            id="id",
            question="input",
            answer="actual_output actualOutput",
            contexts="retrieval_context retrievalContext",
            reference="expected_output expectedOutput",
            meta="additional_metadata additionalMetadata metadata",
            steps="tools_called",
            expected_steps="expected_tools",
        ),
        context_separator="|",
    ),
    Format(
        "langsmith-runs",
        "LangSmith runs",
        _signatures(
            "inputs outputs",
            "inputs run_type",
            "inputs reference_example_id",
            "inputs outputs reference_outputs",
            "inputs outputs reference",
            "inputs outputs run_type reference_example_id",
        ),
        _fields(
            id="id run_id",
            question=f"{_nest_names('inputs', _QUESTION)} inputs",
            answer=f"{_nest_names('outputs', _ANSWER)} outputs",
            contexts=f"{_nest_names('outputs', _CONTEXTS)} {_nest_names('inputs', _CONTEXTS)} contexts",
            steps="steps",
            reference=" ".join(
                f"{_nest_names(root, f'{_ANSWER} {_REFERENCE}')} {root}"
                for root in ("reference_outputs", "reference")
            ),
            meta="metadata extra.metadata",
            error="error",
        ),
        allows_nested_text=True,
        allows_single_context=True,
    ),
    Format(
        "langsmith-examples",
        "LangSmith examples",
        _signatures(
            "inputs outputs", "inputs dataset_id", "inputs outputs dataset_id source_run_id"
        ),
        _fields(
            id="id",
            question=f"{_nest_names('inputs', _QUESTION)} inputs",
            reference=f"{_nest_names('outputs', f'{_ANSWER} {_REFERENCE}')} outputs",
            contexts=_nest_names("inputs", _CONTEXTS),
            meta="metadata",
        ),
        allows_nested_text=True,
        allows_single_context=True,
    ),
    Format(
        "mlflow",
        "MLflow (inputs, outputs, expectations)",
        _signatures("inputs outputs", "inputs expectations"),
        _fields(
            id="id dataset_record_id trace_id",
            question=f"{_nest_names('inputs', _QUESTION)} inputs",
            answer=f"{_nest_names('outputs', _ANSWER)} outputs",
            contexts=_nest_names("outputs", _CONTEXTS),
            reference=_nest_names(
                "expectations", f"expected_response {_REFERENCE} answer expected_facts"
            ),
            relevant=_nest_names("expectations", "expected_retrieved_context relevant_doc_ids"),
            meta="tags metadata",
            error="error",
        ),
        allows_nested_text=True,
        allows_single_context=True,
    ),
    Format(
        "mlflow2",
        "MLflow 2 (request, response, retrieved_context)",
        _signatures("request response", "request expected_response", "request retrieved_context"),
        _fields(
            id="request_id id",
            question="request",
            answer="response",
            contexts="retrieved_context",
            reference="expected_response expected_facts",
            relevant="expected_retrieved_context",
            meta="tags metadata",
            error="error",
        ),
        allows_nested_text=True,
    ),
    Format(
        "trulens",
        "TruLens records",
        _signatures("record_id main_input", "record_id input", "main_input main_output"),
        _fields(
            id="record_id",
            question="main_input input",
            answer="main_output output",
            contexts="contexts retrieved_contexts context",
            reference="ground_truth ground_truth_output expected_response",
            meta="meta",
            error="main_error error",
        ),
        allows_nested_text=True,
        allows_single_context=True,
        convert=converters.convert_trulens_record,
    ),
    Format(
        "langfuse",
        "Langfuse traces",
        _signatures(
            "input output sessionId",
            "input output observations",
            "input output userId",
            "id timestamp name input output sessionId userId metadata observations scores tags latency totalCost "
            "release version public environment htmlPath projectId createdAt updatedAt bookmarked",
        ),
        {**_PLAIN_FIELDS, "steps": ("steps",), "group": ("group",), "messages": ("messages",)},
        allows_nested_text=True,
        allows_single_context=True,
        convert=converters.convert_langfuse_trace,
    ),
    Format(
        "squad",
        "SQuAD rows (question, context, answers)",
        _signatures("question answers", "question context answers"),
        _fields(
            id="id",
            question="question",
            contexts="context contexts",
            reference="answers.text answers answers.aliases answers.value",
            group="title",
        ),
        allows_single_context=True,
    ),
    Format(
        "mlflow-traces",
        "MLflow traces",
        _signatures(
            "request response spans",
            "request response trace",
            "info data",
            "trace_id trace state request_time execution_duration request response spans "
            "trace_metadata assessments tags",
            "request_id trace timestamp_ms status execution_time_ms request response spans "
            "request_metadata assessments tags",
        ),
        _PLAIN_FIELDS,
        allows_nested_text=True,
        convert=converters.convert_mlflow_trace,
    ),
    Format(
        "inspect",
        "Inspect samples",
        _signatures("input target output", "id epoch input target output scores metadata"),
        _PLAIN_FIELDS,
        allows_nested_text=True,
        allows_single_context=True,
        convert=converters.convert_inspect_sample,
    ),
    Format(
        "openai-evals",
        "OpenAI-evals samples",
        _signatures("input ideal"),
        _fields(id="id", question="input", reference="ideal", answer="sampled", meta="metadata"),
        allows_nested_text=True,
    ),
    Format(
        "openai-items",
        "OpenAI eval items",
        _signatures("item sample"),
        _fields(
            id="id",
            question=_nest_names("item", _QUESTION),
            answer="sample.output_text sample.choices",
            contexts=_nest_names("item", _CONTEXTS),
            reference=_nest_names("item", f"{_REFERENCE} correct_label ideal answer"),
            error="sample.error",
        ),
        allows_nested_text=True,
        allows_single_context=True,
    ),
    Format(
        "phoenix-qa",
        "Phoenix questions with their retrieved reference",
        _signatures("context.span_id input output reference"),
        _fields(id="context.span_id", question="input", answer="output", contexts="reference"),
        allows_single_context=True,
    ),
    Format(
        "haystack",
        "Haystack results",
        (),
        _PLAIN_FIELDS,
        allows_nested_text=True,
        convert=converters.convert_haystack_result,
        matches=converters.is_haystack_result,
    ),
    Format(
        "promptfoo",
        "promptfoo results",
        _signatures("vars"),
        _fields(
            id="id",
            question=_nest_names("vars", _QUESTION),
            answer="response.output response.raw",
            contexts=f"{_nest_names('vars', _CONTEXTS)} response.metadata.context metadata.context",
            reference=_nest_names("vars", f"{_REFERENCE} answer"),
            meta="metadata testCase.metadata",
            error="response.error error",
        ),
        allows_nested_text=True,
        allows_single_context=True,
        error_only_without_answer=True,
    ),
)

FORMATS: dict[str, Format] = {known.name: known for known in _TABLE}
"""Every row format by name. TREC and BEIR files are converted to ragstone columns and need none."""

NATIVE_FORMAT = FORMATS["ragstone"]
