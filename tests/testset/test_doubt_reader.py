"""A judge reads what may answer an item that is said to have no answer: what it confirms, denies and cannot say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ragstone.asks import Ask
from ragstone.cli.testset import command
from ragstone.engine.sync import run_sync
from ragstone.errors import JudgeFailed, OutOfBudget, RagstoneError
from ragstone.store import Store
from ragstone.testset.answerability import LARGE_CHANCE, SURE_CHANCE, FoundAnswer, PassageFigures
from ragstone.testset.audit import SuspectedUnanswerable
from ragstone.testset.checkup import check_testset
from ragstone.testset.doubt_reader import ReadingAccount, ReadingJudge, read_doubts
from ragstone.testset.findings import Fault, Fix, Hint
from ragstone.types import Sample
from scripted import ScriptedJudge

TEXT = "The bridge\nThe bridge of Corran was opened in 1931. Its keeper is Tomas Reyes."
HALF = 0.6
"""A chance that figures alone make a hint of."""
FIGURES = PassageFigures(0.7, 0.7, 0.5, 0.5, 0.8, 0.2, "bridge", TEXT)


def doubt(*chances: float, id: str = "x") -> SuspectedUnanswerable:
    """An item with one passage for each chance."""
    answers = [
        FoundAnswer(
            chance,
            f"bridge{n or ''}",
            "Its keeper is Tomas Reyes.",
            FIGURES._replace(text=f"{TEXT} {n or ''}".strip()),
        )
        for n, chance in enumerate(chances)
    ]
    return SuspectedUnanswerable(
        Sample(id, question=f"Who keeps the bridge of Corran, {id}?"), answers
    )


def read(
    reply: Callable[[Ask], Any],
    *doubts: SuspectedUnanswerable,
    small: bool = False,
    store: Path | None = None,
) -> tuple[list[Fault | Hint], ReadingAccount, ScriptedJudge]:
    judge = ScriptedJudge(reply, concurrency=1)
    judge.small = small  # type: ignore[attr-defined]
    kept = Store.open(str(store) if store else ":memory:")
    found, account = run_sync(lambda: read_doubts(doubts, judge, ReadingJudge(judge, kept)))
    return found, account, judge


def say(yes: float) -> Callable[[Ask], Any]:
    return lambda ask: {"yes": yes > 0.5, "probability": yes}


def solved(told: bool, quote: str = "") -> Callable[[Ask], Any]:
    return lambda ask: {"answers": [{"id": "q1", "told": told, "answer": "Reyes", "quote": quote}]}


def test_a_small_model_turns_a_hint_into_a_finding_or_drops_it() -> None:
    (fault,), account, judge = read(say(0.99), doubt(HALF), small=True)
    assert isinstance(fault, Fault)
    assert fault.detail == "bridge: Its keeper is Tomas Reyes."
    assert fault.fix is not None
    assert fault.fix.values["relevant"] == {"bridge": 1}
    assert [ask.kind for ask in judge.asked] == ["told"]
    assert (account.read, account.confirmed, account.failed) == (1, 1, 0)
    assert read(say(0.01), doubt(HALF), small=True)[0] == []


def test_a_small_model_reads_the_likeliest_passage_only() -> None:
    (ask,) = read(say(0.01), doubt(0.7, HALF), small=True)[2].asked
    assert ask.values["passage"] == TEXT


def test_a_small_model_without_probabilities_counts_by_its_word() -> None:
    (found,), _, _ = read(lambda ask: {"yes": True}, doubt(HALF), small=True)
    assert isinstance(found, Fault | Hint)
    assert read(lambda ask: {"yes": False}, doubt(HALF), small=True)[0] == []


def test_an_answer_counts_with_a_quote_that_stands_in_a_passage() -> None:
    quote = "opened in 1931"
    (fault,), account, judge = read(solved(True, quote), doubt(HALF))
    fix = Fix("set", {"reference": quote, "relevant": {"bridge": 1}})
    question = "Who keeps the bridge of Corran, x?"
    assert fault == Fault("answerable", "x", question, f"bridge: {quote}", fix)
    assert account.confirmed == 1
    (case,) = judge.asked[0].values["cases"]
    assert [source["text"] for source in case["sources"]] == [TEXT]


@pytest.mark.parametrize("quote", ["", "opened in 1951"])
def test_an_answer_without_its_quote_leaves_the_hint_and_is_counted(quote: str) -> None:
    doubts = [doubt(HALF, id="a"), doubt(HALF, id="b")]

    def reply(ask: Ask) -> Any:
        is_first = "b?" not in str(ask.values)
        return solved(is_first, quote)(ask)

    found, account, _ = read(reply, *doubts)
    assert [(type(one), one.id) for one in found] == [(Hint, "a")]
    assert (account.read, account.failed) == (1, 1)
    assert account.reason


def test_what_a_judge_denies_is_dropped_unless_the_figures_are_sure() -> None:
    assert read(solved(False), doubt(HALF))[0] == []
    (found,), account, _ = read(solved(False), doubt(SURE_CHANCE))
    assert isinstance(found, Hint)
    assert account.confirmed == 0


def test_an_unlikely_passage_is_not_read() -> None:
    found, account, judge = read(solved(True, "1931"), doubt(LARGE_CHANCE / 2))
    assert (found, account.read, judge.asked) == ([], 0, [])


def test_a_spent_budget_leaves_the_rest_as_the_figures_say() -> None:
    doubts = [doubt(HALF, id=str(n)) for n in range(5)]
    judge = ScriptedJudge(solved(True, "1931"), concurrency=1)
    answer_all = judge.answer

    async def answer(asks: Any) -> Any:
        return await answer_all(asks) if not judge.asked else [OutOfBudget("budget_calls", n=1)]

    judge.answer = answer  # type: ignore[method-assign]
    reading = ReadingJudge(judge, Store.open(":memory:"))
    found, account = run_sync(lambda: read_doubts(doubts, judge, reading))
    assert [type(one) for one in found] == [Fault, Hint, Hint, Hint, Hint]
    assert (account.read, account.failed, len(judge.asked)) == (1, 4, 1)


def test_a_judge_that_never_answers_is_an_error_and_is_not_asked_forever() -> None:
    doubts = [doubt(HALF, id=str(n)) for n in range(20)]
    asked: list[Ask] = []

    def fail(ask: Ask) -> Any:
        asked.append(ask)
        return JudgeFailed("transport", "nobody there")

    with pytest.raises(RagstoneError, match=r"scripted did not answer \(nobody there\)"):
        read(fail, *doubts)
    assert len(asked) == 3


def test_replies_are_paid_once(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    first = read(solved(True, "1931"), doubt(HALF), store=store)
    again = read(solved(True, "1931"), doubt(HALF), store=store)
    assert first[0] == again[0]
    assert (len(first[2].asked), len(again[2].asked)) == (1, 0)


def write_set(folder: Path) -> tuple[Path, Path]:
    documents, questions = folder / "documents.jsonl", folder / "set.jsonl"
    documents.write_text(json.dumps({"id": "bridge", "text": TEXT}) + "\n", "utf-8")
    row = {"id": "x", "question": "Who keeps the bridge of Corran?", "reference": "It is not mentioned in the document."}  # fmt: skip
    questions.write_text(json.dumps(row) + "\n", "utf-8")
    return questions, documents


def test_the_whole_check_takes_a_judge(tmp_path: Path) -> None:
    questions, documents = write_set(tmp_path)
    judge = ScriptedJudge(solved(True, "Its keeper is Tomas Reyes."))
    reading = ReadingJudge(judge, Store.open(":memory:"))
    checkup = check_testset(questions, documents, reading=reading)
    assert [fault.kind for fault in checkup.faults] == ["answerable"]
    assert checkup.reading is not None
    assert checkup.to_dict()["reading"]["judge"] == "scripted"
    denied = ReadingJudge(ScriptedJudge(solved(False), name="no"), Store.open(":memory:"))
    assert check_testset(questions, documents, reading=denied).faults == ()
    embedded = check_testset(questions, documents, reading=ReadingJudge("offline"))
    assert embedded == check_testset(questions, documents)


def check(folder: Path, *flags: str) -> Any:
    questions, documents = write_set(folder)
    arguments = ["check", str(questions), "--documents", str(documents), "--store", str(folder / "s.db")]  # fmt: skip
    return CliRunner().invoke(command, [*arguments, *flags], standalone_mode=False)


@pytest.mark.parametrize(("language", "said"), [("en", "scripted read the passages that may answer 1 item"), ("es", "scripted ha leído los pasajes que podrían responder a 1 pregunta")])  # fmt: skip
def test_the_report_says_what_the_judge_has_read(
    language: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = ScriptedJudge(solved(True, "Its keeper is Tomas Reyes."))
    monkeypatch.setattr("ragstone.testset.doubt_reader.make_judge", lambda *_, **limits: judge)
    done = check(tmp_path, "--judge", "openai:m", "--max-calls", "5", "--lang", language)
    assert done.return_value == 1
    text = " ".join(done.output.split())
    assert said in text
    assert (
        "--judge openai:m --fix" in text
    )  # without it the fixes would not be those that are shown


def test_items_that_the_judge_could_not_read_make_the_check_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = ScriptedJudge(concurrency=1)

    async def answer(asks: Any) -> Any:
        return [OutOfBudget("budget_calls", n=1)]

    judge.answer = answer  # type: ignore[method-assign]
    monkeypatch.setattr("ragstone.testset.doubt_reader.make_judge", lambda *_, **limits: judge)
    monkeypatch.setattr("ragstone.testset.audit.find_answers", lambda *_: doubt(HALF).answers)
    done = check(tmp_path, "--judge", "openai:m")
    assert done.return_value == 3
    assert "1 item it could not read" in " ".join(done.output.split())


def test_a_judge_needs_documents_and_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions, _ = write_set(tmp_path)
    alone = CliRunner().invoke(command, ["check", str(questions), "--judge", "openai:m"], standalone_mode=False)  # fmt: skip
    assert "give --documents" in str(alone.exception)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    keyless = check(tmp_path, "--judge", "openai:m")
    assert "wants a key" in str(keyless.exception)


def test_a_dead_server_is_one_sentence(tmp_path: Path) -> None:
    questions, documents = write_set(tmp_path)
    # the discard port of loopback, where nobody listens
    judge = {"model": "openai:m", "base_url": "http://127.0.0.1:9/v1", "small": True, "deadline": 1.0}  # fmt: skip
    reading = ReadingJudge(judge, str(tmp_path / "s.db"))
    with pytest.raises(RagstoneError, match="openai:m did not answer") as caught:
        check_testset(questions, documents, reading=reading)
    assert "\n" not in str(caught.value)
