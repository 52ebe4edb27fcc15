"""`ragstone judge check`: what a judge is fit for, on controls of known truth."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from faults.server import Call, FaultServer
from knowing import Oracle
from ragstone.asks import Ask
from ragstone.cli.judge import command
from ragstone.errors import JudgeFailed, RagstoneError
from ragstone.experiments.judge_check import (
    JudgeCheck,
    check_judge,
    measure_baseline,
    measure_calibration,
)
from ragstone.experiments.judge_check.controls import (
    LANGUAGES,
    Control,
    build_answers,
    build_control_sets,
)
from ragstone.experiments.judge_check.routes import (
    MAX_WRITTEN_TOKENS,
    RouteTrial,
    choose_route,
    limit_writing,
    list_routes,
)
from ragstone.judges.factory import make_judge
from ragstone.judges.scale import fingerprint_judge
from ragstone.store import Store, load_scales
from ragstone.types import Finding, Sample, Score
from scripted import ScriptedJudge


def check(reply: Any, language: str = "en", **options: Any) -> JudgeCheck:
    return asyncio.run(check_judge(ScriptedJudge(reply), language, **options))


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(command, ["check", *arguments], standalone_mode=False)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_judge_that_knows_the_truth_is_fit_for_everything(language: str) -> None:
    checked = check(Oracle(language), language)
    assert {r.metric: (r.right, r.controls) for r in checked.results if r.right < r.controls} == {}
    assert all(result.fitness == "fit" for result in checked.results)
    assert checked.is_fit
    assert {scale.metric for scale in checked.scales} == {
        "faithfulness", "hallucination_rate", "context_recall", "answer_correctness", "context_relevance",
        "context_precision", "completeness", "answer_relevance", "coherence", "answer_similarity",
    }  # fmt: skip
    rate = next(scale for scale in checked.scales if scale.metric == "hallucination_rate")
    assert (rate.good.mean, rate.bad.mean, rate.higher_is_better) == (0.0, 1.0, False)


def test_a_judge_that_always_agrees_is_unfit_though_every_reply_is_usable() -> None:
    oracle = Oracle("en")

    def agree(ask: Ask) -> Any:
        value = oracle(ask)
        for row in value["verdicts"] if ask.kind == "support" else ():
            text = ask.values["cases"][0]["sources"][0]["text"]
            row |= {"verdict": "supported", "evidence": [{"source": "k1", "quote": text}]}
        return value

    (result,) = check(agree, metrics=["faithfulness"]).results
    assert result.replies == 30
    assert result.scale is not None
    assert result.scale.auroc < 0.6
    assert result.fitness == "unfit"


def test_a_judge_that_sees_it_the_wrong_way_round_is_said_to() -> None:
    from ragstone.cli.judge.check import _explain

    oracle = Oracle("en")

    def reverse(ask: Ask) -> Any:
        value = oracle(ask)
        return {**value, "level": len(ask.values["levels"]) - 1 - value["level"]}

    (result,) = check(reverse, metrics=["coherence"]).results
    assert "unfit, it puts bad above good" in _explain(result)


def test_a_judge_whose_replies_fail_is_unfit_however_right_the_others_are() -> None:
    oracle, asked = Oracle("en"), []

    def fail(ask: Ask) -> Any:
        asked.append(ask)
        return JudgeFailed("refusal", "judge_declined") if len(asked) % 5 == 0 else oracle(ask)

    (result,) = check(fail, metrics=["coherence"]).results
    # after four failures the thirty cannot come out fit, so the last six are not asked
    assert (result.controls, result.replies, result.fitness) == (24, 20, "unfit")
    assert len(asked) == 24
    assert result.scale is not None
    assert result.scale.balanced_accuracy == 1.0
    assert sum(result.failures.values()) == 4
    assert not check(fail, metrics=["coherence"]).scales  # a part says nothing of the whole


def test_no_control_is_put_twice_and_the_bar_counts_them_all() -> None:
    oracle, asked, seen = Oracle("en"), [], []

    def reply(ask: Ask) -> Any:
        asked.append(ask.key)
        return oracle(ask)

    def watch(kind: str, number: int, count: int) -> Any:
        return lambda progress: seen.append((progress.done, progress.total))

    check(reply, metrics=["coherence"], watch=watch)
    assert len(asked) == len(set(asked)) == 30
    assert {total for _, total in seen} == {30}
    assert max(done for done, _ in seen) == 30


@pytest.mark.parametrize("language", LANGUAGES)
def test_controls_are_balanced_and_hard_for_the_simplest_rule(language: str) -> None:
    sets = build_control_sets(language)
    for controls in sets:
        goods = sum(control.is_good for control in controls.controls)
        if controls.has_bad:
            assert (goods, len(controls.controls)) == (15, 30)
    by_metric = {controls.metrics[0].family: measure_baseline(controls) for controls in sets}
    # counting shared words tells supported claims, right answers and whole answers hardly apart
    assert by_metric["faithfulness"] < 0.6
    assert by_metric["answer_correctness"] < 0.6
    assert by_metric["completeness"] < 0.7
    assert {control.sample.language for s in sets for control in s.controls} == {language}


def test_both_languages_have_the_same_controls() -> None:
    english, spanish = (build_control_sets(language) for language in LANGUAGES)
    assert [[c.is_good for c in s.controls] for s in english] == [
        [c.is_good for c in s.controls] for s in spanish
    ]
    texts = [control.sample for s in english for control in s.controls]
    assert not {s.answer for s in texts if s.answer} & {
        c.sample.answer for s in spanish for c in s.controls if c.sample.answer
    }


def test_an_unknown_metric_names_those_that_have_controls() -> None:
    with pytest.raises(RagstoneError, match=r"no controls for rouge.*faithfulness"):
        check(Oracle("en"), metrics=["rouge"])


def test_calibration_is_the_gap_between_chances_and_truth() -> None:
    def row(chance: float | None, is_good: bool) -> tuple[Control, Score]:
        return Control(Sample("a"), is_good, 0.0), Score(1.0, probability=chance)

    assert measure_calibration([row(0.9, True), row(0.9, False)] * 5) == pytest.approx(0.4)
    assert measure_calibration([row(0.0, False), row(1.0, True)] * 5) == 0.0
    assert measure_calibration([row(0.9, True), row(None, True)] * 5) is None
    assert measure_calibration([row(0.9, True)]) is None  # too few to say
    parts = Score(
        0.5, findings=(Finding("a", "x", probability=0.2), Finding("b", "x", probability=0.4))
    )
    control = Control(Sample("a"), False, 0.0)
    assert measure_calibration([(control, parts)] * 10) == pytest.approx(0.3)


def trial(way: Any, usable: int, right: int) -> RouteTrial:
    controls = (*build_answers("en"), *build_answers("es"))
    bad_score, good_score = Score(0.0), Score(1.0)
    scores = [
        Score(outcome="judge_error", reason="no")
        if number >= usable
        else (good_score if control.is_good == (number < right) else bad_score)
        for number, control in enumerate(controls)
    ]
    return RouteTrial(way, controls, tuple(scores), 1.0)


def test_json_is_chosen_where_it_is_usable_and_no_worse() -> None:
    assert choose_route([trial("json", 8, 8), trial("plain", 8, 8)]) == "json"
    assert choose_route([trial("json", 8, 6), trial("plain", 8, 7)]) == "plain"
    assert choose_route([trial("json", 5, 5), trial("plain", 8, 4)]) == "plain"
    assert choose_route([trial("bare", 8, 8), trial("json", 8, 3)]) == "json"


def test_a_failed_reply_is_not_right() -> None:
    assert (trial("json", 5, 5).usable, trial("json", 5, 5).count_right()) == (5, 5)
    assert trial("json", 8, 5).count_right("en") == 4
    assert trial("json", 8, 5).count_right("es") == 1


def test_only_language_models_have_routes_to_choose_from() -> None:
    assert list_routes({"model": "openai:m"}) == ["json", "plain"]
    assert list_routes({"model": "gguf:m.gguf", "small": True}) == ["plain"]
    assert list_routes({"model": "offline"}) == list_routes({"model": "nli:m"}) == []


def test_the_page_of_the_embedded_judge_says_what_it_leaves_to_others(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    result = invoke("--store", str(store), "-m", "faithfulness", "-m", "context_recall")
    assert "faithfulness" in result.output
    assert "30/30" in result.output
    scales = load_scales(Store.open(store), fingerprint_judge(make_offline()))
    assert {metric for _, metric in scales} >= {"faithfulness", "context_recall"}


def make_offline() -> Any:
    from ragstone.judges.factory import make_judge

    return make_judge("offline")


def serve_words(call: Call) -> Any:
    return call.answer()


def test_a_server_is_asked_both_languages_on_each_route_in_under_60_calls(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    with FaultServer() as server:
        result = invoke("--judge", "openai:m", "--base-url", server.url, "--store", str(store))
        assert 24 <= len(server.calls) < 60
    assert re.search(r"one bare question +[0-4]/4 +[0-4]/4 +8/8", result.output)
    assert re.search(r"JSON route +[0-4]/4 +[0-4]/4 +8/8", result.output)
    assert re.search(r"plain route +[0-4]/4 +[0-4]/4 +8/8", result.output)
    section = yaml.safe_load(result.output[result.output.index("judge:\n") :].split("\n\n")[0])
    assert section["judge"]["model"] == "openai:m"
    assert section["judge"]["base_url"] == server.url
    assert f"Route: {'plain' if section['judge']['small'] else 'json'}" in result.output
    assert not store.exists()


def test_a_model_that_fails_at_json_takes_the_plain_route() -> None:
    async def babble(call: Call) -> None:
        from faults.choosing import is_choice

        await (call.answer() if is_choice(call.body) else call.say("The claim is fine, I think."))

    with FaultServer(babble) as server:
        result = invoke("--judge", "openai:m", "--base-url", server.url, "--lang", "en")
    assert "0/2" in result.output  # and it is tried no further
    assert "only 0 of 2 JSON replies are usable" in " ".join(result.output.split())
    assert "small: true" in result.output
    assert "Spanish" not in result.output


def test_what_a_small_model_writes_is_limited_and_ended_early() -> None:
    async def ramble(call: Call) -> None:
        from faults.choosing import is_choice

        await (call.answer() if is_choice(call.body) else call.say('{"answers": [', "length"))

    with FaultServer(ramble) as server:
        arguments = ("--judge", "openai:m", "--base-url", server.url, "--route")
        result = invoke(*arguments, "plain", "-m", "solve", "-m", "write")
        limits = [call.body["max_tokens"] for call in server.calls]
        server.calls.clear()
        invoke(*arguments, "json", "-m", "write")
        limits_of_large = {call.body["max_tokens"] for call in server.calls}
    # four controls of thirty and two of five settle it, each asked once more with twice the room
    assert len(limits) == 2 * (4 + 2)
    assert sorted(set(limits)) == [MAX_WRITTEN_TOKENS, 2 * MAX_WRITTEN_TOKENS]
    assert min(limits_of_large) > 2 * MAX_WRITTEN_TOKENS
    assert "solve: unfit, 0 of 4 replies are usable" in result.output
    assert "write: unfit, 0 of 2 replies are usable" in result.output


def test_a_limit_on_a_reply_leaves_the_judge_what_it_is() -> None:
    judge, limited = (
        make_judge({"model": "openai:m", "base_url": "http://127.0.0.1:9/v1", "small": True})
        for _ in range(2)
    )
    limit_writing(limited)
    assert fingerprint_judge(limited) == fingerprint_judge(judge)


def test_the_budget_ends_the_check_and_nothing_is_concluded(tmp_path: Path) -> None:
    with FaultServer() as server:
        result = invoke(
            "--judge", "openai:m", "--base-url", server.url, "--route", "json", "--max-calls", "5",
            "-m", "coherence", "--store", str(tmp_path / "s.db"),
        )  # fmt: skip
        assert len(server.calls) == 5
    assert result.return_value == 3
    assert not (tmp_path / "s.db").exists()


def test_nobody_at_the_address_is_an_error_and_no_verdict() -> None:
    result = invoke("--judge", "openai:m", "--base-url", "http://127.0.0.1:9/v1")
    assert isinstance(result.exception, RagstoneError)
    assert "nobody answers" in str(result.exception)


def list_models(*names: str) -> Any:
    async def answer(call: Call) -> None:
        if call.path.endswith("/models"):
            await call.send(200, json.dumps({"data": [{"id": name} for name in names]}).encode())
        else:
            await call.answer()

    return answer


def test_a_url_alone_is_asked_for_its_model() -> None:
    with FaultServer(list_models("qwen")) as server:
        result = invoke(server.url, "-m", "coherence", "--route", "plain")
    assert "model: openai:qwen" in result.output


def test_a_server_with_several_models_leaves_the_choice_to_the_user() -> None:
    with FaultServer(list_models("a", "b")) as server:
        result = invoke(server.url)
    assert "serves 2 models (a, b); name one: --judge openai:a" in str(result.exception)


def test_the_judge_is_named_once(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["check", "offline", "--judge", "offline"])
    assert result.exit_code == 2
    assert "name the judge once" in result.output


def test_the_judge_of_a_config_file_is_checked(tmp_path: Path) -> None:
    with FaultServer() as server:
        config = {
            "data": "a.jsonl",
            "judge": {"model": "openai:m", "base_url": server.url, "small": True},
        }
        (tmp_path / "c.yaml").write_text(yaml.safe_dump(config))
        result = invoke("-c", str(tmp_path / "c.yaml"), "-m", "coherence")
        assert server.calls
    assert "small: true" in result.output
    assert "json:" not in result.output


def test_what_is_unfit_for_one_kind_is_not_fit_at_all() -> None:
    checked = check(Oracle("en"), metrics=["coherence", "faithfulness"])
    results = [replace(result, right=0, scale=None) for result in checked.results[:1]]
    assert not replace(checked, results=(*results, *checked.results[1:])).is_fit
