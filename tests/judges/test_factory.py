"""From what a user writes to a judge."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from faults.scoring import settings
from faults.server import FaultServer
from ragstone.asks import Ask, Case, Reply, aspects, claims, embed, rate, support, useful
from ragstone.errors import JudgeFailed, OutOfBudget, RagstoneError
from ragstone.judges.factory import UnknownJudge, make_judge, to_public_spec
from ragstone.judges.function import FunctionJudge
from ragstone.judges.jury import Jury
from ragstone.types import Chunk

SUPPORT = support(Case(("A.", "B.", "C."), (Chunk(text="A. B."),)))
LOCAL = {"base_url": "http://127.0.0.1:9/v1"}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("opnai:gpt", "no judge 'opnai:gpt'"),
        ("openai:", "no judge 'openai:'"),
        ("gpt-4o", "no judge 'gpt-4o'"),
        ({"model": "openai:m", "temprature": 0}, "no setting 'temprature'; did you mean 'temperature'?"),
        ({"temperature": 0}, "either 'model' or 'jury'"),
        ({"model": "openai:m", "jury": []}, "either 'model' or 'jury'"),
        (7, "7 is not a judge"),
        (["openai:m"], "a jury of 1"),
        ({"model": "openai:nobody-knows", "max_usd": 1, **LOCAL}, "no price is known for 'nobody-knows'"),
        ({"model": "openai:m", "embeddings": "anthropic:x", **LOCAL}, "no embeddings 'anthropic:x'"),
        ("openai:gpt-4o", "export OPENAI_API_KEY="),
        ("anthropic:claude", "export ANTHROPIC_API_KEY="),
        ("gemini:flash", "export GEMINI_API_KEY="),
        ("python:nowhere:f", "cannot import 'nowhere'"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_sentence(spec: Any, words: str) -> None:
    if isinstance(spec, list):
        spec = [
            {"model": one, **LOCAL, "embeddings": {"model": "openai:e", **LOCAL}} for one in spec
        ]
    with pytest.raises((UnknownJudge, RagstoneError)) as said:
        make_judge(spec)
    assert words in str(said.value)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("gpt-4o-mini", "openai:gpt-4o-mini"),
        ("o3", "openai:o3"),
        ("claude-haiku-4-5", "anthropic:claude-haiku-4-5"),
        ("gemini-2.5-flash", "gemini:gemini-2.5-flash"),
        ("llama3", "ollama:llama3"),
        ("llama3:8b", "ollama:llama3:8b"),
        ("qwen2.5:7b-instruct", "ollama:qwen2.5:7b-instruct"),
        ("models/judge.gguf", "gguf:models/judge.gguf"),
        ("./model.onnx", "nli:./model.onnx"),
        ("organisation/model", "hf:organisation/model"),
        ("opnai:gpt-4o", "openai:gpt-4o"),
        ("Ollama:llama3", "ollama:llama3"),
        ("http://localhost:8080/v1", "{model: openai:NAME, base_url: 'http://localhost:8080/v1'}"),
    ],
)
def test_a_judge_without_its_prefix_gets_a_hint(spec: str, meant: str) -> None:
    with pytest.raises(UnknownJudge) as said:
        make_judge(spec)
    assert f"did you mean {meant}?" in str(said.value)


@pytest.mark.parametrize("spec", ["openai:", "hf", "", "what is this"])
def test_what_means_nothing_gets_no_hint(spec: str) -> None:
    with pytest.raises(UnknownJudge, match="gguf:PATH, hf:PATH, nli:PATH") as said:
        make_judge(spec)
    assert "did you mean" not in str(said.value)


def test_a_folder_with_a_model_gets_the_prefix_of_its_kind(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    for architecture, kind in [
        ("LlamaForCausalLM", "hf"),
        ("BertForSequenceClassification", "nli"),
    ]:
        config.write_text(json.dumps({"architectures": [architecture]}))
        with pytest.raises(UnknownJudge, match=f"did you mean {kind}:{tmp_path}"):
            make_judge(str(tmp_path))


def test_ollama_is_the_local_server_and_costs_nothing() -> None:
    judge: Any = make_judge("ollama:llama3.2:3b", max_usd=1)
    assert judge.name == "ollama:llama3.2:3b"
    assert judge.model.client.base_url.url == "http://localhost:11434/v1"
    assert judge.model.price == (0.0, 0.0)
    elsewhere: Any = make_judge({"model": "ollama:m", "base_url": "http://10.0.0.7:11434/v1"})
    assert elsewhere.model.client.base_url.url == "http://10.0.0.7:11434/v1"


def test_a_judge_is_taken_as_it_is() -> None:
    judge = make_judge(lambda ask: {}, embeddings={"model": "openai:e", **LOCAL})
    assert make_judge(judge) is judge


def test_a_spec_is_shown_without_secrets() -> None:
    spec = {"model": "openai:m", "api_key": "sk-1", "base_url": "http://a:b@h.org/v1?t=secret"}
    assert to_public_spec({"jury": [spec, "offline"]}) == {
        "jury": [{"model": "openai:m", "base_url": "http://h.org/v1"}, "offline"]
    }


class Fixed:
    """A judge that always says the same."""

    batch, concurrency, local = 1, 4, False

    def __init__(self, said: Any, name: str = "fixed") -> None:
        self.said = said
        self.name = name

    def identity(self, ask: Ask) -> dict[str, Any]:
        return {"name": self.name}

    async def answer(self, asks: list[Ask]) -> list[Any]:
        return [self.said if isinstance(self.said, JudgeFailed) else Reply(self.said) for _ in asks]

    async def close(self) -> None:
        return


def verdicts(*words: str) -> dict[str, Any]:
    short = {"s": "supported", "c": "contradicted", "n": "not_found"}
    return {
        "verdicts": [
            {"id": f"c{n}", "verdict": short[w], "reason": w,
             "evidence": [{"source": "k1", "quote": w}] if w == "s" else []}
            for n, w in enumerate(words, 1)
        ]
    }  # fmt: skip


def voted(ask: Ask, *said: Any) -> Any:
    (answered,) = asyncio.run(Jury([Fixed(one) for one in said]).answer([ask]))
    return answered


def test_the_majority_decides_verdicts_and_disagreement_is_told() -> None:
    answered = voted(SUPPORT, verdicts(*"ssn"), verdicts(*"snn"), verdicts(*"scc"))
    assert [row["verdict"] for row in answered.value["verdicts"]] == [
        "supported",
        "not_found",
        "not_found",
    ]
    assert answered.notes == ("the jury disagreed on 2 of 3 verdicts",)


def test_a_tie_goes_to_the_verdict_that_claims_least() -> None:
    answered = voted(SUPPORT, verdicts(*"ssc"), verdicts(*"ncs"))
    assert [row["verdict"] for row in answered.value["verdicts"]] == [
        "not_found",
        "contradicted",
        "contradicted",
    ]


def test_jurors_may_reply_in_any_order() -> None:
    turned = {"verdicts": verdicts(*"snc")["verdicts"][::-1]}
    answered = voted(SUPPORT, verdicts(*"snc"), turned)
    assert [row["verdict"] for row in answered.value["verdicts"]] == [
        "supported",
        "not_found",
        "contradicted",
    ]
    assert answered.notes == ()


def test_grades_and_levels_are_medians() -> None:
    ask = useful("q", [Chunk(text="x")], {"question": None})
    said = [
        {"grades": [{"id": "k1", "target": "question", "grade": g, "reason": ""}]}
        for g in (0, 2, 2)
    ]
    assert voted(ask, *said).value["grades"][0]["grade"] == 2
    level = rate({"a": "x"}, "n", "q", ["0", "1", "2", "3"])
    answered = voted(level, *({"level": n, "reason": ""} for n in (3, 0, 1, 2)))
    assert answered.value["level"] == 1
    assert answered.notes == ("the jury disagreed: levels 0, 1, 2, 3",)


def test_aspects_are_those_of_the_median_juror() -> None:
    said = [
        {"aspects": [{"aspect": "a", "covered": c, "quote": ""} for c in row]}
        for row in ([True, True], [True, False], [False])
    ]
    assert voted(aspects("q", "a"), *said).value == said[1]


def test_claims_come_from_the_first_juror_that_has_them() -> None:
    down = JudgeFailed("transport", "down")
    answered = voted(claims("A."), down, {"claims": [1]}, {"claims": [2]})
    assert answered.value == {"claims": [1]}


def test_a_jury_without_a_majority_of_replies_fails() -> None:
    down = JudgeFailed("refusal", "no")
    assert voted(SUPPORT, down, verdicts(*"sss"), verdicts(*"sss")).notes == (
        "1 of 3 jurors gave no reply",
    )
    failed = voted(SUPPORT, down, down, verdicts(*"sss"))
    assert isinstance(failed, JudgeFailed)
    assert failed.kind == "refusal"
    assert "2 of 3 jurors failed" in failed.reason


def test_a_jury_of_servers_scores(serve: Any) -> None:
    first, second = serve(), serve()
    spec = {"jury": [{"model": "openai:a", "base_url": s.url} for s in (first, second)],
            "embeddings": {"model": "openai:e", "base_url": first.url}}  # fmt: skip
    import ragstone
    from faults.scoring import SAMPLE

    (row,) = ragstone.evaluate([SAMPLE], ["faithfulness"], judge=spec).rows()
    assert row.scores["faithfulness"].value == 0.25
    assert len(first.calls) == 2
    assert len(second.calls) == 1  # claims come from the first alone


def called(function: Any, ask: Ask) -> Any:
    judge = FunctionJudge(function, Fixed({"vectors": [[1.0]]}))  # type: ignore[arg-type]
    (answered,) = asyncio.run(judge.answer([ask]))
    return answered


def test_a_function_is_a_judge_plain_or_async() -> None:
    async def later(ask: Ask) -> Any:
        return verdicts(*"ssn")

    for function in (lambda ask: verdicts(*"ssn"), later):
        assert called(function, SUPPORT).value == verdicts(*"ssn")
    assert called(lambda ask: 1 / 0, embed("x")).value == {"vectors": [[1.0]]}


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (None, "unparseable"),
        ({"verdicts": "all"}, "unparseable"),
        (verdicts(*"ss"), "incomplete"),
        (verdicts(*"ssss"), "incomplete"),
        ({"verdicts": verdicts(*"ssn")["verdicts"] + verdicts(*"n")["verdicts"]}, "incomplete"),
        (JudgeFailed("refusal", "no"), "refusal"),
    ],
)
def test_what_a_function_returns_is_checked(said: Any, kind: str) -> None:
    def function(ask: Ask) -> Any:
        if isinstance(said, JudgeFailed):
            raise said
        return said

    answered = called(function, SUPPORT)
    assert isinstance(answered, JudgeFailed)
    assert answered.kind == kind


def test_a_function_may_state_how_likely_a_claim_is_supported() -> None:
    def judge(ask: Ask) -> Any:
        return {"verdicts": [{**row, "probability": 0.8} for row in verdicts(*"ssn")["verdicts"]]}

    member = FunctionJudge(judge, Fixed({}))  # type: ignore[arg-type]
    (voted,) = asyncio.run(Jury([member, member]).answer([SUPPORT]))
    for reply in (called(judge, SUPPORT), voted):
        assert [row["probability"] for row in reply.value["verdicts"]] == [0.8, 0.8, 0.8]


def test_a_function_that_raises_is_a_typed_failure() -> None:
    answered = called(lambda ask: 1 / 0, SUPPORT)
    assert isinstance(answered, JudgeFailed)
    assert "raised ZeroDivisionError" in answered.reason


def test_a_function_that_takes_too_long_is_a_typed_failure() -> None:
    async def forever(ask: Ask) -> Any:
        await asyncio.sleep(3600)

    judge = make_judge({"model": forever, "deadline": 0.05})
    (answered,) = asyncio.run(judge.answer([SUPPORT]))
    assert isinstance(answered, JudgeFailed)
    assert answered.reason.endswith("took longer than 0.05 s")


def test_a_function_counts_its_calls_and_keeps_to_the_budget() -> None:
    judge = make_judge({"model": lambda ask: verdicts(*"ssn"), "max_calls": 1})
    first, second = asyncio.run(judge.answer([SUPPORT, SUPPORT]))
    assert first.usage.calls == 1
    assert isinstance(second, OutOfBudget)


def test_a_function_may_leave_out_sentences_without_claims_but_invent_none() -> None:
    ask = claims("Hello! The tower is tall.")
    row = {"text_id": "t1", "sentence": 1, "claim": "The tower is tall."}
    assert called(lambda ask: {"claims": [row]}, ask).value == {"claims": [row]}
    assert called(lambda ask: {"claims": [row | {"sentence": 7}]}, ask).kind == "incomplete"


def test_settings_reach_the_server(serve: Any) -> None:
    server: FaultServer = serve()

    async def put() -> None:
        spec = settings(server, temperature=0.3, top_p=0.5, max_tokens=77, parameters={"seed": 4})
        judge = make_judge(spec)
        await judge.answer([rate({"a": "x"}, "n", "q", ["0", "1"])])
        await judge.close()

    asyncio.run(put())
    body = server.calls[0].body
    assert {k: body[k] for k in ("temperature", "top_p", "max_tokens", "seed")} == {
        "temperature": 0.3, "top_p": 0.5, "max_tokens": 77, "seed": 4,
    }  # fmt: skip
