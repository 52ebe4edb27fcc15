"""Causal models of transformers that are asked for one token: batches and a common beginning change no choice."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ragstone.asks.choices import Choice, ChoiceRequest
from ragstone.errors import JudgeFailed, OutOfBudget, RagstoneError
from ragstone.judges import huggingface
from ragstone.judges.limits import Budget
from ragstone.judges.local.causal import CausalChoices, count_shared, predict_next
from tiny_models import save_causal, save_classifier

OPTIONS = ("A", "B", "C", "the", "sky", "is", "red", "grass", "not", "yes", "was", "x", "z", "one")
PREFIX = "the sky is blue and the grass is green and the sea is not red "


def test_what_prompts_share_leaves_each_a_token_of_its_own() -> None:
    assert count_shared([[1, 2, 3], [1, 2, 4]]) == 2
    assert count_shared([[1, 2, 3], [1, 2, 3]]) == 2
    assert count_shared([[1, 2], [1, 2, 3]]) == 1
    assert count_shared([[5], [6, 7]]) == 0


def test_hub_names_are_only_those_that_look_like_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface, "find_spec", lambda name: True)
    huggingface.check_installed("organisation/model")
    for name in ("model", "./organisation/model", "/models/judge", "a/b/c", "a/model.gguf"):
        with pytest.raises(RagstoneError, match=f"there is no model at '{name}'"):
            huggingface.check_installed(name)


def choose(model: CausalChoices, *requests: ChoiceRequest) -> list[Any]:
    async def put() -> list[Any]:
        try:
            return list(await model.choose(requests))
        finally:
            await model.close()

    return asyncio.run(put())


def request(question: str, prefix: str = PREFIX) -> ChoiceRequest:
    return ChoiceRequest("claim source", prefix, question, OPTIONS)


@pytest.fixture
def transformers() -> Any:
    return pytest.importorskip("transformers", reason="the extra `hf` is not installed")


@pytest.mark.slow
@pytest.mark.timeout(600)  # transformers is slow to import
@pytest.mark.usefixtures("transformers")
@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_a_common_beginning_is_evaluated_once_and_changes_no_choice(
    architecture: str, tmp_path: Path
) -> None:
    folder = str(save_causal(tmp_path, architecture))
    questions = ["x", "was it blue", "no", "one two three and the sky is blue"]
    model = CausalChoices(folder, batch=3, device="cpu")
    together = choose(model, *map(request, questions), request("x", "the sea "))
    alone = [choose(model, request(q))[0] for q in questions]
    alone += choose(model, request("x", "the sea "))
    assert len(together) == 5
    for batched, single in zip(together, alone, strict=True):
        assert type(batched) is type(single)
        if isinstance(batched, Choice):
            assert batched.option == single.option
            assert batched.probabilities == pytest.approx(single.probabilities, abs=1e-4)
    assert sum(isinstance(one, Choice) for one in together) >= 3
    assert len({one.option for one in together if isinstance(one, Choice)}) > 1


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("transformers")
def test_the_next_tokens_are_those_of_a_plain_forward_pass(tmp_path: Path) -> None:
    import torch

    _, model = huggingface.load(str(save_causal(tmp_path, "llama")), "text", "cpu")
    prompts = [[7, 8, 9, 10], [7, 8, 9, 11, 12, 13], [7, 8, 14]]
    rows = predict_next(model, prompts)
    for prompt, (tokens, logprobs) in zip(prompts, rows, strict=True):
        with torch.inference_mode():
            expected = torch.log_softmax(model(torch.tensor([prompt])).logits[0, -1].float(), -1)
        assert logprobs == pytest.approx(expected[tokens].tolist(), abs=1e-4)
        assert tokens[0] == int(expected.argmax())


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("transformers")
def test_a_prompt_that_is_too_long_fails_alone(tmp_path: Path) -> None:
    model = CausalChoices(str(save_causal(tmp_path, "gpt2", max_tokens=40)), device="cpu")
    short, long = choose(model, request("x"), request("x " * 60))
    assert isinstance(short, Choice | JudgeFailed)
    assert getattr(short, "kind", "unparseable") == "unparseable"
    assert isinstance(long, JudgeFailed)
    assert "the model reads 40" in long.reason


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("transformers")
def test_a_budget_of_calls_counts_questions(tmp_path: Path) -> None:
    model = CausalChoices(
        str(save_causal(tmp_path, "llama")), device="cpu", batch=1, budget=Budget(max_calls=1)
    )
    first, second = choose(model, request("x"), request("y"))
    assert not isinstance(first, OutOfBudget)
    assert isinstance(second, OutOfBudget)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_template_without_a_system_message_gets_one_message(
    tmp_path: Path, transformers: Any
) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(save_causal(tmp_path, "llama"))
    tokenizer.chat_template = (
        "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}"
        "{% endif %}{{ messages[0].content }}!"
    )
    assert huggingface.format_chat(tokenizer, "Be brief.", "Why?") == "Be brief.\n\nWhy?!"
    tokenizer.chat_template = None
    assert huggingface.format_chat(tokenizer, "Be brief.", "Why?") == "Be brief.\n\nWhy?\n\n"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.usefixtures("transformers")
def test_a_model_of_another_kind_is_named(tmp_path: Path) -> None:
    folder = save_classifier(tmp_path, "bert", ["entailment", "not_entailment"])
    with pytest.raises(RagstoneError, match=f"write nli:{folder}"):
        huggingface.check_installed(str(folder))
    (failed,) = choose(CausalChoices(str(folder), device="cpu"), request("x"))
    assert isinstance(failed, JudgeFailed)
    assert "is no language model" in failed.reason
