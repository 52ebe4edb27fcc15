"""Test sets written by a judge: calls counted, bad generations refused, nothing paid twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.server import Behaviour, Call, FaultServer, honestly
from ragstone.asks import Ask
from ragstone.asks.kind import build_spec
from ragstone.data import corpora
from ragstone.data.documents import Document
from ragstone.errors import JudgeFailed
from ragstone.testset import sets
from ragstone.testset.sets import TestSet, generate, part_file
from scripted import ScriptedJudge
from tinyset import tiny_parts
from waiting import wait_until

ALL = "factual=3,conceptual,detail,multi_document,out_of_scope,near_miss,two_in_one,follow_up"


@pytest.fixture(autouse=True)
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "build_parts", tiny_parts)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


def written(server: FaultServer, n: int, folder: Path, **options: Any) -> TestSet:
    judge = {"model": "openai:m", "base_url": server.url, "max_retries": 1}
    given = {"kinds": ALL, "out": folder / "set.jsonl", "store": folder / "s.db", **options}
    return generate(given.pop("documents", corpora.documents()), n, judge=judge, **given)


def test_a_perfect_judge_is_called_less_than_once_an_item(
    server: FaultServer, tmp_path: Path
) -> None:
    made = written(server, 60, tmp_path)
    assert len(made) == 60
    assert not made.rejected
    assert made.usage.calls == len(server.calls) <= 0.8 * 60
    assert set(made.kinds) == {kind.split("=")[0] for kind in ALL.split(",")}
    for item in made.items:
        assert item.proof["answered_by"] == "openai:m"
        if item.kind == "multi_document":
            assert len(item.relevant) >= 2
        if item.kind == "follow_up":
            assert len(item.history) == 2


def test_even_one_item_alone_stays_under_the_bar(server: FaultServer, tmp_path: Path) -> None:
    made = written(server, 1, tmp_path, kinds="factual")
    assert len(made) == 1
    assert len(server.calls) == 2 <= 2.2


def test_offsets_are_those_of_the_whole_document(server: FaultServer, tmp_path: Path) -> None:
    long = " ".join(f"The {n}th gate of the long wall was built by mason{n}.\n" for n in range(900))
    made = written(server, 8, tmp_path, documents=[Document("wall", long)], kinds="factual")
    assert len(made) == 8
    for item in made.items:
        for one in item.evidence:
            assert long[one.start : one.end] == one.quote


def test_a_second_time_nothing_is_paid_and_the_file_is_the_same(
    server: FaultServer, tmp_path: Path
) -> None:
    written(server, 24, tmp_path)
    paid, first = len(server.calls), (tmp_path / "set.jsonl").read_bytes()
    made = written(server, 24, tmp_path)
    assert len(server.calls) == paid
    assert (tmp_path / "set.jsonl").read_bytes() == first
    assert made.usage.calls == paid  # what it would have cost


def changed(change: Any) -> Behaviour:
    """A server that spoils the first of several questions it writes, and answers honestly."""

    async def behave(call: Call) -> None:
        truth = call.truth()
        if len(truth.get("items", ())) > 1:
            truth["items"] = [
                row for n, row in enumerate(truth["items"]) for row in change(n, dict(row))
            ]
        await call.say(json.dumps(truth))

    return behave


def spoilt(**fields: Any) -> Any:
    return lambda n, row: [{**row, **fields}] if n == 0 else [row]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (spoilt(question=" "), "empty"),
        (spoilt(answer=""), "empty"),
        (lambda n, row: [] if n == 0 else [row], "empty"),
        (lambda n, row: [row, row] if n == 0 else [row], "malformed"),
        (lambda n, row: [row, {**row, "id": "q77"}] if n == 0 else [row], "malformed"),
        (spoilt(evidence=[]), "malformed"),
        (spoilt(evidence=[{"source": "k1", "quote": "never written anywhere"}]), "quote_not_verbatim"),
        (spoilt(question="What is the colour of the sky?"), "duplicate"),
    ],
)  # fmt: skip
def test_a_bad_generation_is_refused_and_counted(change: Any, reason: str, tmp_path: Path) -> None:
    with FaultServer(changed(change)) as server:
        made = written(server, 12, tmp_path, kinds="factual")
    assert made.reasons.get(reason, 0) > 0
    assert len(made) == 12  # what is refused is ordered again
    kept = [json.loads(line) for line in (tmp_path / "set.rejected.jsonl").open(encoding="utf-8")]
    assert reason in {row["reason"] for row in kept}


async def _no_json(call: Call) -> None:
    await call.say("Sure! Here are some great questions for you.")


async def _empty(call: Call) -> None:
    await call.say("")


@pytest.mark.parametrize("behave", [_no_json, _empty])
def test_a_judge_that_writes_no_questions_ends_with_an_account(
    behave: Behaviour, tmp_path: Path
) -> None:
    with FaultServer(behave) as server:
        made = written(server, 6, tmp_path, kinds="factual")
    assert (len(made), made.out) == (0, None)
    assert made.reasons == {"judge_failed": 12}  # ordered twice, then given up
    assert not (tmp_path / "set.jsonl").exists()


def test_a_judge_that_cannot_be_reached_stops_it_at_once(tmp_path: Path) -> None:
    with FaultServer() as server:
        pass
    made = written(server, 60, tmp_path, kinds="factual")
    assert len(made) == 0
    assert "cannot be reached" in made.stopped
    assert part_file(tmp_path / "set.jsonl").exists()


def reading(told: Any) -> Any:
    """A scripted judge that writes honestly and answers as it is told."""
    from faults import honest

    def reply(ask: Ask) -> Any:
        batch = build_spec(ask).build_batch(build_spec(ask).items, "00000000")
        shape = '{"items": 0}' if ask.kind == "write" else '{"answers": 0}'
        text = "\n".join([*batch.values.values(), shape])
        value = honest.reply("", text)
        return told(value) if ask.kind == "solve" else value

    return ScriptedJudge(reply)


def test_what_the_judge_cannot_answer_from_the_evidence_is_refused(tmp_path: Path) -> None:
    def silent(value: Any) -> Any:
        rows = [{**row, "told": False, "answer": "", "quote": ""} for row in value["answers"]]
        return {"answers": rows}

    made = generate(
        corpora.documents(), 6, kinds="factual", judge=reading(silent), store=tmp_path / "s.db"
    )
    assert (len(made), set(made.reasons)) == (0, {"not_answerable_from_evidence"})


def test_another_answer_than_the_reference_is_refused(tmp_path: Path) -> None:
    def wrong(value: Any) -> Any:
        rows = [{**row, "answer": "forty-two elephants", "quote": ""} for row in value["answers"]]
        return {"answers": rows}

    made = generate(
        corpora.documents(), 6, kinds="factual", judge=reading(wrong), store=tmp_path / "s.db"
    )
    assert set(made.reasons) == {"not_answerable_from_evidence"}
    assert "forty-two elephants" in made.rejected[0].detail


def test_an_unanswerable_question_that_is_answered_is_refused(tmp_path: Path) -> None:
    def knowing(value: Any) -> Any:
        rows = [{**row, "told": True, "answer": "Ada", "quote": "x"} for row in value["answers"]]
        return {"answers": rows}

    made = generate(
        corpora.documents(),
        6,
        kinds="unanswerable",
        judge=reading(knowing),
        store=tmp_path / "s.db",
    )
    assert (len(made), set(made.reasons)) == (0, {"answered_by_corpus"})


def test_a_document_that_tells_the_same_is_relevant_too(tmp_path: Path) -> None:
    fact = "The bridge of Westmarch was opened by Edda Larkin."
    documents = [Document("a", fact), Document("b", f"A chronicle. {fact} It rained.")]
    made = generate(
        documents, 2, kinds="factual", judge=reading(lambda value: value), store=tmp_path / "s.db"
    )
    assert made.items
    assert any(dict(item.relevant) == {"a": 1.0, "b": 1.0} for item in made.items)


def test_the_offline_judge_refuses_to_write() -> None:
    import asyncio

    from ragstone.asks import Order, write
    from ragstone.judges.offline import OfflineJudge
    from ragstone.types import Chunk

    ask = write([Chunk("a", "Text.")], [Order("factual")])
    (answered,) = asyncio.run(OfflineJudge().answer([ask]))
    assert isinstance(answered, JudgeFailed)
    assert answered.kind == "refusal"


def test_the_budget_stops_it_and_a_larger_one_goes_on_to_the_same_file(tmp_path: Path) -> None:
    with FaultServer() as server:
        (tmp_path / "free").mkdir()
        written(server, 40, tmp_path / "free")
        free = len(server.calls)
        made = written(server, 40, tmp_path, max_calls=free // 2, concurrency=2)
        assert "budget" in made.stopped
        assert len(made) < 40
        written(server, 40, tmp_path, resume=True, concurrency=2)
        assert len(server.calls) <= 2 * free
    wanted = (tmp_path / "free" / "set.jsonl").read_bytes()
    assert (tmp_path / "set.jsonl").read_bytes() == wanted


def test_groups_that_are_whole_are_kept_when_a_later_one_runs_out_of_budget(
    tmp_path: Path,
) -> None:
    """The last verification finds the budget spent while those before it are still under way."""

    async def slow_to_answer(call: Call) -> None:
        if "answers" in call.truth():
            await asyncio.sleep(0.3)
        await honestly(call)

    (tmp_path / "free").mkdir()
    with FaultServer(slow_to_answer) as server:
        assert len(written(server, 24, tmp_path / "free")) == 24
        free = len(server.calls)
        made = written(server, 24, tmp_path, max_calls=free - 1, concurrency=8)
        assert "budget" in made.stopped
        assert len(made) == 16  # two of three groups
        steps = part_file(tmp_path / "set.jsonl").read_bytes().count(b'"step"')
        assert steps == 2
        written(server, 24, tmp_path, resume=True)
        assert len(server.calls) == 2 * free
    wanted = (tmp_path / "free" / "set.jsonl").read_bytes()
    assert (tmp_path / "set.jsonl").read_bytes() == wanted


def test_styles_are_ordered_and_kept(server: FaultServer, tmp_path: Path) -> None:
    made = written(server, 6, tmp_path, kinds="factual", styles=["a worried parent"])
    assert {item.style for item in made.items} == {"a worried parent"}
    assert any("(a worried parent)" in call.prompt[1] for call in server.calls)


KILLED = """
import sys
sys.path[:0] = [{tests!r}]
from ragstone.data import corpora
from ragstone.testset import sets
from tinyset import tiny_parts
sets.build_parts = tiny_parts
judge = {{"model": "openai:m", "base_url": {url!r}, "max_retries": 1, "concurrency": 2}}
sets.generate(corpora.documents(), 40, kinds={kinds!r}, judge=judge, out={out!r}, store={store!r})
"""


def test_killed_it_resumes_and_pays_at_most_for_what_was_in_flight(tmp_path: Path) -> None:
    with FaultServer(honestly, delay=0.05) as server:
        (tmp_path / "whole").mkdir()
        written(server, 40, tmp_path / "whole", concurrency=2)
        once = len(server.calls)
        out, store = tmp_path / "set.jsonl", tmp_path / "s.db"
        code = KILLED.format(
            tests=str(Path(__file__).parents[1]), url=server.url, kinds=ALL, out=str(out), store=str(store)
        )  # fmt: skip
        child = subprocess.Popen([sys.executable, "-c", code])
        wait_until(
            lambda: child.poll() is not None or len(server.calls) - once >= once // 2,
            "half of the questions are put",
        )
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert not out.exists(), "it was done before it was killed"
        written(server, 40, tmp_path, resume=True, concurrency=2)
        twice = len(server.calls) - 2 * once
    assert twice <= 2  # the calls in flight
    assert out.read_bytes() == (tmp_path / "whole" / "set.jsonl").read_bytes()
