"""What Python people hold is read: framework documents, pydantic models, numpy and pandas scalars, datetimes."""

from __future__ import annotations

import enum
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy
import pytest

from ragstone.data import read
from ragstone.data.documents import Document
from ragstone.errors import DataError
from ragstone.testset.sources import open_corpus


@dataclass
class LangChainDocument:
    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


class Node:
    def __init__(self, text: str, ref_doc_id: str | None = None, **metadata: Any) -> None:
        self.text, self.ref_doc_id, self.metadata = text, ref_doc_id, metadata

    def get_content(self) -> str:
        return self.text


@dataclass
class NodeWithScore:
    node: Node
    score: float


@dataclass
class HaystackDocument:
    content: str
    id: str
    meta: dict[str, Any] = field(default_factory=dict)


class Colour(enum.Enum):
    RED = "red"


class Model:
    """Looks like a pydantic model."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self.fields


def test_a_row_of_objects_is_a_sample() -> None:
    row = {
        "id": numpy.int64(7),
        "question": numpy.str_("Why?"),
        "answer": "So.",
        "contexts": [
            LangChainDocument("One.", {"source": "a.md"}),
            NodeWithScore(Node("Two.", "b.md"), numpy.float32(0.5)),
            HaystackDocument("Three.", "c.md"),
            "Four.",
        ],
        "relevant": numpy.array(["a.md"]),
        "latency": timedelta(seconds=2),
        "meta": {
            "at": datetime(2026, 5, 1, tzinfo=UTC),
            "cost": Decimal("0.5"),
            "colour": Colour.RED,
            "trace": uuid.UUID(int=1),
            "file": Path("x.md"),
            "inner": Model(k=numpy.int8(3)),
        },
    }
    for given in (row, Model(**row)):
        (record,) = read([given])
        sample = record.sample
        assert (sample.id, sample.question) == ("7", "Why?")
        assert sample.contexts is not None
        assert sample.contexts.ids == ["a.md", "b.md", "c.md", ""]
        assert sample.contexts.texts == ["One.", "Two.", "Three.", "Four."]
        assert sample.contexts[1].score == 0.5
        assert sample.relevant == {"a.md": 1}
        assert sample.meta["latency"] == 2
        assert sample.meta["at"] == "2026-05-01T00:00:00+00:00"
        assert (sample.meta["cost"], sample.meta["colour"]) == (0.5, "red")


def test_what_has_no_plain_form_is_still_refused() -> None:
    with pytest.raises(DataError, match="object stands in it"):
        list(read([{"question": "Why?", "meta": {"x": object()}}]))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["Paris is the capital.", "Two\nlines"], {"text-1": "Paris is the capital.", "text-2": "Two\nlines"}),
        ([{"id": "a", "text": "One."}, {"id": 2, "content": "Two."}], {"a": "One.", "2": "Two."}),
        ([LangChainDocument("One.", {"source": "a.md"}), LangChainDocument("Two.", {"source": "a.md"})],
         {"a.md": "One.\n\nTwo."}),
        ([LangChainDocument("One.", {"source": "a.md"}, "x"), LangChainDocument("Two.")], {"x": "One.", "text-2": "Two."}),
        ([Node("One.", "a")], {"a": "One."}),
        ([HaystackDocument("One.", "a"), Document("b", "Two.")], {"a": "One.", "b": "Two."}),
        ([Model(id="a", text="One.")], {"a": "One."}),
        (iter(["One two three."]), {"text-1": "One two three."}),
    ],
)  # fmt: skip
def test_documents_come_in_any_form(given: Any, wanted: dict[str, str]) -> None:
    with open_corpus(given) as corpus:
        assert {document.id: document.text for document in corpus} == wanted


def test_a_frame_of_documents() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2], "text": ["One.", "Two."]})
    with open_corpus(frame) as corpus:
        assert [document.id for document in corpus] == ["1", "2"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["no-docs", "more docs.md"], "no folder or file 'no-docs'"),
        (["a folder that is missing.md"], "no folder or file"),
        ([{"id": "a", "words": "One."}], r"document 1 has no text \(id, words\)"),
        ([7], r"document 1 has no text \(int\)"),
        ([Document("a", "One."), Document("a", "Two.")], "the document id 'a' stands in"),
    ],
)
def test_what_is_no_document_is_named(given: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        open_corpus(given)


def test_a_row_without_text_names_its_keys(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"id": "a", "content": "One."}\n')
    with open_corpus(path) as corpus:
        assert corpus[0].text == "One."
    path.write_text('{"id": "a", "words": "One."}\n')
    with pytest.raises(DataError, match=r"the keys are id, words\); call it text"):
        open_corpus(path)
