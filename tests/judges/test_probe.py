"""The check with twelve items: counts what is right, says plainly what a judge is fit for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from faults.scoring import settings
from faults.server import Call, FaultServer
from ragstone.asks import Ask
from ragstone.cli.judge import command
from ragstone.judges.factory import make_judge
from ragstone.judges.probe import ProbeReport, build_probes, probe_judge

Serve = Callable[..., FaultServer]


def knowing(wrong: int = 0, lost: int = 0) -> Callable[[Ask], Any]:
    """A judge that knows the probes, but for some."""
    items = {
        item.ask.key: (n, item) for n, item in enumerate([*build_probes("en"), *build_probes("es")])
    }

    def judge(ask: Ask) -> Any:
        from dataclasses import replace

        n, item = items[replace(ask, repeat=0).key]
        n %= 12
        if n < lost:
            return None
        return said(item.ask, item.truth if n >= wrong else "wrong")

    return judge


def said(ask: Ask, truth: str) -> Any:
    """A reply that comes down to the truth, or does not."""
    if ask.kind == "support":
        verdict = (
            truth
            if truth != "wrong"
            else "not_found"
            if ask.values["cases"][0]["claims"][0]["text"]
            else ""
        )
        return {"verdicts": [{"id": "c1", "verdict": verdict, "evidence": [], "reason": ""}]}
    if ask.kind == "useful":
        grade = 2 if truth == "useful" else 0
        return {"grades": [{"id": "k1", "target": "question", "grade": grade, "reason": ""}]}
    if ask.kind == "aspects":
        rows = [("when", True), ("who", truth != "half")]
        return {"aspects": [{"aspect": a, "covered": c, "quote": ""} for a, c in rows]}
    if ask.kind == "claims":
        count = 2 if truth == "2" else 1
        return {"claims": [{"text_id": "t1", "sentence": n, "claim": "x"} for n in range(count)]}
    return {"reason": "", "level": 0 if truth == "0" else 2}


def tried(function: Any, language: str = "en") -> ProbeReport:
    judge = make_judge(function, embeddings={"model": "openai:e", "base_url": "http://127.0.0.1:9"})
    return asyncio.run(probe_judge(judge, language))


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_judge_that_knows_is_fit(language: str) -> None:
    found = tried(knowing(), language)
    assert (found.reply_count, found.correct_count, found.consistent_count) == (12, 12, 12)
    assert found.is_fit


def test_three_wrong_verdicts_are_too_many() -> None:
    assert tried(knowing(wrong=2)).is_fit
    found = tried(knowing(wrong=3))
    assert found.correct_count == 9
    assert not found.is_fit


def test_two_lost_replies_are_too_many() -> None:
    assert tried(knowing(lost=1)).is_fit
    found = tried(knowing(lost=2))
    assert found.reply_count == 10
    assert not found.is_fit
    assert found.results[0].failure.startswith("unparseable")


def test_a_judge_that_changes_its_mind_is_not_fit() -> None:
    know = knowing()

    def fickle(ask: Ask) -> Any:
        value = know(ask)
        if ask.repeat and ask.kind == "support":
            value["verdicts"][0]["verdict"] = "contradicted"
        return value

    found = tried(fickle)
    assert found.correct_count == 12
    assert found.consistent_count == 8
    assert not found.is_fit


def test_the_twelve_are_the_same_kinds_in_both_languages() -> None:
    english, spanish = build_probes("en"), build_probes("es")
    assert len(english) == len(spanish) == 12
    assert [(i.ask.kind, i.truth) for i in english] == [(i.ask.kind, i.truth) for i in spanish]
    assert build_probes("fr")[0].text == english[0].text


def test_the_command_says_plainly_that_a_word_finder_is_unfit(serve: Serve) -> None:
    server = serve()
    asked = ["check", "--judge", "openai:m", "--base-url", server.url, "--lang", "es"]
    result = CliRunner().invoke(command, asked, standalone_mode=False, env={"COLUMNS": "100"})
    assert "Not fit to gate on" in result.output
    assert "usable replies" in result.output
    assert "12 of 12" in result.output
    assert result.return_value == 1


def test_tokens_and_price_are_reckoned_for_1000_samples(serve: Serve) -> None:
    async def count(call: Call) -> None:
        reply = call.envelope(json.dumps(call.truth()))
        reply["usage"] = {"prompt_tokens": 1000, "completion_tokens": 100}
        await call.send(200, json.dumps(reply).encode())

    judge = make_judge(settings(serve(count), prices={"input": 1.0, "output": 10.0}, deadline=30.0))
    found = asyncio.run(probe_judge(judge, "en"))
    asyncio.run(judge.close())
    assert found.usage.input_tokens == 1000 * found.usage.calls
    assert found.usd_per_1000_samples == pytest.approx(5 * 1000 * 0.002)


def test_prompts_are_listed_exported_and_never_overwritten(tmp_path: Any) -> None:
    run = CliRunner()
    assert "support" in run.invoke(command, ["prompts"]).output
    first = run.invoke(command, ["prompts", "--export", str(tmp_path / "p")])
    assert first.exit_code == 0
    assert (tmp_path / "p" / "es" / "support.md").is_file()
    second = run.invoke(command, ["prompts", "--export", str(tmp_path / "p")])
    assert "exists already" in str(second.exception)


def test_adapt_needs_a_judge() -> None:
    result = CliRunner().invoke(command, ["prompts", "--adapt", "fr"])
    assert result.exit_code == 2
    assert "--adapt needs a judge" in result.output
