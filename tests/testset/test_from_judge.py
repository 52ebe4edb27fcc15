"""Test sets written by a judge: every kind is made, each proof refuses its fault, nothing is paid twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from faults import honest
from faults.server import Behaviour, Call, FaultServer, honestly
from ragstone import prompts
from ragstone.asks import Ask, Problem, write
from ragstone.asks.kind import build_spec
from ragstone.data import corpora
from ragstone.data.documents import Document
from ragstone.errors import JudgeFailed, RagstoneError
from ragstone.testset.from_judge import ORDERED_KINDS, split_by_weight
from ragstone.testset.sets import TestSet, generate, part_file
from ragstone.types import Chunk
from scripted import ScriptedJudge
from waiting import wait_until

MIX = "factual=3,how_to,why,comparison,bridge,follow_up,unanswerable,typos,false_premise"
PAIRED = [
    Document(
        "mill",
        "The mill of Old Corran grinds spelt for the bakers of Ashby. A visit to Old Corran Abbey takes two "
        "hours of walking.",
    ),
    Document(
        "abbey",
        "Monks brew a strong dark ale in the cellar of Old Corran Abbey every spring. Its bells were cast by "
        "Ida Brandt.",
    ),
]

RIVALS = [
    Document(
        "a",
        "Of interest is what they told in the matter of Westmarch. The bridge was opened by Edda Larkin.",
    ),
    Document(
        "b",
        "Of interest is what they told in the matter of Corran. The ferry was built by Tomas Reyes.",
    ),
]


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


def written(server: FaultServer, n: int, folder: Path, **options: Any) -> TestSet:
    judge = {"model": "openai:m", "base_url": server.url, "max_retries": 1}
    given = {"kinds": "factual", "out": folder / "set.jsonl", "store": folder / "s.db", **options}
    return generate(given.pop("documents", corpora.documents()), n, judge=judge, **given)


def scripted(
    change: Callable[[Ask, Any], Any] = lambda ask, value: value, **options: Any
) -> ScriptedJudge:
    """A perfect writer and reader, whose replies pass through `change`."""

    def reply(ask: Ask) -> Any:
        if ask.kind == "told":
            question = ask.values["question"].splitlines()[-1]
            return change(ask, {"yes": bool(honest.find_told(question, [ask.values["passage"]]))})
        spec = build_spec(ask)
        batch = spec.build_batch(spec.items, "00000000")
        shape = '{"text": 0}' if ask.kind == "write" else '{"answers": 0}'
        filled = {**batch.values, "nonce": "00000000", "shape": shape, "note": ""}
        _, user = prompts.load(spec.prompt, ask.language).fill(filled)
        return change(ask, honest.reply("", user))

    return ScriptedJudge(reply, **options)


def made_by(
    judge: Any, folder: Path, n: int = 6, kinds: str = "factual", **options: Any
) -> TestSet:
    documents = options.pop("documents", corpora.documents())
    return generate(documents, n, kinds=kinds, judge=judge, store=folder / "s.db", **options)


@pytest.mark.parametrize("kind", ORDERED_KINDS)
def test_a_perfect_writer_makes_every_kind(kind: str, tmp_path: Path) -> None:
    joined = kind in ("bridge", "comparison")
    made = made_by(
        scripted(),
        tmp_path,
        2 if joined else 5,
        kind,
        documents=PAIRED if joined else corpora.documents(),
    )
    assert set(made.kinds) == {kind}, made.rejected[:2]
    for item in made.items:
        assert item.proof["answered_by"] == "scripted"
        assert item.style, "somebody asks"
        assert len({piece.document for piece in item.evidence}) == (
            2 if joined else 0 if kind == "unanswerable" else 1
        )
        assert (item.reference is None) == (kind == "unanswerable")
        assert bool(item.history) == (kind == "follow_up")
        assert ("planted" in item.proof) == (kind == "hidden_instruction")
        if kind == "typos":
            assert item.question != item.proof["plain"]


def test_the_mix_is_kept_and_offsets_are_those_of_the_document(
    server: FaultServer, tmp_path: Path
) -> None:
    made = written(server, 40, tmp_path, kinds=MIX.replace("comparison,bridge,", ""))
    assert len(made) == 40
    assert set(made.kinds) == set(MIX.replace("=3", "").split(",")) - {"comparison", "bridge"}
    assert f"proposed {made.outcome.proposed}" in str(made)
    from ragstone.testset.sources import open_corpus

    with open_corpus(corpora.documents()) as corpus:
        for item in made.items:
            for piece in item.evidence:
                assert corpus.find(piece.document).text[piece.start : piece.end] == piece.quote


def on(kind: str, step: str = "", **fields: Any) -> Callable[[Ask, Any], Any]:
    """Change the replies to one kind of question: of a line its text, of answers each row."""

    def change(ask: Ask, value: Any) -> Any:
        if ask.kind != kind or ask.values.get("step", "") != step:
            return value
        if kind == "write":
            return {
                "text": fields["text"](value["text"], ask)
                if callable(fields["text"])
                else fields["text"]
            }
        return {"answers": [{**row, **fields} for row in value["answers"]]}

    return change


def only_first_problem_told(ask: Ask, value: Any) -> Any:
    if ask.kind != "solve" or len(value["answers"]) < 3:
        return value
    first, *rest = value["answers"]
    return {
        "answers": [
            first,
            rest[0],
            *[{**row, "told": True, "answer": "it alone"} for row in rest[1:]],
        ]
    }


def rival(ask: Ask, value: Any) -> Any:
    """Another page that answers otherwise, with a quote of its own."""
    if ask.kind != "solve":
        return value
    first, second = value["answers"][:2]
    text = ask.values["cases"][1]["sources"][0]["text"]
    return {
        "answers": [
            first,
            {**second, "told": True, "answer": "forty-two elephants", "quote": text.split(".")[0]},
        ]
    }


FAULTS: dict[str, tuple[Any, str, str]] = {
    "no question": (on("write", "question", text=""), "factual", "empty"),
    "two words": (on("write", "question", text="Matter what?"), "factual", "malformed"),
    "speaks of the text": (
        on(
            "write",
            "question",
            text=lambda t, ask: (
                f"{'Según el texto' if ask.language == 'es' else 'According to the passage'}, {t}"
            ),
        ),
        "factual",
        "not_self_contained",
    ),
    "the wording of the page": (
        on(
            "write",
            "question",
            text=lambda t, ask: (
                f"Is it so that {' '.join(ask.values['sources'][0]['text'].replace('#', ' ').split()[3:16])}?"
            ),
        ),
        "factual",
        "copied",
    ),
    "another language": (
        on(
            "write",
            "question",
            text="¿Qué es lo que se cuenta de interés en el asunto principal de la ciudad?",
        ),
        "factual",
        "malformed",
    ),
    "no answer": (on("write", "answer", text=""), "factual", "not_answerable_from_evidence"),
    "an invented figure": (
        on("write", "answer", text=lambda t, _: f"{t} since 2991"),
        "factual",
        "not_answerable_from_evidence",
    ),
    "the answer in the question": (
        on(
            "write",
            "answer",
            text=lambda t, ask: " ".join(ask.values["question"].strip("¿?").split()[-3:]),
        ),
        "factual",
        "leaked",
    ),
    "a quote that stands nowhere": (
        on("write", "sentence", text="never written anywhere"),
        "factual",
        "quote_not_verbatim",
    ),
    "evidence that is a question": (
        on("write", "sentence", text="What does the mill grind?"),
        "why",
        "quote_not_verbatim",
    ),
    "evidence that does not answer": (
        on("solve", told=False, answer="", quote=""),
        "factual",
        "not_answerable_from_evidence",
    ),
    "another answer from the evidence": (
        on("solve", answer="forty-two elephants"),
        "factual",
        "not_answerable_from_evidence",
    ),
    "guessed without any source": (
        on("write", "guess", text=lambda t, ask: ANSWERS[ask.values["question"]]),
        "factual",
        "answerable_without_evidence",
    ),
    "another page answers otherwise": (rival, "factual", "ambiguous"),
    "one document alone answers": (
        only_first_problem_told,
        "bridge",
        "answerable_without_evidence",
    ),
    "an unanswerable one is answered": (
        on("solve", told=True, answer="Ada", quote="x"),
        "unanswerable",
        "answered_by_corpus",
    ),
    "a premise that is true": (
        on(
            "write",
            "question",
            text=lambda t, ask: (
                " ".join(ask.values["sources"][0]["text"].replace("#", " ").split()[4:9])
                + " is why?"
            ),
        ),
        "false_premise",
        "malformed",
    ),
    "a second turn that stands alone": (
        on(
            "write",
            "question",
            text=lambda t, ask: (
                f"{ask.values['earlier'][0][:-1]} again?" if "earlier" in ask.values else t
            ),
        ),
        "follow_up",
        "malformed",
    ),
    "the same question again": (
        on("write", "question", text=lambda t, _: "What is told of interest in matter unknown?"),
        "factual",
        "duplicate",
    ),
}
ANSWERS: dict[str, str] = {}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_proof_refuses_its_fault(fault: str, tmp_path: Path) -> None:
    change, kind, reason = FAULTS[fault]

    def planted(ask: Ask, value: Any) -> Any:
        if ask.kind == "write" and ask.values["step"] == "answer":
            ANSWERS[ask.values["question"]] = value["text"]
        if fault == "the same question again":  # everything else holds
            return same(ask, change(ask, value))
        return change(ask, value)

    few = {"ambiguous": RIVALS, "duplicate": RIVALS[:1]}
    if fault == "evidence that is a question":
        few["quote_not_verbatim"] = [
            Document(
                "q", "What does the mill grind? The mill of Corran grinds spelt for many bakers."
            )
        ]
    documents = PAIRED if kind == "bridge" else few.get(reason, corpora.documents())
    made = made_by(scripted(planted), tmp_path, 10, kind, documents=documents)
    refused = made.reasons.get(reason, 0)
    kept = len(made) - (1 if reason == "duplicate" else 0)
    assert refused >= 0.95 * (refused + kept) > 0, (made.kinds, made.reasons, made.rejected[:1])


def same(ask: Ask, value: Any) -> Any:
    """Replies with which a question that is always the same holds."""
    if ask.kind == "solve":
        first, second = value["answers"][:2]
        return {
            "answers": [
                {**first, "told": True, "answer": "Edda Larkin"},
                {**second, "told": False, "quote": ""},
            ]
        }
    if ask.values["step"] in ("answer", "sentence"):
        return {"text": RIVALS[0].text if ask.values["step"] == "sentence" else "Edda Larkin"}
    return value


def test_a_document_that_tells_the_same_is_relevant_too(tmp_path: Path) -> None:
    fact = "The bridge of Westmarch was opened by Edda Larkin."
    documents = [Document("a", fact), Document("b", f"A chronicle. {fact} It rained.")]
    made = made_by(scripted(), tmp_path, 2, documents=documents)
    assert any(dict(item.relevant) == {"a": 1.0, "b": 1.0} for item in made.items)


def test_another_judge_proves(tmp_path: Path) -> None:
    checker = scripted(on("solve", told=False, answer="", quote=""), name="strict")
    made = made_by(scripted(), tmp_path, 4, checker=checker)
    assert set(made.reasons) == {"not_answerable_from_evidence"}
    assert {ask.kind for ask in checker.asked} == {"solve"}
    passed = made_by(scripted(), tmp_path, 4, checker=scripted(name="kind"))
    assert {item.proof["answered_by"] for item in passed.items} == {"kind"}
    assert {item.how for item in passed.items} == {"scripted"}


def test_a_small_model_decides_one_passage_at_a_time(tmp_path: Path) -> None:
    judge = scripted()
    judge.small = True  # type: ignore[attr-defined]
    made = made_by(judge, tmp_path, 6, "factual=2,unanswerable")
    assert len(made) == 6
    assert {ask.kind for ask in judge.asked} == {"write", "told"}
    # a model that copies nothing right still has its evidence, where its answer stands word for word
    clumsy = scripted(on("write", "sentence", text="never written anywhere"))
    clumsy.small = True  # type: ignore[attr-defined]
    made = made_by(clumsy, tmp_path / "c", 2, documents=RIVALS[:1], out=None)
    assert made.items
    assert all(item.reference and item.reference in item.evidence[0].quote for item in made.items)
    never = scripted(lambda ask, value: {"yes": False} if ask.kind == "told" else value)
    never.small = True  # type: ignore[attr-defined]
    assert set(made_by(never, tmp_path / "n", 4).reasons) == {"not_answerable_from_evidence"}


def test_a_second_time_nothing_is_paid_and_the_file_is_the_same(
    server: FaultServer, tmp_path: Path
) -> None:
    written(server, 24, tmp_path)
    paid, first = len(server.calls), (tmp_path / "set.jsonl").read_bytes()
    written(server, 24, tmp_path)
    assert len(server.calls) == paid
    assert (tmp_path / "set.jsonl").read_bytes() == first


async def _no_json(call: Call) -> None:
    await call.say("Sure! Here are some great questions for you.")


async def _empty(call: Call) -> None:
    await call.say("")


@pytest.mark.parametrize("behave", [_no_json, _empty])
def test_a_judge_that_writes_no_questions_ends_with_an_account(
    behave: Behaviour, tmp_path: Path
) -> None:
    with FaultServer(behave) as server:
        made = written(server, 6, tmp_path)
    assert (len(made), made.out) == (0, None)
    assert set(made.reasons) == {"judge_failed"}
    assert made.given_up == {"factual": 12}  # ordered twice, then given up
    assert "what would give questions" in str(made)


def test_a_judge_that_cannot_be_reached_stops_it_at_once(tmp_path: Path) -> None:
    with FaultServer() as server:
        pass
    made = written(server, 60, tmp_path)
    assert len(made) == 0
    assert "cannot be reached" in made.stopped
    assert part_file(tmp_path / "set.jsonl").exists()


def test_the_offline_judge_refuses_to_write() -> None:
    import asyncio

    from ragstone.judges.offline import OfflineJudge

    (answered,) = asyncio.run(
        OfflineJudge().answer([write("question", [Chunk("a", "Text.")], kind="factual")])
    )
    assert isinstance(answered, JudgeFailed)
    with pytest.raises(RagstoneError, match="cannot prove"):
        generate(PAIRED, 2, judge=scripted(), checker="offline")


def test_the_budget_stops_it_and_a_larger_one_goes_on_to_the_same_file(tmp_path: Path) -> None:
    with FaultServer() as server:
        (tmp_path / "free").mkdir()
        written(server, 30, tmp_path / "free")
        free = len(server.calls)
        made = written(server, 30, tmp_path, max_calls=free // 2, concurrency=2)
        assert "budget" in made.stopped
        assert 0 < len(made) < 30
        written(server, 30, tmp_path, resume=True, concurrency=2)
        assert len(server.calls) <= 2 * free
    assert (tmp_path / "set.jsonl").read_bytes() == (tmp_path / "free" / "set.jsonl").read_bytes()


def test_persons_are_named_in_the_prompt_and_kept(server: FaultServer, tmp_path: Path) -> None:
    made = written(server, 6, tmp_path, styles=["a worried parent"])
    assert {item.style for item in made.items} == {"a worried parent"}
    assert any("Who asks: a worried parent" in call.prompt[1] for call in server.calls)


KILLED = """
from ragstone.data import corpora
from ragstone.testset import sets
judge = {{"model": "openai:m", "base_url": {url!r}, "max_retries": 1, "concurrency": 2}}
sets.generate(corpora.documents(), 30, kinds="factual", judge=judge, out={out!r}, store={store!r})
"""


def test_killed_it_resumes_and_pays_at_most_for_what_was_in_flight(tmp_path: Path) -> None:
    with FaultServer(honestly, delay=0.02) as server:
        (tmp_path / "whole").mkdir()
        written(server, 30, tmp_path / "whole", concurrency=2)
        once = len(server.calls)
        out, store = tmp_path / "set.jsonl", tmp_path / "s.db"
        code = KILLED.format(url=server.url, out=str(out), store=str(store))
        child = subprocess.Popen([sys.executable, "-c", code])
        wait_until(
            lambda: child.poll() is not None or len(server.calls) - once >= once // 2,
            "half of the questions are put",
        )
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert not out.exists(), "it was done before it was killed"
        written(server, 30, tmp_path, resume=True, concurrency=2)
        twice = len(server.calls) - 2 * once
    # the calls in flight, and replies that came but were not yet saved
    assert twice <= 6
    assert out.read_bytes() == (tmp_path / "whole" / "set.jsonl").read_bytes()


def test_weights_are_split_to_whole_numbers() -> None:
    assert split_by_weight(10, {"factual": 2.0, "why": 1.0}) == {"factual": 7, "why": 3}


def test_one_call_asks_one_thing() -> None:
    ask = write("sentence", [Chunk("a", "One. Two.")], question="q", answer="a", language="es")
    assert build_spec(ask).prompt == "write_sentence"
    assert json.loads(json.dumps(ask.values))["step"] == "sentence"
    assert Problem(("q",), ()).sources == ()
