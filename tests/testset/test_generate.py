"""From documents to a test set of the questions that they ask: account, duplicates, contradictions, files,
formats."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone import read
from ragstone.data.documents import Document
from ragstone.errors import DataError, RagstoneError
from ragstone.testset.formats import FORMATS
from ragstone.testset.items import Item
from ragstone.testset.sets import (
    agenerate,
    generate,
    load_unfinished,
    name_rejected_file,
    part_file,
)

PAGE = (
    "# {town} baths\n\n## How deep is the pool of {town}?\n\nIt is {n} metres deep.\n\n## Who "
    "teaches swimming in {town}?\n\nIda Brandt{n} does, on Mondays.\n\n## Where do I park in "
    "{town}?\n\n[Map](m)\n"
)
TOWNS = ("Almere", "Corran", "Dunmore", "Skarholm", "Torvik", "Westmarch")
PAGES = [
    Document(f"d{n}", PAGE.format(town=town, n=n + 2), f"{town} baths")
    for n, town in enumerate(TOWNS)
]


def test_the_account_says_what_was_asked_made_and_refused(tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"
    made = generate(PAGES, out=out)
    assert (made.asked, len(made), made.out, made.reasons) == (100, 12, out, {"no_answer": 6})
    assert made.kinds == {"factual": 12}
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [Item.from_row(row) for row in rows] == list(made.items)
    for item in made.items:
        (piece,) = item.evidence
        document = next(page for page in PAGES if page.id == piece.document)
        assert document.text[piece.start : piece.end] == piece.quote == item.reference
        assert f"## {item.question}" in document.text, "asked as it stands"
        assert item.how == "document:heading"
    kept = [json.loads(line) for line in name_rejected_file(out).read_text("utf-8").splitlines()]
    assert {row["item"]["question"] for row in kept} == {
        f"Where do I park in {town}?" for town in TOWNS
    }
    assert not part_file(out).exists()
    assert "6 documents ask 18 questions" in str(made)


def test_few_items_are_spread_over_all_documents() -> None:
    made = generate(PAGES, 6)
    assert {next(iter(item.relevant)) for item in made.items} == {page.id for page in PAGES}


def test_nothing_found_leaves_no_file_and_says_what_would_give_questions(tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"
    made = generate([Document("a", "The bell of the tower is rung at noon.")], out=out)
    assert (len(made), made.out, out.exists()) == (0, None, False)
    for source in ("--judge", "--from-log", "--from-monitor", "by hand"):
        assert source in str(made)


def pair(
    first: str,
    second: str,
    question: str = "How long can I return a tent?",
    titles: tuple[str, str] = ("Elm Street shop", "Harbour shop"),
) -> Any:
    return generate(
        [
            Document(f"d{n}", f"## {question}\n\n{text}\n", title)
            for n, (text, title) in enumerate(zip((first, second), titles, strict=True))
        ]
    )


def test_what_two_documents_answer_alike_is_one_item_with_both() -> None:
    (item,) = pair("Within 30 days of delivery.", "Within 30 days of the delivery.").items
    assert dict(item.relevant) == {"d0": 1.0, "d1": 1.0}
    assert {piece.document for piece in item.evidence} == {"d0", "d1"}
    assert item.question == "How long can I return a tent?"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Within 30 days of delivery.", "Within 14 days of delivery."),
        ("Yes.", "No, not at all."),
        ("Yes, with the receipt.", "No, tents cannot be returned."),
    ],
)
def test_answers_that_contradict_each_other_are_reported(first: str, second: str) -> None:
    made = pair(first, second)
    assert (len(made), made.reasons) == (0, {"contradictory": 2})
    assert "contradiction: d0 says" in str(made)
    assert first in str(made)
    assert second in str(made)


def test_what_means_two_things_names_the_page() -> None:
    made = pair("Take bus 9 to the elm.", "By ferry from pier 4.", "How do I get to the shop?")
    assert {item.question for item in made.items} == {
        "How do I get to the shop? (Elm Street shop)",
        "How do I get to the shop? (Harbour shop)",
    }
    same = pair(
        "Take bus 9 to the elm.",
        "By ferry from pier 4.",
        "How do I get to the shop?",
        ("Shop", "Shop"),
    )
    assert same.reasons == {"ambiguous": 2}


class LangChainDocument:
    """Has what a document of LangChain has."""

    def __init__(self, page_content: str, metadata: dict[str, Any]) -> None:
        self.page_content, self.metadata = page_content, metadata


def test_documents_in_memory_give_what_a_folder_gives(tmp_path: Path) -> None:
    pages = {
        "a.md": "---\ntitle: Baths\n---\n# FAQ\n\n## Who swims at night?\n\nOtters do.\n",
        "b.md": "# Mill\n\n**What does the mill grind?** Spelt and rye.\n",
    }
    html = (
        "<!DOCTYPE html><html><head><title>Abbey</title></head><body><details><summary>Who brews the "
        "ale?</summary>Monks.</details></body></html>"
    )
    for name, text in {**pages, "c.html": html}.items():
        (tmp_path / name).write_text(text, "utf-8")
    wanted = {(item.question, item.reference) for item in generate(tmp_path).items}
    assert len(wanted) == 3
    texts = [*pages.values(), html]
    shapes: list[Any] = [
        texts,
        [{"id": f"x{n}", "content": text} for n, text in enumerate(texts)],
        [LangChainDocument(text, {"source": f"x{n}"}) for n, text in enumerate(texts)],
        [
            SimpleNamespace(
                node=SimpleNamespace(
                    text=text, metadata={}, ref_doc_id=f"x{n}", get_content=lambda text=text: text
                ),
                score=1.0,
            )
            for n, text in enumerate(texts)
        ],
    ]
    for shape in shapes:
        assert {(item.question, item.reference) for item in generate(shape).items} == wanted
    assert len(generate(pages["b.md"])) == 1


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path: Path) -> None:
    files = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        generate(PAGES, 3, seed=seed, out=tmp_path / f"{name}.jsonl")
        files.append((tmp_path / f"{name}.jsonl").read_bytes())
    assert files[0] == files[1] != files[2]


def test_only_documents_in_the_languages_asked_for() -> None:
    pages = [
        *PAGES,
        Document(
            "es",
            "# Baños\n\n## ¿Quién enseña a nadar en los baños de Corran?\n\nIda Brandt, los lunes por la tarde.\n",
            language="es",
        ),
    ]
    assert [item.language for item in generate(pages, languages=["es"]).items] == ["es"]
    assert len(generate(pages, languages=["en"])) == 12


def test_it_works_inside_a_running_loop_and_awaited() -> None:
    async def both() -> tuple[int, int]:
        return len(generate(PAGES, 4)), len(await agenerate(PAGES, 4))

    assert asyncio.run(both()) == (4, 4)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_read_back(format: str, tmp_path: Path) -> None:
    name = {"beir": "set", "questions": "set.json", "query": "set.csv"}.get(format, "set.jsonl")
    made = generate(PAGES, 9, out=tmp_path / name, format=format)
    samples = {record.sample.id: record.sample for record in read(str(tmp_path / name))}
    assert set(samples) == {item.id for item in made.items}
    for item in made.items:
        sample = samples[item.id]
        assert sample.question == item.question
        if format in ("ragstone", "ragas", "query", "beir"):
            assert dict(sample.relevant or {}) == dict(item.relevant)
        if format not in ("beir", "questions"):
            assert sample.reference == item.reference


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n": 0}, "0 items cannot be made"),
        ({"out": "x.txt"}, "cannot write 'x.txt'"),
        ({"out": "nowhere/x.jsonl"}, "there is no folder 'nowhere'"),
        ({"out": "x.jsonl", "format": "rags"}, "did you mean 'ragas'"),
        ({"out": "x.jsonl", "format": "beir"}, "beir is a folder"),
        ({"kinds": "factual=1"}, "--kinds needs a judge"),
        ({"styles": ["a parent"]}, "--style needs a judge"),
    ],
)
def test_a_mistake_is_one_sentence(options: dict, says: str, tmp_path: Path) -> None:
    with pytest.raises(RagstoneError, match=says):
        generate(PAGES, **options)


def test_nothing_to_make_questions_of_is_one_sentence() -> None:
    with pytest.raises(RagstoneError, match="name documents, or a log"):
        generate()


def test_a_review_is_not_written_over(tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"
    (tmp_path / "set.decisions.jsonl").write_text('{"id": "x", "verdict": "accept"}\n')
    with pytest.raises(DataError, match="holds a review"):
        generate(PAGES, 5, out=out)


def test_another_plan_is_not_gone_on_with(tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"
    part_file(out).write_text(json.dumps({"plan": {"seed": 2}}) + "\n")
    with pytest.raises(DataError, match="begun with another documents"):
        generate(PAGES, 5, out=out, resume=True)
    part_file(out).write_text("{broken")
    assert load_unfinished(out) is None
    assert len(generate(PAGES, 5, out=out, resume=True)) == 5


@pytest.mark.slow
def test_memory_does_not_grow_with_the_documents(tmp_path: Path) -> None:
    def measure_peak(count: int) -> int:
        path = tmp_path / f"{count}.jsonl"
        with path.open("w") as file:
            for n in range(count):
                town = f"{TOWNS[n % 6]}{n % 600}"
                file.write(
                    json.dumps({"id": f"d{n}", "text": PAGE.format(town=town, n=n % 600)}) + "\n"
                )
        tracemalloc.start()
        assert len(generate(path, 50)) == 50
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    fewer, more = measure_peak(2_000), measure_peak(8_000)
    assert more < 2 * fewer
