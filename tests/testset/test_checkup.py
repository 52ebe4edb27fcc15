"""A test set judged: each fault is found where it was planted, and nowhere else."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.cli.testset import command
from ragstone.data import corpora
from ragstone.data.documents import Document
from ragstone.testset.answerability import HINT_CHANCE, FoundAnswer, PassageFigures
from ragstone.testset.checkup import FAULTS, check_testset, fix_testset
from ragstone.testset.findings import Fault, Fix, apply_fixes
from ragstone.testset.likeness import find_alike, is_dangling, leaks_answer

DOCUMENTS = [
    Document("tower", "The tower of Almere is 40 metres high. Its bell was cast by Ida Brandt."),
    Document("bridge", "The bridge of Corran was opened in 1931. Its keeper is Tomas Reyes."),
    Document("ferry", "The ferry of Torvik leaves at 09:15 from the north pier."),
    Document("timetable", "At Torvik the ferry leaves at 09:15 from the north pier, daily."),
    Document("mill", "The mill of Dunmore grinds barley. Its owner is Sarah Whitlock."),
]


def row(
    id: str, question: str, reference: str, relevant: dict[str, Any] | None = None, **meta: Any
) -> dict[str, Any]:
    return {
        "id": id,
        "question": question,
        "reference": reference,
        "relevant": relevant,
        "meta": meta,
    }


GOOD = [
    row("g1", "How high is the tower of Almere?", "40 metres", {"tower": 1}, kind="factual"),
    row("g2", "Who keeps the bridge of Corran?", "Tomas Reyes", {"bridge": 1}, kind="factual"),
    row("g3", "What does the mill of Dunmore grind?", "barley", {"mill": 1}, kind="detail"),
    row(
        "g4",
        "Who painted the mill of Dunmore?",
        "It is not mentioned in the document.",
        kind="near_miss",
    ),
]

BAD = {
    "no_question": row("b", " ", "40 metres", {"tower": 1}),
    "no_reference": row("b", "Who built the tower of Almere?", "", {"tower": 1}),
    "duplicate": row("b", "How high is the tower of Almere?", "40 metres", {"tower": 1}),
    "near_duplicate": row(
        "b", "Please tell me: how high is the tower of Almere?", "40 metres", {"tower": 1}
    ),
    "wrong_document": row(
        "b", "Who is the keeper of the bridge of Corran?", "Tomas Reyes", {"mill": 1}
    ),
    "wrong_value": row(
        "b", "In which year was the bridge of Corran opened?", "1951", {"bridge": 1}
    ),
    "answerable": row(
        "b", "Who cast the bell of the tower of Almere?", "It is not mentioned in the document."
    ),
    "ambiguous": row("b", "How high is Almere's tower?", "44 metres high", {"tower": 1}),
    "leaked": row("b", "Was the bell cast by Ida Brandt?", "Ida Brandt", {"tower": 1}),
    "not_self_contained": row(
        "b", "Who cast the bell according to the passage?", "Ida Brandt", {"tower": 1}
    ),
    "unknown_document": row(
        "b", "Who cast the bell of the tower?", "Ida Brandt", {"tower": 1, "church": 1}
    ),
    "quote_not_verbatim": row(
        "b",
        "Who cast the bell of the tower?",
        "Ida Brandt",
        {"tower": 1},
        evidence=[{"document": "tower", "quote": "cast by Ada Brandt"}],
    ),
    "not_answerable": row(
        "b", "Who rings the bell of the tower?", "Mad Jack Sullivan", {"tower": 1}
    ),
    "answered_elsewhere": row(
        "b", "When does the ferry of Torvik leave from the north pier?", "at 09:15", {"ferry": 1}
    ),
}


def written(folder: Path, rows: list[dict[str, Any]]) -> tuple[Path, Path]:
    questions, documents = folder / "set.jsonl", folder / "documents.jsonl"
    questions.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    documents.write_text(
        "".join(
            json.dumps({"id": document.id, "text": document.text}) + "\n" for document in DOCUMENTS
        ),
        "utf-8",
    )
    return questions, documents


def test_a_good_set_has_no_fault(tmp_path: Path) -> None:
    checkup = check_testset(*written(tmp_path, GOOD))
    assert checkup.faults == ()
    assert (checkup.total, checkup.answerable) == (4, 3)
    assert checkup.kinds == {"factual": 2, "detail": 1, "near_miss": 1}


@pytest.mark.parametrize("kind", FAULTS)
def test_each_fault_is_found(kind: str, tmp_path: Path) -> None:
    checkup = check_testset(*written(tmp_path, [*GOOD, BAD[kind]]))
    assert [(fault.kind, fault.id) for fault in checkup.faults if fault.kind == kind] == [
        (kind, "b")
    ]
    assert {fault.id for fault in checkup.faults} == {"b"}


def test_the_hand_made_set_is_good() -> None:
    checkup = check_testset(corpora.questions(), corpora.documents())
    assert checkup.faults == ()
    assert checkup.coverage is not None
    assert checkup.coverage.asked == checkup.coverage.documents == 62
    assert checkup.trivial.constant == pytest.approx(24 / 228)


def test_coverage_and_trivial_systems(tmp_path: Path) -> None:
    checkup = check_testset(*written(tmp_path, GOOD[:2]))
    assert checkup.coverage is not None
    assert (checkup.coverage.documents, checkup.coverage.asked) == (5, 2)
    assert checkup.trivial.first == 1.0
    assert checkup.trivial.answer_in_first == 1.0
    assert checkup.trivial.constant == 0.5


def test_more_questions_show_smaller_differences(tmp_path: Path) -> None:
    few = check_testset(written(tmp_path, GOOD)[0])
    assert few.coverage is None
    assert few.shows > check_testset(corpora.questions()).shows
    assert [need.effect for need in few.needs] == [0.10, 0.05, 0.03]
    assert few.needs[0].questions < few.needs[1].questions < few.needs[2].questions


@pytest.mark.parametrize("language", ["en", "es"])
def test_terminal_markdown_and_json(language: str, tmp_path: Path) -> None:
    questions, documents = written(tmp_path, [*GOOD, BAD["leaked"]])
    arguments = ["check", str(questions), "--documents", str(documents), "--lang", language]
    shown = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert shown.return_value == 1
    assert "Was the bell cast by Ida Brandt?" in shown.output
    out = [str(tmp_path / "c.md"), str(tmp_path / "c.json")]
    CliRunner().invoke(command, [*arguments, "-o", out[0], "-o", out[1]], standalone_mode=False)
    assert "| factual |" in Path(out[0]).read_text("utf-8")
    plain = json.loads(Path(out[1]).read_text("utf-8"))
    assert plain["faulty"] == 1
    assert plain["faults"][0]["kind"] == "leaked"
    printed = CliRunner().invoke(command, [*arguments, "--json"], standalone_mode=False)
    assert json.loads(printed.output) == plain


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("According to the passage above, who was king?", "en"),
        ("¿Quién fundó dicha empresa?", "es"),
        ("What is said in the given text?", "en"),
        ("Según el texto, ¿quién reinaba?", "es"),
        ("¿Qué dice el fragmento anterior?", "es"),
    ],
)
def test_questions_about_an_unseen_text(question: str, language: str) -> None:
    assert is_dangling(question, language)


def test_plain_questions_do_not_dangle() -> None:
    for text in ("Which text did Cervantes write?", "¿Qué documento pide la biblioteca?"):
        assert not is_dangling(text, None)


def test_leaks_and_likeness() -> None:
    assert leaks_answer("Is Paris the capital?", "Paris")
    assert not leaks_answer("What is the capital of France?", "Paris")
    assert not leaks_answer("Which is the capital, Paris or Lyon?", "Paris")
    assert leaks_answer("Which is the capital, Paris or Lyon, is it Paris?", "Paris")
    assert not leaks_answer("Which is higher, the tower or the mill?", "mill")
    assert not leaks_answer("¿Quién ganó la final entre los Broncos y los Steelers?", "Broncos")
    questions = [
        "What does a day ticket cost at Fernhill?",
        "What, at Fernhill, do day tickets cost?",
        "What does a day ticket cost at Tidewell?",
        "",
    ]
    assert list(find_alike(questions)) == [(0, 1)]


def turn(id: str, about: str, question: str, answer: str, home: str) -> dict[str, Any]:
    history = [f"Can you tell me about {about}?", "Of course. What would you like to know?"]
    return row(id, question, answer, {home: 1}, kind="follow_up", history=history)


def test_second_turns_are_told_apart_by_their_first(tmp_path: Path) -> None:
    apart = [
        turn("t1", "the tower of Almere", "And who cast its bell?", "Ida Brandt", "tower"),
        turn("t2", "the bridge of Corran", "And who keeps it?", "Tomas Reyes", "bridge"),
        turn("t3", "the mill of Dunmore", "And who keeps it?", "Sarah Whitlock", "mill"),
        turn("t4", "the tower of Almere", "And how high is it?", "40 metres", "tower"),
    ]
    questions, documents = written(tmp_path, [*GOOD, *apart])
    assert check_testset(questions, documents).faults == ()
    twice = turn("t5", "the bridge of Corran", "And who keeps it?", "Tomas Reyes", "bridge")
    questions, documents = written(tmp_path, [*GOOD, *apart, twice])
    assert [(fault.kind, fault.id) for fault in check_testset(questions, documents).faults] == [
        ("duplicate", "t5")
    ]


def test_second_turns_are_no_duplicates_and_stand_by_their_history(tmp_path: Path) -> None:
    page = tmp_path / "cut.md"
    page.write_text(
        "# Cut\n\nThe first option prints columns. The second option prints sums.\n", "utf-8"
    )
    out = tmp_path / "set.jsonl"
    with out.open("w", encoding="utf-8") as file:
        for n, (option, told) in enumerate((("first", "columns"), ("second", "sums"))):
            meta = {
                "kind": "follow_up",
                "history": [f"Tell me about the {option} option.", "It prints."],
            }
            row = {
                "id": f"f{n}",
                "question": "And what does it print?",
                "reference": told,
                "relevant": {"cut.md": 1},
                "meta": meta,
            }
            file.write(json.dumps(row) + "\n")
    kinds = {fault.kind for fault in check_testset(out, page).faults}
    assert not kinds & {"duplicate", "not_self_contained"}


@pytest.mark.parametrize(
    ("kind", "mended"),
    [
        ("leaked", None),
        ("near_duplicate", None),
        ("wrong_value", {"reference": "1931"}),
        ("wrong_document", {"relevant": {"bridge": 1}}),
        ("answered_elsewhere", {"relevant": {"ferry": 1, "timetable": 1}}),
        ("not_answerable", {"reference": "It is not mentioned in the document.", "relevant": {}}),
        ("answerable", {"reference": "Its bell was cast by Ida Brandt.", "relevant": {"tower": 1}}),
    ],
)
def test_a_fix_mends_its_item_and_no_other(
    kind: str, mended: dict[str, Any] | None, tmp_path: Path
) -> None:
    questions, documents = written(tmp_path, [*GOOD, BAD[kind]])
    checkup = check_testset(questions, documents)
    out = tmp_path / "mended.jsonl"
    fix_testset(checkup, [fault for fault in checkup.faults if fault.kind == kind], out)
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert rows == [*GOOD, *([{**BAD[kind], **mended}] if mended else [])]
    assert kind not in {fault.kind for fault in check_testset(out, documents).faults}


def test_the_printed_command_asks_for_each_fix_and_writes_what_was_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions, documents = written(
        tmp_path, [*GOOD, BAD["leaked"], {**BAD["wrong_value"], "id": "v"}]
    )
    arguments = ["check", str(questions), "--documents", str(documents)]
    shown = CliRunner().invoke(
        command, [*arguments, "-o", str(tmp_path / "c.md")], standalone_mode=False
    )
    assert shown.return_value == 1
    (line,) = re.findall(r"ragstone testset (check .*)", Path(tmp_path / "c.md").read_text("utf-8"))
    printed = shlex.split(line.strip("`"))
    refused = CliRunner().invoke(command, printed, standalone_mode=False)
    assert "--accept" in str(refused.exception)
    monkeypatch.setattr("ragstone.cli.testset.is_asking", lambda: True)
    asked = CliRunner().invoke(command, printed, input="n\ny\n", standalone_mode=False)
    assert asked.return_value == 1, asked.output
    fixed = [json.loads(line) for line in Path(printed[-1]).read_text("utf-8").splitlines()]
    assert [row["id"] for row in fixed] == ["g1", "g2", "g3", "g4", "b", "v"]
    assert fixed[-1]["reference"] == "1931"


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "this passage may answer it"), ("es", "puede que este pasaje la dé")],
)
def test_a_hint_is_shown_and_counts_as_no_finding(
    language: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = PassageFigures(0, 0, 0, 0, 0, 0, "mill")
    found = FoundAnswer(HINT_CHANCE, "mill", "The mill of Dunmore grinds barley.", figures)
    monkeypatch.setattr("ragstone.testset.audit.find_answers", lambda *_: [found])
    # more than a report shows of one sort
    rows = [
        *GOOD[:3],
        *({**GOOD[3], "id": f"h{n}", "question": f"Who painted mill {n}?"} for n in range(9)),
    ]
    questions, documents = written(tmp_path, rows)
    checkup = check_testset(questions, documents)
    assert (len(checkup.hints), checkup.faulty) == (9, 0)
    arguments = ["check", str(questions), "--documents", str(documents), "--lang", language]
    shown = CliRunner().invoke(
        command, [*arguments, "-o", str(tmp_path / "c.md")], standalone_mode=False
    )
    assert shown.return_value == 0
    text = (tmp_path / "c.md").read_text("utf-8")
    assert f"9 × {said}" in text.replace("se dice que no tiene respuesta; ", "").replace(
        "said to have no answer; ", ""
    )
    assert "Who painted mill 0?" in text
    assert "Who painted mill 8?" not in text
    printed = CliRunner().invoke(command, [*arguments, "--json"], standalone_mode=False)
    assert len(json.loads(printed.output)["hints"]) == 9


def test_an_endless_question_is_shown_in_part_and_whole_in_json(tmp_path: Path) -> None:
    question = "Was the bell of the passage above cast? " * 1000
    questions, _ = written(tmp_path, [row("b", question, "Ida Brandt " * 5000, {"tower": 1})])
    shown = CliRunner().invoke(command, ["check", str(questions)], standalone_mode=False)
    assert "Was the bell of the passage above" in shown.output
    assert len(shown.output) < 4000
    printed = CliRunner().invoke(
        command, ["check", str(questions), "--json"], standalone_mode=False
    )
    assert json.loads(printed.output)["faults"][0]["text"] == question


@pytest.mark.parametrize("accept", ["all", "wrong_value,leaked"])
def test_accepted_kinds_are_fixed_without_asking(accept: str, tmp_path: Path) -> None:
    questions, documents = written(tmp_path, [*GOOD, BAD["leaked"]])
    out = tmp_path / "fixed.jsonl"
    arguments = ["check", str(questions), "--documents", str(documents), "--fix", str(out)]
    done = CliRunner().invoke(command, [*arguments, "--accept", accept], standalone_mode=False)
    assert done.return_value == 0
    assert len(out.read_text("utf-8").splitlines()) == 4
    assert "no kind of finding 'lost'" in str(
        CliRunner()
        .invoke(command, [*arguments, "--accept", "lost"], standalone_mode=False)
        .exception
    )
    same = CliRunner().invoke(command, [*arguments[:-1], str(questions)], standalone_mode=False)
    assert "is the set itself" in str(same.exception)


def test_a_fix_is_written_to_the_column_of_its_field() -> None:
    row = {"key": "a", "q": "What?", "gold": "Old."}
    fault = Fault("wrong_value", "a", "What?", "", Fix("set", {"reference": "New."}))
    assert apply_fixes([("a", row)], [fault], {"reference": "gold"}) == [{**row, "gold": "New."}]


def test_an_item_that_got_its_answer_is_no_longer_of_a_kind_without_one() -> None:
    row = {"question": "What?", "meta": {"kind": "near_miss", "difficulty": "easy"}}
    values = {"reference": "New.", "relevant": {"d": 1}}
    fault = Fault("answerable", "a", "What?", "", Fix("set", values))
    (mended,) = apply_fixes([("a", row)], [fault])
    assert mended["meta"] == {"difficulty": "easy"}


REWORDED = [
    (
        "How do I get rid of mould on a tent?",
        "How can I remove mould from my tent?",
        "Wipe it off with vinegar and dry the cloth in the sun.",
    ),
    (
        "What is the fine for late books?",
        "How high is the fine for late books?",
        "20 cents a day and book.",
    ),
    (
        "¿Cómo renuevo un préstamo?",
        "¿Cómo puedo renovar un préstamo?",
        "En el mostrador o por teléfono, antes de la fecha.",
    ),
]


def write_rows(path: Path, rows: list[tuple[str, str, str]]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for question, reference, document in rows:
            row = {"question": question, "reference": reference, "relevant": {document: 1}}
            file.write(json.dumps(row) + "\n")
    return path


@pytest.mark.parametrize(("first", "second", "answer"), REWORDED)
def test_a_question_in_other_words_is_a_near_duplicate(
    first: str, second: str, answer: str, tmp_path: Path
) -> None:
    set_file = write_rows(tmp_path / "s.jsonl", [(first, answer, "d"), (second, answer, "d")])
    assert [fault.kind for fault in check_testset(set_file).faults] == ["near_duplicate"]
    apart = write_rows(tmp_path / "t.jsonl", [(first, answer, "d"), (second, answer, "e")])
    assert check_testset(apart).faults == ()


def test_alike_questions_about_two_things_are_no_duplicates(tmp_path: Path) -> None:
    rows = [
        ("Is a ticket for Line 4 valid on Sundays?", "Yes.", "d"),
        ("Is a ticket for Line 5 valid on Sundays?", "Yes.", "d"),
    ]
    assert check_testset(write_rows(tmp_path / "s.jsonl", rows)).faults == ()


@pytest.mark.parametrize(
    ("reference", "is_fault"),
    [("five days", False), ("Up to five days.", False), ("six days", True), ("five weeks", True)],
)
def test_a_number_holds_whatever_stands_between_it_and_its_noun(
    reference: str, is_fault: bool, tmp_path: Path
) -> None:
    documents = [
        {
            "id": "d",
            "text": "Staff may carry over up to five unused days into the next year of leave.",
        }
    ]
    question = "How many unused days of leave may staff carry over into the next year?"
    set_file = write_rows(tmp_path / "s.jsonl", [(question, reference, "d")])
    kinds = {fault.kind for fault in check_testset(set_file, documents).faults}
    assert ("wrong_value" in kinds) == is_fault
