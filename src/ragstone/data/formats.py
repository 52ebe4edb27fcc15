"""The known shapes of a row, in one table, and how a file's shape is recognised by its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ragstone.errors import DataError, UnknownFormat, nearest
from ragstone.types import SAMPLE_FIELDS

FIELDS: tuple[str, ...] = (*SAMPLE_FIELDS, "context_ids")
"""What a column can be mapped to: the fields of a Sample, and ids of the contexts in a column of their own."""


@dataclass(frozen=True, slots=True)
class Format:
    """One shape of row: the columns that mark it, and which column each field comes from."""

    name: str
    """As typed after --format."""
    title: str
    """As shown: "read 120 samples as ragas columns"."""
    marks: tuple[frozenset[str], ...]
    """Any one of these sets of columns marks the format."""
    fields: Mapping[str, tuple[str, ...]]
    """Field → the columns it may stand in, dotted when nested; the first one given is taken."""
    loose: bool = False
    """Whether texts may stand inside messages or objects, as logging tools write them."""
    text_contexts: bool = False
    """Whether the contexts may be one text instead of a list."""
    joined: str = ""
    """What separates the contexts in one CSV cell, if not a JSON list."""
    error_if_silent: bool = False
    """Whether the error column counts only without an answer (it also reports failed checks)."""

    def explains(self, columns: frozenset[str]) -> int:
        """How many of the columns the format knows."""
        return len(columns & self.columns)

    @property
    def columns(self) -> frozenset[str]:
        """Every top-level column it knows."""
        mapped = {path.split(".")[0] for paths in self.fields.values() for path in paths}
        return frozenset(mapped).union(*self.marks)


def detect(columns: Iterable[str], where: str) -> Format:
    """The one format that the columns fit best; a tie or no fit is the user's to settle."""
    found = frozenset(columns)
    # "inputs.question", as tables of nested records have it, also shows the column "inputs".
    roots = found | {name.split(".")[0] for name in found}
    fits = [known for known in FORMATS.values() if any(mark <= roots for mark in known.marks)]
    listed = ", ".join(sorted(found)) or "none"
    if not fits:
        close = max(FORMATS.values(), key=lambda known: (known.explains(roots), known.name))
        hint = (
            f"nearest is {close.name!r} ({', '.join(sorted(close.columns))})"
            if close.explains(roots)
            else f"known: {', '.join(FORMATS)}"
        )
        raise UnknownFormat(
            f"{where}: the columns ({listed}) fit no known format; {hint}; choose one with "
            "--format, or name your columns: fields: {question: …, answer: …, contexts: …}"
        )
    most = max(known.explains(roots) for known in fits)
    best = [known for known in fits if known.explains(roots) == most]
    if len(best) > 1:
        names = " or ".join(known.name for known in best)
        raise UnknownFormat(
            f"{where}: the columns ({listed}) may be {names}; say which with --format, or name "
            "your columns: fields: {question: …, answer: …, contexts: …}"
        )
    return best[0]


def named(name: str) -> Format:
    """The format of that name."""
    if name not in FORMATS:
        raise UnknownFormat(f"no format {name!r}{nearest(name, list(FORMATS))}")
    return FORMATS[name]


def mapping(known: Format, fields: Mapping[str, str] | None) -> dict[str, tuple[str, ...]]:
    """Field → columns of the format, with the user's own columns in place of the format's."""
    paths = dict(known.fields)
    for field, column in (fields or {}).items():
        if field not in FIELDS:
            raise DataError(
                f"fields: {field!r} is not a field of a sample{nearest(field, list(FIELDS))}"
            )
        if not isinstance(column, str) or not column:
            raise DataError(f"fields: {field} is {column!r}; give the name of a column")
        paths[field] = (column,)
    if fields and "contexts" in fields and "context_ids" not in fields:
        paths.pop("context_ids", None)
    return paths


def _marks(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(columns.split()) for columns in sets)


def _fields(**columns: str) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({field: tuple(names.split()) for field, names in columns.items()})


def _inside(root: str, names: str) -> str:
    return " ".join(f"{root}.{name}" for name in names.split())


_QUESTION = "question query input user_input prompt messages"
_ANSWER = "answer output response generated_answer result text content messages generations"
_CONTEXTS = "contexts context documents retrieved_contexts retrieved_context source_documents docs"
_REFERENCE = "reference expected expected_output expected_answer ground_truth reference_answer"

_TABLE: Sequence[Format] = (
    Format(
        "ragstone",
        "ragstone columns",
        _marks(
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
        ),
    ),
    Format(
        "ragas",
        "ragas columns",
        _marks("user_input", "retrieved_contexts", "retrieved_context_ids"),
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
        ),
        loose=True,
    ),
    Format(
        "ragas-old",
        "ragas columns (before 0.2)",
        _marks("question ground_truth", "question ground_truths"),
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
        _marks("query relevant_docs"),
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
        _marks(
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
        _marks("query context", "query ground_truth", "query answer", "question context"),
        _fields(
            id="id",
            question="query question",
            contexts="context contexts",
            answer="answer",
            reference="ground_truth reference",
            meta="metadata",
            error="error",
        ),
        text_contexts=True,
    ),
    Format(
        "answers",
        "answers by question_id",
        _marks("question_id question", "question_id answer"),
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
        _marks(
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
        ),
        joined="|",
    ),
    Format(
        "langsmith-runs",
        "LangSmith runs",
        _marks(
            "inputs outputs",
            "inputs run_type",
            "inputs reference_example_id",
            "inputs outputs reference_outputs",
            "inputs outputs reference",
            "inputs outputs run_type reference_example_id",
        ),
        _fields(
            id="id run_id",
            question=f"{_inside('inputs', _QUESTION)} inputs",
            answer=f"{_inside('outputs', _ANSWER)} outputs",
            contexts=_inside("outputs", _CONTEXTS) + " " + _inside("inputs", _CONTEXTS),
            reference=" ".join(
                f"{_inside(root, f'{_ANSWER} {_REFERENCE}')} {root}"
                for root in ("reference_outputs", "reference")
            ),
            meta="metadata extra.metadata",
            error="error",
        ),
        loose=True,
        text_contexts=True,
    ),
    Format(
        "langsmith-examples",
        "LangSmith examples",
        _marks("inputs outputs", "inputs dataset_id", "inputs outputs dataset_id source_run_id"),
        _fields(
            id="id",
            question=f"{_inside('inputs', _QUESTION)} inputs",
            reference=f"{_inside('outputs', f'{_ANSWER} {_REFERENCE}')} outputs",
            contexts=_inside("inputs", _CONTEXTS),
            meta="metadata",
        ),
        loose=True,
        text_contexts=True,
    ),
    Format(
        "mlflow",
        "MLflow (inputs, outputs, expectations)",
        _marks("inputs outputs", "inputs expectations"),
        _fields(
            id="id dataset_record_id trace_id",
            question=f"{_inside('inputs', _QUESTION)} inputs",
            answer=f"{_inside('outputs', _ANSWER)} outputs",
            contexts=_inside("outputs", _CONTEXTS),
            reference=_inside(
                "expectations", f"expected_response {_REFERENCE} answer expected_facts"
            ),
            relevant=_inside("expectations", "expected_retrieved_context relevant_doc_ids"),
            meta="tags metadata",
            error="error",
        ),
        loose=True,
        text_contexts=True,
    ),
    Format(
        "mlflow2",
        "MLflow 2 (request, response, retrieved_context)",
        _marks("request response", "request expected_response", "request retrieved_context"),
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
        loose=True,
    ),
    Format(
        "trulens",
        "TruLens records",
        _marks("record_id main_input", "record_id input", "main_input main_output"),
        _fields(
            id="record_id",
            question="main_input input",
            answer="main_output output",
            contexts="contexts retrieved_contexts context",
            reference="ground_truth ground_truth_output expected_response",
            meta="meta",
            error="main_error error",
        ),
        loose=True,
        text_contexts=True,
    ),
    Format(
        "promptfoo",
        "promptfoo results",
        _marks("vars"),
        _fields(
            id="id",
            question=_inside("vars", _QUESTION),
            answer="response.output response.raw",
            contexts=f"{_inside('vars', _CONTEXTS)} response.metadata.context metadata.context",
            reference=_inside("vars", f"{_REFERENCE} answer"),
            meta="metadata testCase.metadata",
            error="response.error error",
        ),
        loose=True,
        text_contexts=True,
        error_if_silent=True,
    ),
)

FORMATS: Mapping[str, Format] = MappingProxyType({known.name: known for known in _TABLE})
"""Every format of rows by name. TREC and BEIR are files of lines: they become ragstone columns."""

OWN = FORMATS["ragstone"]
