"""The guard in the request path: verdicts, deadlines, and never an exception."""

from __future__ import annotations

import asyncio
import runpy
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ragstone import Guard, Monitor, guard
from ragstone.errors import RagstoneError
from ragstone.monitor import Archive
from ragstone.store import Store
from waiting import LIMIT_SECONDS

ANSWER = "The warranty lasts five years. Returns are accepted within 30 days."
CONTEXTS = [
    "The warranty lasts two years from the date of purchase.",
    {"id": "k2", "text": "Returns are accepted within 30 days with the receipt."},
]


def test_a_claim_that_the_contexts_deny_is_flagged_and_can_be_cut() -> None:
    verdict = guard("How long is the warranty?", ANSWER, CONTEXTS, deadline=LIMIT_SECONDS)
    assert verdict.decision == "flag"
    assert [claim.text for claim in verdict.flagged] == ["The warranty lasts five years."]
    assert verdict.flagged[0].quote
    assert verdict.cut(ANSWER) == "Returns are accepted within 30 days."


def test_a_supported_answer_passes_and_a_refusal_claims_nothing() -> None:
    good = guard(None, "Returns are accepted within 30 days.", CONTEXTS, deadline=LIMIT_SECONDS)
    assert good.passed
    assert (
        good.cut("Returns are accepted within 30 days.") == "Returns are accepted within 30 days."
    )
    refusal = guard("Who is the CEO?", "I don't know.", CONTEXTS, deadline=LIMIT_SECONDS)
    assert (refusal.decision, refusal.claims) == ("pass", ())
    assert refusal.reason == "the answer declines"


def test_the_bound_decides_what_is_flagged() -> None:
    def unsure(ask):
        return verdict_of(ask, 0.6)

    with Guard(unsure, deadline=LIMIT_SECONDS) as checker:
        assert checker.check(None, "It opens at nine.", ["It opens at nine."]).passed
        strict = checker.check(
            None, "It opens at nine.", ["It opens at nine."], min_probability=0.7
        )
        assert strict.decision == "flag"


def verdict_of(ask, probability: float):
    if ask.kind == "claims":
        texts = ask.values["texts"]
        rows = [(t["id"], n, s) for t in texts for n, s in enumerate(t["sentences"])]
        return {"claims": [{"text_id": i, "sentence": n, "claim": s} for i, n, s in rows]}
    return {
        "verdicts": [
            {
                "id": claim["id"],
                "verdict": "supported",
                "evidence": [{"source": c["sources"][0]["id"], "quote": c["sources"][0]["text"]}],
                "reason": "",
                "probability": probability,
            }
            for c in ask.values["cases"]
            for claim in c["claims"]
        ]
    }


async def hang(ask):
    await asyncio.sleep(LIMIT_SECONDS)


@pytest.mark.parametrize("answer", [None, 7, ANSWER, ""])
@pytest.mark.parametrize("contexts", [None, object(), [], [None], {"a": 1}, "text"])
def test_whatever_it_is_given_it_never_raises(answer, contexts) -> None:
    with Guard(deadline=LIMIT_SECONDS) as checker:
        verdict = checker.check("q", answer, contexts)
    assert verdict.decision in ("pass", "flag", "undecided")
    assert verdict.decision != "undecided" or verdict.reason


def test_a_judge_that_raises_leaves_it_undecided_with_the_reason() -> None:
    def broken(ask):
        raise ValueError("no connection")

    with Guard(broken, deadline=LIMIT_SECONDS) as checker:
        verdict = checker.check("q", "It opens at nine.", ["It opens at nine."])
    assert verdict.decision == "undecided"
    assert "no connection" in verdict.reason


def test_a_judge_that_hangs_costs_the_deadline_and_no_more() -> None:
    with Guard(hang, deadline=0.01) as checker:
        seen = [checker.check("q", "It is open.", ["It opens."]) for _ in range(100)]
    assert {verdict.decision for verdict in seen} == {"undecided"}
    assert all("0.01 s" in verdict.reason for verdict in seen)
    # the deadline is kept many times over, whatever the machine: 100 calls, and none waits for the judge
    assert sum(verdict.seconds for verdict in seen) < LIMIT_SECONDS / 2


def test_a_judge_that_blocks_its_thread_does_not_block_the_caller() -> None:
    release = threading.Event()

    async def block(ask):
        release.wait(LIMIT_SECONDS)  # computes without ever giving its event loop a turn

    checker = Guard(block, deadline=0.02)
    try:
        assert checker.check("q", "It is open.", ["It opens."]).decision == "undecided"
        assert checker.check("q", "It is open.", ["It opens."]).decision == "undecided"
    finally:
        release.set()
        checker.close()


def test_the_event_loop_of_the_app_goes_on_while_it_waits() -> None:
    async def serve() -> tuple[str, int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.001)

        ticking = asyncio.create_task(tick())
        verdict = await checker.acheck("q", "It is open.", ["It opens."])
        ticking.cancel()
        return verdict.decision, ticks

    with Guard(hang, deadline=0.2) as checker:
        decision, ticks = asyncio.run(serve())
    assert decision == "undecided"
    assert ticks > 5


def test_threads_share_a_guard() -> None:
    with Guard(deadline=LIMIT_SECONDS) as checker:
        seen: list[str] = []
        threads = [
            threading.Thread(
                target=lambda: seen.append(checker.check(None, ANSWER, CONTEXTS).decision)
            )
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT_SECONDS)
    assert seen == ["flag"] * 8


def test_checks_are_logged_to_the_monitor_if_asked(tmp_path: Path) -> None:
    place = str(tmp_path / "m.db")
    with Monitor(place) as monitor, Guard(deadline=LIMIT_SECONDS, monitor=monitor) as checker:
        checker.check("How long?", ANSWER, CONTEXTS)
        assert monitor.flush(LIMIT_SECONDS)
    (logged,) = Archive(Store.open(place)).interactions()
    assert logged.meta["guard"] == "flag"
    assert logged.meta["guard_flagged"] == 1


@pytest.mark.parametrize("settings", [{"min_probability": 0}, {"deadline": 0}, {"judge": "nobody"}])
def test_a_wrong_setting_is_said_when_it_is_made(settings) -> None:
    with pytest.raises(RagstoneError):
        Guard(**settings)


def test_time_is_counted() -> None:
    began = time.monotonic()
    verdict = guard(None, ANSWER, CONTEXTS, deadline=LIMIT_SECONDS)
    assert 0 < verdict.seconds <= time.monotonic() - began


def load_example(name: str) -> dict[str, object]:
    return runpy.run_path(str(Path(__file__).parents[2] / "examples" / name))


def test_a_fastapi_app_cuts_what_is_not_supported_and_answers_while_a_judge_hangs() -> None:
    pytest.importorskip("fastapi", reason="fastapi is not installed (make test-all)")
    from fastapi.testclient import TestClient

    app: Any = load_example("guard_fastapi.py")["app"]
    asked = {"question": "How long is the warranty?"}
    with TestClient(app) as client:
        app.state.guard = Guard(deadline=LIMIT_SECONDS)
        reply = client.get("/ask", params=asked).json()
        assert reply == {
            "answer": "Returns are accepted within 30 days.",
            "checked": "flag",
            "removed": ["The warranty lasts five years."],
        }
        app.state.guard = Guard(hang, deadline=0.2)
        reply = client.get("/ask", params=asked).json()
    assert reply["checked"] == "undecided"
    assert reply["answer"].startswith("The warranty lasts five years.")


def test_a_langchain_chain_has_the_guard_as_a_step() -> None:
    pytest.importorskip("langchain_core", reason="langchain is not installed (make test-all)")
    chain: Any = load_example("guard_langchain.py")["chain"]
    for result in (chain.invoke("How long?"), asyncio.run(chain.ainvoke("How long?"))):
        assert [claim.text for claim in result["verdict"].flagged] == [
            "The warranty lasts five years."
        ]
        assert result["verdict"].cut(result["answer"]) == "Returns take 30 days."
