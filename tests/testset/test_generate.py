"""From documents to a test set: account, files, resuming, formats. The maker is a tiny one; the rest is the real thing."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ragstone import read
from ragstone.data.documents import Document
from ragstone.errors import DataError, RagstoneError
from ragstone.testset import sets
from ragstone.testset.formats import FORMATS
from ragstone.testset.items import Item, get_abstention
from ragstone.testset.journal import Journal
from ragstone.testset.sets import agenerate, generate, name_rejected_file, part_file
from tinyset import tiny_parts
from waiting import wait_until

DOCUMENTS = [
    Document(
        f"d{n}",
        f"The tower of town{n} is {n + 20} metres high. Its bell weighs {n} tonnes. "
        f"Alas nobody of town{n} rings it. A baker named Person{n} lives below.",
        language="en",
    )
    for n in range(12)
]
MIX = "factual=2,detail=1,near_miss=1"


@pytest.fixture(autouse=True)
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "build_parts", tiny_parts)


def test_the_account_says_what_was_asked_made_and_refused(tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"
    made = generate(DOCUMENTS, 20, kinds=MIX, seed=3, out=out)
    assert (made.asked, len(made), made.out) == (20, 20, out)
    assert made.kinds == {"factual": 10, "detail": 5, "near_miss": 5}
    assert made.reasons == {"ambiguous": len(made.rejected)}
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [Item.from_row(row) for row in rows] == list(made.items)
    kept = [json.loads(line) for line in name_rejected_file(out).read_text("utf-8").splitlines()]
    assert [row["reason"] for row in kept] == ["ambiguous"] * len(made.rejected)
    assert made.rejected_in == tmp_path / "set.rejected.jsonl"
    assert not part_file(out).exists()
    assert f"asked 20, made 20, rejected {len(made.rejected)}" in str(made)


def test_items_are_spread_over_all_documents() -> None:
    made = generate(DOCUMENTS, 12, kinds="factual")
    assert {next(iter(item.relevant)) for item in made.items} == {
        document.id for document in DOCUMENTS
    }


def test_a_kind_that_cannot_be_made_is_said_and_its_place_filled() -> None:
    made = generate(DOCUMENTS, 12, kinds="factual=1,how_to=1")
    assert made.kinds == {"factual": 12}
    assert set(made.given_up) == {"how_to"}
    assert "these documents yield no how_to; other kinds took the place" in str(made)


def test_what_is_given_up_last_is_filled_too() -> None:
    """The rest of a scarce kind is handed on when all documents were tried, and then still made."""
    made = generate(DOCUMENTS, 13, kinds="factual=12,how_to=1")
    assert made.kinds == {"factual": 13}


def test_when_the_documents_yield_no_more_it_ends_and_says_so() -> None:
    made = generate(DOCUMENTS[:1], 50, kinds="factual")
    assert 0 < len(made) < 50
    assert f"{len(made)} items of the 50 wanted could be made" in str(made)


def test_nothing_made_leaves_no_empty_file(tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"
    made = generate(
        [Document("a", "Alas nobody ever rings this bell.")], 5, kinds="factual", out=out
    )
    assert (len(made), made.out) == (0, None)
    assert not out.exists()
    assert name_rejected_file(out).exists()


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    files = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        generate(DOCUMENTS, 15, kinds=MIX, seed=seed, out=tmp_path / f"{name}.jsonl")
        files.append((tmp_path / f"{name}.jsonl").read_bytes())
    assert files[0] == files[1] != files[2]


def test_cut_off_anywhere_it_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """Every length of the unfinished file, in steps, whole lines and broken ones."""
    whole = tmp_path / "whole.jsonl"
    kept: list[bytes] = []
    close = Journal.close

    def keeping(self: Journal) -> None:
        close(self)
        kept.append(part_file(whole).read_bytes())

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Journal, "close", keeping)
        generate(DOCUMENTS, 20, kinds=MIX, seed=5, out=whole)
    wanted = whole.read_bytes(), name_rejected_file(whole).read_bytes()
    for size in range(0, len(kept[0]), 997):
        out = tmp_path / f"{size}.jsonl"
        part_file(out).write_bytes(kept[0][:size])
        generate(DOCUMENTS, 20, kinds=MIX, seed=5, out=out, resume=True)
        assert (out.read_bytes(), name_rejected_file(out).read_bytes()) == wanted, size


def test_another_plan_is_not_gone_on_with(tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"
    Journal.open(part_file(out), {"seed": 1, "documents": "x"}, resume=False).close()
    with pytest.raises(DataError, match="begun with another documents"):
        generate(DOCUMENTS, 5, kinds=MIX, seed=1, out=out, resume=True)


KILLED = """
import sys, time
sys.path[:0] = [{tests!r}]
import test_generate_documents as here
from ragstone.testset import sets, generation
from tinyset import tiny_parts
sets.build_parts = tiny_parts
slow = generation.Generation._collect_share
def offered(self, *given):
    time.sleep(0.05)
    return slow(self, *given)
generation.Generation._collect_share = offered
sets.generate(here.DOCUMENTS, 20, kinds={mix!r}, seed=5, out={out!r})
"""


def test_killed_it_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    generate(DOCUMENTS, 20, kinds=MIX, seed=5, out=whole)
    rows = [{"id": document.id, "text": document.text, "language": "en"} for document in DOCUMENTS]
    (tmp_path / "test_generate_documents.py").write_text(
        "from ragstone.data.documents import Document\n"
        f"DOCUMENTS = [Document(r['id'], r['text'], language=r['language']) for r in {rows!r}]\n"
    )
    code = KILLED.format(tests=str(Path(__file__).parents[1]), mix=MIX, out=str(out))
    child = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    part = part_file(out)
    wait_until(
        lambda: child.poll() is not None or (part.exists() and part.read_bytes().count(b"\n") >= 5),
        "five lines are written",
    )
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert part_file(out).exists(), "it was done before it was killed"
    assert not out.exists()
    generate(DOCUMENTS, 20, kinds=MIX, seed=5, out=out, resume=True)
    assert out.read_bytes() == whole.read_bytes()
    assert name_rejected_file(out).read_bytes() == name_rejected_file(whole).read_bytes()


def test_it_works_inside_a_running_loop_and_awaited() -> None:
    async def both() -> tuple[int, int]:
        return len(generate(DOCUMENTS, 4, kinds="factual")), len(
            await agenerate(DOCUMENTS, 4, kinds="factual")
        )

    assert asyncio.run(both()) == (4, 4)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_read_back(format: str, tmp_path: Path) -> None:
    name = {"beir": "set", "questions": "set.json", "query": "set.csv"}.get(format, "set.jsonl")
    made = generate(DOCUMENTS, 9, kinds=MIX, out=tmp_path / name, format=format)
    samples = [record.sample for record in read(str(tmp_path / name))]
    if format == "beir":  # a query without judgements is no sample of a BEIR folder
        wanted = {item.id: item for item in made.items if item.answerable}
    else:
        wanted = {item.id: item for item in made.items}
    assert {sample.id for sample in samples} == set(wanted)
    for sample in samples:
        item = wanted[sample.id]
        assert sample.question == item.question
        if format in ("ragstone", "ragas", "query", "beir"):
            assert dict(sample.relevant or {}) == dict(item.relevant)
        answer = item.reference if item.reference is not None else get_abstention("en")
        if format == "questions":
            assert sample.answer == answer
        elif format != "beir":
            assert sample.reference == answer


def test_impossible_questions_are_called_so_in_the_list_of_questions(tmp_path: Path) -> None:
    out = tmp_path / "q.json"
    generate(DOCUMENTS, 9, kinds=MIX, out=out, format="questions")
    rows = json.loads(out.read_text("utf-8"))
    assert set(rows[0]) == {"question_id", "doc_id", "question", "type", "answer"}
    impossible = [row for row in rows if row["type"] == "impossible"]
    assert impossible
    assert {row["answer"] for row in impossible} == {get_abstention("en")}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n": 0}, "0 items cannot be made"),
        ({"out": "x.txt"}, "cannot write 'x.txt'"),
        ({"out": "nowhere/x.jsonl"}, "there is no folder 'nowhere'"),
        ({"out": "x.jsonl", "format": "rags"}, "did you mean 'ragas'"),
        ({"out": "x.jsonl", "format": "beir"}, "beir is a folder"),
        ({"kinds": "factuel"}, "did you mean 'factual'"),
        ({"kinds": "negation=1"}, "only a judge can write 'negation' questions"),
    ],
)
def test_a_mistake_is_one_sentence(options: dict, says: str, tmp_path: Path) -> None:
    with pytest.raises(RagstoneError, match=says):
        generate(DOCUMENTS, **options)


def test_a_review_is_not_written_over(tmp_path: Path) -> None:
    out = tmp_path / "set.jsonl"
    (tmp_path / "set.decisions.jsonl").write_text('{"id": "x", "verdict": "accept"}\n')
    with pytest.raises(DataError, match="holds a review"):
        generate(DOCUMENTS, 5, kinds=MIX, out=out)


def test_documents_in_other_languages_are_counted() -> None:
    documents = [Document("a", "The door of the house is open all day.", "House", "en")]
    made = generate(documents, 1, languages=["es"])
    assert "1 document in other languages than --lang asks for left out" in str(made)
    assert "other languages" not in str(generate(documents, 1, languages=["en"]))


def test_rules_write_where_the_judge_is_a_small_model() -> None:
    class Small:
        name, small, local, concurrency, batch = "small", True, True, 1, 1

        def identity(self, ask: object) -> dict[str, str]:
            return {"judge": "small"}

        async def answer(self, asks: list[object]) -> list[object]:
            raise AssertionError("nothing is asked of it")

        async def close(self) -> None:
            """Nothing is open."""

    text = "# Rules of the Marlow Library\n\n## Late returns\n\nBooks that come back late cost 20 cents a day at the desk.\n"
    documents = [Document("a", text, "Rules of the Marlow Library", "en")]
    made = generate(documents, 1, judge=Small())
    assert [item.how for item in made.items] == ["tiny"]
    assert "small counts as a small model" in str(made)
