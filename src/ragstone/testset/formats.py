"""A test set as files: in ragstone's format, or with the columns that other tools read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ragstone.data import WRITERS, open_replacement, write_rows
from ragstone.data.documents import Document
from ragstone.errors import DataError, suggest_nearest
from ragstone.testset.items import Item

Row = Mapping[str, Any]


def _to_ragstone_row(item: Item) -> Row:
    return item.to_row()


def _to_ragas_row(item: Item) -> Row:
    return {
        "id": item.id,
        "user_input": _join_turns(item),
        "reference": _get_answer(item),
        "reference_contexts": [evidence.quote for evidence in item.evidence],
        "reference_context_ids": _list_relevant(item),
        "synthesizer_name": item.how,
        "metadata": _collect_facts(item),
    }


def _to_deepeval_row(item: Item) -> Row:
    return {
        "id": item.id,
        "input": _join_turns(item),
        "expected_output": _get_answer(item),
        "context": [evidence.quote for evidence in item.evidence],
        "source_file": item.evidence[0].document if item.evidence else None,
        "additional_metadata": {**_collect_facts(item), "relevant": dict(item.relevant)},
    }


def _to_query_row(item: Item) -> Row:
    return {
        "id": item.id,
        "query": _join_turns(item),
        "relevant_docs": _list_relevant(item),
        "ground_truth_answer": _get_answer(item),
        "metadata": _collect_facts(item),
    }


def _to_questions_row(item: Item) -> Row:
    # This shape has one document per question; of several, that of the first evidence counts.
    home = item.evidence[0].document if item.evidence else next(iter(item.relevant), "")
    return {
        "question_id": item.id,
        "doc_id": home,
        "question": _join_turns(item),
        "type": item.kind if item.answerable else "impossible",
        "answer": _get_answer(item),
    }


SHAPES: Mapping[str, Callable[[Item], Row]] = MappingProxyType(
    {
        "ragstone": _to_ragstone_row,
        "ragas": _to_ragas_row,
        "deepeval": _to_deepeval_row,
        "query": _to_query_row,
        "questions": _to_questions_row,
    }
)
"""Format → what makes a row of an item, for formats that are one file."""
FORMATS: tuple[str, ...] = (*SHAPES, "beir")
"""What `--format` takes; `beir` is a folder, the others are files."""


def check_target(path: Path, format: str) -> None:
    """DataError, before any work is done, for a format or a file name extension that cannot be written."""
    if format not in FORMATS:
        raise DataError(f"no format {format!r}{suggest_nearest(format, list(FORMATS))}")
    if format == "beir":
        if path.suffix in WRITERS or path.is_file():
            raise DataError(f"beir is a folder and {str(path)!r} is a file; name a folder")
    elif path.suffix.lower() not in WRITERS:
        raise DataError(
            f"cannot write {str(path)!r}; end it with one of {' '.join(WRITERS)}"
            + (", or give --format beir for a folder" if not path.suffix else "")
        )
    elif not path.parent.is_dir():
        raise DataError(f"there is no folder {str(path.parent)!r} to write {path.name!r} into")


def write_set(
    path: Path, items: Sequence[Item], format: str, documents: Iterable[Document]
) -> None:
    """Write the items; only beir uses `documents`."""
    check_target(path, format)
    if format == "beir":
        _write_beir(path, items, documents)
        return
    shape = SHAPES[format]

    # `write_rows` is made for runs: each row comes with its scores, here none, and the last
    # argument names columns to add. It may read the rows twice, so it takes a function.
    def rows() -> Iterator[tuple[str, Mapping[str, Any]]]:
        return ((_to_json_text(shape(item)), {}) for item in items)

    write_rows(path, rows, [])


def _write_beir(folder: Path, items: Sequence[Item], documents: Iterable[Document]) -> None:
    """corpus.jsonl, queries.jsonl and qrels/test.tsv; a question without an answer has no line in the qrels."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    with open_replacement(folder / "corpus.jsonl") as stream:
        # Planted documents go into the corpus, or the system would never meet the instruction that
        # the item is about.
        for document in chain(documents, list_planted(items)):
            stream.write(
                _to_json_text({"_id": document.id, "title": document.title, "text": document.text})
                + "\n"
            )
    with open_replacement(folder / "queries.jsonl") as stream:
        for item in items:
            meta = {**_collect_facts(item), "answer": _get_answer(item)}
            stream.write(
                _to_json_text({"_id": item.id, "text": _join_turns(item), "metadata": meta}) + "\n"
            )
    with open_replacement(folder / "qrels" / "test.tsv") as stream:
        stream.write("query-id\tcorpus-id\tscore\n")
        for item in items:
            for name, grade in item.relevant.items():
                # Whole numbers: many readers of qrels take no others.
                stream.write(f"{item.id}\t{name}\t{round(grade)}\n")


def list_planted(items: Sequence[Item]) -> list[Document]:
    """The documents with an instruction that items were made for, each once; a system meets them only if they are
    in its corpus."""
    planted: dict[str, Document] = {}
    for item in items:
        document = item.proof.get("planted")
        if isinstance(document, Mapping):
            key = str(document["id"])
            planted[key] = Document(key, str(document["text"]), "", item.language)
    return list(planted.values())


def _join_turns(item: Item) -> str:
    """The question with the turns before it, for formats that have no place for a conversation."""
    return "\n".join([*item.history, item.question])


def _get_answer(item: Item) -> str:
    return item.answer or ""


def _list_relevant(item: Item) -> list[str]:
    return [name for name, grade in item.relevant.items() if grade > 0]


def _collect_facts(item: Item) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "kind": item.kind,
        "difficulty": item.difficulty,
        "language": item.language,
        "how": item.how,
    }
    return facts | ({"style": item.style} if item.style else {})


def _to_json_text(row: Row) -> str:
    text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # an unpaired surrogate, which only an escape can hold
        return json.dumps(row, allow_nan=False)
    return text
