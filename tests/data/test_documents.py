"""A folder of texts becomes documents with stable ids; what cannot be read is said in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragstone.data.documents import read_documents
from ragstone.errors import DataError


def test_a_folder_is_read_in_order_of_its_paths(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "returns.md").write_text("# Returns\n\nWithin 30 days.", encoding="utf-8")
    (tmp_path / "about.txt").write_text("\ufeffA shop.", encoding="utf-8")
    (tmp_path / ".hidden.txt").write_text("secret", encoding="utf-8")
    (tmp_path / "questions.jsonl").write_text('{"question": "?"}', encoding="utf-8")
    (tmp_path / "logo.png").write_bytes(b"\x89PNG")
    documents = read_documents(tmp_path)
    assert [(one.id, one.title) for one in documents] == [
        ("about.txt", "about"),
        ("shop/returns.md", "Returns"),
    ]
    assert documents[0].text == "A shop."


def test_a_page_gives_its_text_and_headings_only(tmp_path: Path) -> None:
    page = (
        "<html><head><title>The  shop</title><style>p{}</style><body><nav>Menu</nav>"
        "<h2>Returns &amp; more</h2><p>Within\n 30 days.<script>alert(1)</script>"
        "<table><tr><td>a</td><td>b</td></tr></table>"
    )
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    (document,) = read_documents(tmp_path)
    assert document.title == "The shop"
    assert document.text == "## Returns & more\n\nWithin 30 days.\n\n| a | b |"


def test_jsonl_names_its_own_ids(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(
        '{"_id": 7, "text": "a", "title": "A"}\n\n{"id": "b", "text": "b", "language": "es"}\n',
        encoding="utf-8",
    )
    assert [
        (document.id, document.title, document.language) for document in read_documents(path)
    ] == [
        ("7", "A", None),
        ("b", "", "es"),
    ]


def test_pdf_is_read_with_its_extra(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    writer.write(tmp_path / "scan.pdf")
    with pytest.raises(DataError, match=r"scan\.pdf holds no text"):
        read_documents(tmp_path)
    (tmp_path / "scan.pdf").write_bytes(b"%PDF-1.4 rubbish")
    with pytest.raises(DataError, match=r"scan\.pdf cannot be read as pdf"):
        read_documents(tmp_path)
    assert not caplog.records  # our sentence says it


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.txt", b"\xff\xfe\x00", "a.txt is not UTF-8"),
        ("a.txt", b"  \n", "a.txt holds no text"),
        ("a.jsonl", b"{", "a.jsonl:1: not JSON"),
        ("a.jsonl", b'{"text": "x"}', "the id is None"),
        ("a.jsonl", b'{"id": "x", "text": " "}', "the text of 'x' is missing"),
        ("a.jsonl", b'{"id": "x", "text": "a"}\n{"id": "x", "text": "b"}', "'x' stands in"),
        ("a.rtf", b"", "is none of"),
        ("a.docx", b"no", "cannot be read as docx"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=says):
        read_documents(tmp_path / name)


def test_an_empty_or_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no document"):
        read_documents(tmp_path)
    with pytest.raises(DataError, match="no folder or file"):
        read_documents(tmp_path / "nowhere")


def test_a_page_keeps_its_lists_tables_and_code(tmp_path: Path) -> None:
    page = (
        "<div class='navheader'><div>Next</div></div><p>Run <code>apt</code>:</p><pre>apt update\napt upgrade</pre>"
        "<ul><li><p>one</p></li><li>two</li></ul><dl><dt>-a</dt><dd><p>Shows all.</p></dd></dl>"
        "<table><tr><th>Key</th><th>Size</th></tr><tr><td>a</td><td><p>3 MB</p></td></tr></table>"
    )
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    (document,) = read_documents(tmp_path)
    assert document.text == (
        "Run `apt`:\n\n```\napt update\napt upgrade\n```\n\n- one\n\n- two\n\n-a\n: Shows all.\n\n"
        "| Key | Size |\n| --- | --- |\n| a | 3 MB |"
    )


def test_the_items_of_an_ordered_list_keep_their_numbers(tmp_path: Path) -> None:
    page = "<ol><li><p>Open it.</p></li><li>Close it.<ul><li>Gently.</li></ul></li><li>Go.</li></ol><ul><li>x</li></ul>"
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    (document,) = read_documents(tmp_path)
    assert [line for line in document.text.splitlines() if line] == [
        "1. Open it.", "2. Close it.", "- Gently.", "3. Go.", "- x",
    ]  # fmt: skip


def test_an_item_that_is_nothing_but_a_link_is_written_as_one(tmp_path: Path) -> None:
    page = (
        "<ul><li><a href='a.html'>All bugs</a></li><li><p><a href='b'>In <b>progress</b></a></p></li>"
        "<li>See <a href='c'>c</a></li><li><a href='d'>D</a>: text</li><li><a href='e'>E</a><a href='f'>F</a></li></ul>"
        "<footer><p>Head office: 4 Piece Yard</p></footer>"
    )
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    (document,) = read_documents(tmp_path)
    assert [line for line in document.text.splitlines() if line] == [
        "- [All bugs](a.html)", "- [In progress](b)", "- See c", "- D: text", "- EF",
    ]  # fmt: skip


def test_the_title_of_a_file_of_two_pages_is_that_of_the_first(tmp_path: Path) -> None:
    pages = "<title>Import</title><p>One.</p><html><title>Export</title><p>Two.</p>"
    (tmp_path / "a.html").write_text(pages, encoding="utf-8")
    (document,) = read_documents(tmp_path)
    assert (document.title, document.text) == ("Import", "One.\n\nTwo.")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("BRINDLE SCHOOL\nRULES OF THE HOUSE\n\n1. BREAKS\n\nText.", "BRINDLE SCHOOL – RULES OF THE HOUSE"),
        ("Rules of the house\n\nText.", "Rules of the house"),
        ("The house is open all day.\n\nText.", "a"),
        ("A line that is long enough to be the first one of a paragraph which goes on and on\nText.", "a"),
        ("One two three four five six seven\nOne two three four five six seven\nEight nine\n\nText.", "One two three four five six seven – One two three four five six seven"),
        ("12\n\nText.", "a"),
    ],
)  # fmt: skip
def test_the_short_lines_at_the_top_of_a_plain_text_are_its_title(tmp_path: Path, text: str, title: str) -> None:  # fmt: skip
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    assert read_documents(tmp_path)[0].title == title


def test_letters_of_two_characters_are_read_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Configuracio\u0301n", encoding="utf-8")
    assert read_documents(tmp_path)[0].text == "Configuración"


def test_old_encodings_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("El envío cuesta 5 €".encode("cp1252"))
    (tmp_path / "b.txt").write_bytes("El envío".encode("utf-16"))
    page = '<html><head><meta charset="iso-8859-15"></head><body>El envío: 5 €</body></html>'
    (tmp_path / "c.html").write_bytes(page.encode("iso-8859-15"))
    texts = [document.text for document in read_documents(tmp_path)]
    assert texts == ["El envío cuesta 5 €", "El envío", "El envío: 5 €"]


def test_front_matter_gives_the_title_and_is_left_out(tmp_path: Path) -> None:
    matter = "---\ntitle: 'Returns'\ntags:\n  - shop\n---\nWithin 30 days.\n"
    (tmp_path / "a.md").write_text(matter, encoding="utf-8")
    (tmp_path / "b.md").write_text(
        "---\nA rule of dashes is no front matter.\n---\n", encoding="utf-8"
    )
    first, second = read_documents(tmp_path)
    assert (first.title, first.text) == ("Returns", "Within 30 days.")
    assert second.text.startswith("---\nA rule")


def test_a_notebook_is_its_text_and_code(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Rates\n", "Rates are daily."]},
        {"cell_type": "code", "source": "load()", "outputs": [{"text": "secret"}]},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    (document,) = read_documents(tmp_path)
    assert document.text == "# Rates\nRates are daily.\n\n```\nload()\n```"
    assert document.title == "Rates"


def test_text_before_a_table_inside_a_table_is_kept(tmp_path: Path) -> None:
    page = "<table><tr><td><p>Before.</p><table><tr><td>a</td><td>b</td></tr></table><p>After.</p></td></tr></table>"
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    (document,) = read_documents(tmp_path)
    assert [line for line in document.text.splitlines() if line] == ["Before.", "| a | b |", "After."]  # fmt: skip
