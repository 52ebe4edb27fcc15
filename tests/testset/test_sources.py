"""Documents of any number and kind, one at a time; samples spread over folders and topics."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest

from ragstone import generate
from ragstone.data.documents import Document, stream_documents
from ragstone.errors import DataError
from ragstone.testset.sampling import spread_documents
from ragstone.testset.sources import Corpus, open_corpus


def lines(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_a_jsonl_file_is_read_where_it_is_and_found_by_id(tmp_path: Path) -> None:
    rows = [{"id": f"d{n}", "text": f"Text {n}. ñandú", "language": "es"} for n in range(50)]
    with open_corpus(lines(tmp_path / "a.jsonl", rows)) as corpus:
        assert len(corpus) == 50
        assert [one.id for one in corpus] == [row["id"] for row in rows]
        assert corpus[31].text == "Text 31. ñandú"
        assert corpus.find("d31") == corpus[31]
        with pytest.raises(KeyError):
            corpus.find("d99")


def test_a_folder_of_every_kind_of_file(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx", reason="pip install 'ragstone[docx]'")
    (tmp_path / "a.txt").write_text("Plain text.", "utf-8")
    (tmp_path / "b.md").write_text("# Title\nBody.", "utf-8")
    (tmp_path / "c.html").write_text("<title>T</title><p>Page.</p>", "utf-8")
    file = docx.Document()
    file.add_heading("Opening hours", 1)
    file.add_paragraph("The shop opens at nine.")
    table = file.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Monday", "closed"
    file.save(str(tmp_path / "d.docx"))
    with open_corpus(tmp_path) as corpus:
        texts = {one.id: one.text for one in corpus}
    assert list(texts) == ["a.txt", "b.md", "c.html", "d.docx"]
    assert texts["d.docx"] == "# Opening hours\nThe shop opens at nine.\nMonday | closed"


def test_a_beir_folder_is_its_corpus_and_nothing_else(tmp_path: Path) -> None:
    lines(tmp_path / "corpus.jsonl", [{"_id": "x", "title": "T", "text": "Body."}])
    lines(tmp_path / "queries.jsonl", [{"_id": "q", "text": "What?"}])
    (tmp_path / "README.md").write_text("About.", "utf-8")
    with open_corpus(tmp_path) as corpus:
        assert [(one.id, one.title, one.text) for one in corpus] == [("x", "T", "Body.")]


def test_several_files_and_documents_from_python(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One.", "utf-8")
    jsonl = lines(tmp_path / "b.jsonl", [{"id": "b", "text": "Two."}])
    with open_corpus([tmp_path / "a.txt", jsonl]) as corpus:
        assert [one.id for one in corpus] == ["a.txt", "b"]
    with open_corpus(Document(str(n), f"Text {n}") for n in range(3)) as corpus:
        assert corpus.find("2").text == "Text 2"


def test_a_document_without_text_is_passed_over_and_counted(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": "  "}, {"id": "b", "text": "Text."}]
    with open_corpus(lines(tmp_path / "a.jsonl", rows)) as corpus:
        assert (len(corpus), corpus.empty) == (1, 1)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([{"id": "x", "text": "a"}, {"id": "y", "text": "b"}, {"id": "x", "text": "c"}], "'x' stands in"),
        ([], "holds no document"),
        ([{"text": "a"}], "the id is None"),
        ([{"id": "x"}], "the text of 'x' is missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said(tmp_path: Path, rows: list[dict], says: str) -> None:
    with pytest.raises(DataError, match=says):
        open_corpus(lines(tmp_path / "a.jsonl", rows))


def test_streaming_gives_what_reading_gives(tmp_path: Path) -> None:
    from ragstone.data.documents import read_documents

    path = lines(tmp_path / "a.jsonl", [{"id": str(n), "text": f"T {n}"} for n in range(9)])
    assert list(stream_documents(path)) == read_documents(path)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_documents(tmp_path: Path) -> None:
    def most(count: int) -> int:
        rows = [{"id": f"d{n}", "text": f"word{n % 97} of matter {n}. " * 20} for n in range(count)]
        path = lines(tmp_path / f"{count}.jsonl", rows)
        del rows
        tracemalloc.start()
        with open_corpus(path) as corpus:
            spread_documents(corpus, 1, wanted=50)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    fewer, more = 5_000, 20_000
    peak = most(more)
    assert peak < more * 24 * 20 / 4  # a quarter of the characters in the larger file
    assert peak < 3 * most(fewer)


def families(tmp_path: Path, sizes: dict[str, int]) -> Corpus:
    """Documents of several families, each with words of its own, the largest first."""
    words = {
        "boats": "harbour sailing anchor vessel captain current lighthouse",
        "bread": "flour oven yeast dough baker crust kneading",
        "stars": "telescope planet orbit comet galaxy observer eclipse",
    }
    rows = []
    for name, size in sizes.items():
        for n in range(size):
            rows.append({"id": f"{name}-{n}", "text": f"{words[name]} number{n} {words[name]}"})
    return open_corpus(lines(tmp_path / "families.jsonl", rows))


def test_the_sample_is_spread_over_topics_and_not_the_first_ones(tmp_path: Path) -> None:
    with families(tmp_path, {"boats": 400, "bread": 40, "stars": 10}) as corpus:
        order = spread_documents(corpus, 1, wanted=30)
        first = Counter(corpus[place].id.split("-")[0] for place in order[:30])
        assert set(first) == {"boats", "bread", "stars"}
        assert first["boats"] < 27  # 400 of 450 would be 27
        assert sorted(order) == list(range(450))
        assert max(order[:30]) > 100


def test_the_sample_is_spread_over_folders(tmp_path: Path) -> None:
    for folder, count in (("large", 60), ("small", 3)):
        (tmp_path / folder).mkdir()
        for n in range(count):
            (tmp_path / folder / f"{n}.txt").write_text("The same words in all of them.", "utf-8")
    with open_corpus(tmp_path) as corpus:
        order = spread_documents(corpus, 1, wanted=12)
        folders = Counter(corpus[place].id.split("/")[0] for place in order[:12])
    assert folders["small"] >= 2


def test_the_seed_decides_and_only_the_seed(tmp_path: Path) -> None:
    with families(tmp_path, {"boats": 40, "bread": 40, "stars": 40}) as corpus:
        orders = [spread_documents(corpus, seed, wanted=10) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


def test_only_documents_of_the_wanted_languages(tmp_path: Path) -> None:
    rows = [
        {"id": "en", "text": "The library is open on Mondays and it lends books to all members."},
        {"id": "es", "text": "La biblioteca abre los lunes y presta libros a todos los socios."},
        {"id": "said", "text": "Ok.", "language": "es-MX"},
    ]
    with open_corpus(lines(tmp_path / "a.jsonl", rows)) as corpus:
        order = spread_documents(corpus, 1, wanted=5, languages=["es"])
        assert {corpus[place].id for place in order} == {"es", "said"}


def test_a_file_that_cannot_be_read_is_left_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text(
        "# Ropes\n\nOpenVPN is a program that creates private networks.", "utf-8"
    )
    (tmp_path / "bad.txt").write_bytes(bytes(range(256)) * 4)
    (tmp_path / "broken.ipynb").write_text("{}", "utf-8")
    made = generate(tmp_path, 1)
    assert made.documents == 1
    assert [line.split()[0] for line in made.unreadable] == ["bad.txt", "broken.ipynb"]
    assert "2 files could not be read and left out: bad.txt is not UTF-8" in str(made)
    with pytest.raises(DataError, match=r"bad\.txt is not UTF-8"):
        generate(tmp_path / "bad.txt", 1)
