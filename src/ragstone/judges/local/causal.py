"""Causal language models of transformers that are asked for one token."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from inspect import signature
from itertools import groupby
from typing import Any

from ragstone.asks.choices import ChoiceRequest
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges.choices import ChoiceOutcome
from ragstone.judges.completion import Completion
from ragstone.judges.huggingface import format_chat, identify_chat, load
from ragstone.judges.limits import Budget
from ragstone.judges.local.thread import ModelThread, to_failure
from ragstone.judges.prompted_choices import read_choice
from ragstone.types import Usage

TOP_TOKENS = 20
"""Likeliest tokens that are looked at, as many as servers give."""


class CausalChoices:
    """A model of transformers; requests with a common beginning are run together, and the beginning once for all."""

    concurrency = 1
    notes: tuple[str, ...] = ()

    def __init__(
        self,
        path: str,
        *,
        batch: int = 8,
        deadline: float = 600.0,
        device: str | None = None,
        threads: int | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.path = path
        self.name = f"hf:{path}"
        self.batch = batch
        self.deadline = deadline
        self.budget = budget or Budget()
        self._thread = ModelThread("transformers", lambda: load(path, "text", device, threads))

    def identity(self) -> Mapping[str, Any]:
        """Return the model and the form of a request; which requests share a batch changes no choice."""
        return identify_chat(self.path)

    async def choose(self, requests: Sequence[ChoiceRequest]) -> list[ChoiceOutcome]:
        """Answer the requests, those with the same prefix in batches."""
        chosen: list[ChoiceOutcome] = []
        # by system message and prefix
        for _, group in groupby(requests, key=lambda request: request[:2]):
            waiting = list(group)
            for start in range(0, len(waiting), self.batch):
                chosen += await self._choose(waiting[start : start + self.batch])
        return chosen

    async def close(self) -> None:
        """End the thread; the loaded model stays for the next judge of this process."""
        await self._thread.close()

    async def _choose(self, requests: Sequence[ChoiceRequest]) -> list[ChoiceOutcome]:
        try:
            for _ in requests:
                await self.budget.admit(0.0)
            return await self._thread.run(self.deadline * len(requests), decide, requests)
        except JudgeFailed as failure:
            return [to_failure(failure) for _ in requests]
        except OutOfBudget as failure:
            return [OutOfBudget(failure.reason) for _ in requests]


def decide(loaded: tuple[Any, Any], requests: Sequence[ChoiceRequest]) -> list[ChoiceOutcome]:
    """Return the choices of a tokenizer and its model; a prompt that is too long fails alone."""
    tokenizer, model = loaded
    prompts = [
        tokenizer(
            format_chat(tokenizer, request.system, request.prefix + request.question),
            add_special_tokens=False,
        )["input_ids"]
        for request in requests
    ]
    context = getattr(model.config, "max_position_embeddings", None) or math.inf
    fitting = [prompt for prompt in prompts if len(prompt) <= context]
    rows = iter(predict_next(model, fitting) if fitting else ())
    chosen: list[ChoiceOutcome] = []
    for prompt, request in zip(prompts, requests, strict=True):
        if len(prompt) > context:
            chosen.append(
                JudgeFailed(
                    "transport", "prompt_exceeds_context", tokens=len(prompt), context=context
                )
            )
            continue
        tokens, logprobs = next(rows)
        texts = [tokenizer.decode([token]) for token in tokens]
        first_tokens = tuple(zip(texts, logprobs, strict=True))
        completion = Completion(texts[0], "stop", Usage(1, len(prompt), 1), first_tokens)
        chosen.append(read_choice(completion, request.options))
    return chosen


def predict_next(
    model: Any, prompts: Sequence[Sequence[int]]
) -> list[tuple[list[int], list[float]]]:
    """Return the likeliest next tokens of each prompt with their log-probabilities.

    What the prompts have in common at their beginning is evaluated once. The rests are padded at their end, where
    padding changes nothing for a causal model."""
    import torch

    with torch.inference_mode():
        shared = count_shared(prompts) if len(prompts) > 1 else 0
        cache = _evaluate_shared(model, prompts[0][:shared], len(prompts)) if shared else None
        rests = [prompt[shared if cache is not None else 0 :] for prompt in prompts]
        longest = max(map(len, rests))
        ids = torch.tensor([[*rest, *[0] * (longest - len(rest))] for rest in rests])
        last_positions = torch.tensor([len(rest) - 1 for rest in rests], device=model.device)
        logits = _find_logits(model, ids.to(model.device), last_positions, cache)
        top = torch.topk(torch.log_softmax(logits.float(), dim=-1), TOP_TOKENS)
    return list(zip(top.indices.tolist(), top.values.tolist(), strict=True))


def count_shared(prompts: Sequence[Sequence[int]]) -> int:
    """Return the number of tokens that all prompts begin with, less than any of them has."""
    shared = 0
    for tokens in zip(*(prompt[:-1] for prompt in prompts), strict=False):
        if len(set(tokens)) > 1:
            break
        shared += 1
    return shared


def _evaluate_shared(model: Any, tokens: Sequence[int], count: int) -> Any:
    """Return the cache of a common beginning for so many prompts; None for models whose cache cannot be copied."""
    import torch

    cache = model(torch.tensor([list(tokens)], device=model.device), use_cache=True).past_key_values
    if not hasattr(cache, "batch_repeat_interleave"):
        return None
    cache.batch_repeat_interleave(count)
    return cache


def _find_logits(model: Any, ids: Any, last_positions: Any, cache: Any) -> Any:
    """Return the logits at the end of each prompt; those of other positions are not computed where the model allows."""
    import torch

    rows = torch.arange(len(last_positions), device=ids.device)
    options = {} if cache is None else {"past_key_values": cache, "use_cache": True}
    if "logits_to_keep" not in signature(model.forward).parameters:
        return model(ids, **options).logits[rows, last_positions]
    positions, which = torch.unique(last_positions, return_inverse=True)
    return model(ids, logits_to_keep=positions, **options).logits[rows, which]
