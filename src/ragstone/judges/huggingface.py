"""Local HuggingFace models: loaded once, run in batches, on the GPU when there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, MissingExtra, RagstoneError
from ragstone.judges.limits import Budget
from ragstone.judges.model_judge import Completion, CompletionRequest
from ragstone.types import Usage

_LOADED: dict[tuple[str, str], tuple[Any, Any]] = {}
"""Tokenizer and model by path and task: a process loads each once."""


class LocalModel:
    """A causal language model of transformers; questions that wait together are run together."""

    notes: tuple[str, ...] = ()

    def __init__(
        self,
        path: str,
        *,
        batch: int = 4,
        max_tokens: int = 1024,
        deadline: float = 600.0,
        device: str | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.path = path
        self.name = f"hf:{path}"
        self.budget = budget or Budget()
        self.batch = batch
        self.concurrency = 2 * batch
        self.max_tokens = max_tokens
        self.deadline = deadline
        self.device = device
        self._queue: list[tuple[CompletionRequest, asyncio.Future[Completion]]] = []
        self._runner: asyncio.Task[None] | None = None

    def identity(self) -> Mapping[str, Any]:
        """The model file or name, and how long a reply may be; decoding is greedy."""
        stamp = Path(self.path).stat().st_size if Path(self.path).is_file() else 0
        return {"dialect": "hf", "model": self.path, "size": stamp, "max_tokens": self.max_tokens}

    async def complete(self, order: CompletionRequest) -> Completion:
        """One completion, in a batch with those that wait beside it."""
        await self.budget.admit(0.0)
        done: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        self._queue.append((order, done))
        if self._runner is None or self._runner.done():
            self._runner = asyncio.create_task(self._run())
        try:
            async with asyncio.timeout(self.deadline):
                return await done
        except TimeoutError:
            raise JudgeFailed("transport", f"no reply within {self.deadline:g} s") from None

    async def close(self) -> None:
        """Stop running; the loaded model stays for the next judge of this process."""
        if self._runner is not None and not self._runner.done():
            self._runner.cancel()

    async def _run(self) -> None:
        await asyncio.sleep(0)  # let the questions of this moment arrive
        while self._queue:
            batch, self._queue = self._queue[: self.batch], self._queue[self.batch :]
            try:
                written = await asyncio.to_thread(self._generate, [order for order, _ in batch])
            except Exception as broken:
                failure = _failure(broken)
                for _, done in batch:
                    if not done.done():
                        done.set_exception(failure)
                continue
            for (_, done), completion in zip(batch, written, strict=True):
                if not done.done():
                    done.set_result(completion)

    def _generate(self, orders: Sequence[CompletionRequest]) -> list[Completion]:
        import torch

        tokenizer, model = load(self.path, "text", self.device)
        prompts = [_chat(tokenizer, order) for order in orders]
        inputs = tokenizer(prompts, return_tensors="pt", padding=True, add_special_tokens=False)
        inputs = {name: value.to(model.device) for name, value in inputs.items()}
        limit = self.max_tokens * max(order.length_factor for order in orders)
        with torch.inference_mode():
            output = model.generate(
                **inputs, max_new_tokens=limit, do_sample=False, pad_token_id=tokenizer.pad_token_id
            )
        start = inputs["input_ids"].shape[1]
        read = inputs["attention_mask"].sum(dim=1).tolist()
        return [
            _completion(tokenizer, row[start:].tolist(), int(count))
            for row, count in zip(output, read, strict=True)
        ]


class LocalEmbeddings:
    """Mean-pooled vectors of a transformers encoder; answers `embed` and nothing else."""

    batch = 16
    concurrency = 1
    local = True

    def __init__(self, path: str, *, device: str | None = None) -> None:
        self.path = path
        self.name = f"hf:{path}"
        self.device = device

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """The model file or name."""
        return {"dialect": "hf embeddings", "model": self.path}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Vectors for the texts of each Ask."""
        if any(ask.kind != "embed" for ask in asks):
            reason = f"{self.name} embeds texts and answers no questions"
            return [JudgeFailed("refusal", reason) for _ in asks]
        texts = [text or " " for ask in asks for text in ask.values["texts"]]
        try:
            vectors = iter(await asyncio.to_thread(self._embed, texts))
        except RagstoneError:
            raise
        except Exception as broken:
            return [_failure(broken) for _ in asks]
        return [Reply({"vectors": [next(vectors) for _ in ask.values["texts"]]}) for ask in asks]

    async def close(self) -> None:
        """Nothing to let go of: the loaded model stays for the next judge of this process."""

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        import torch

        tokenizer, model = load(self.path, "vectors", self.device)
        inputs = tokenizer(list(texts), return_tensors="pt", padding=True, truncation=True)
        inputs = {name: value.to(model.device) for name, value in inputs.items()}
        with torch.inference_mode():
            states = model(**inputs).last_hidden_state
        mask = inputs["attention_mask"].unsqueeze(-1)
        pooled = (states * mask).sum(dim=1) / mask.sum(dim=1)
        return [[float(x) for x in row] for row in pooled.float().tolist()]


def check_installed(path: str) -> None:
    """Complain before anything is asked: of the missing extra, of a file that is not there."""
    if not all(find_spec(name) for name in ("torch", "transformers")):
        raise MissingExtra(f"hf:{path}", "hf")
    if (path.endswith(".gguf") or path.startswith((".", "/", "~"))) and not Path(path).exists():
        raise RagstoneError(
            f"there is no model at {path!r}; name a folder, a .gguf file or a hub name"
        )


def load(path: str, task: str, device: str | None) -> tuple[Any, Any]:
    """Tokenizer and model, loaded once a process; a `.gguf` file is read as it is."""
    known = _LOADED.get((path, task))
    if known is not None:
        return known
    import torch
    import transformers

    place, more = path, {}
    if path.endswith(".gguf"):
        place, more = str(Path(path).parent), {"gguf_file": Path(path).name}
    kind = transformers.AutoModelForCausalLM if task == "text" else transformers.AutoModel
    tokenizer = transformers.AutoTokenizer.from_pretrained(place, padding_side="left", **more)
    model = kind.from_pretrained(place, torch_dtype="auto", **more)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).eval()
    _LOADED[path, task] = (tokenizer, model)
    return tokenizer, model


def _chat(tokenizer: Any, order: CompletionRequest) -> str:
    messages = [
        {"role": "system", "content": order.system},
        {"role": "user", "content": order.user},
    ]
    if not tokenizer.chat_template:
        return f"{order.system}\n\n{order.user}\n\n"
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))


def _completion(tokenizer: Any, tokens: list[int], read: int) -> Completion:
    ends = {tokenizer.eos_token_id, tokenizer.pad_token_id}
    end = next((n for n, token in enumerate(tokens) if token in ends), None)
    text = tokenizer.decode(tokens[:end], skip_special_tokens=True)
    wrote = len(tokens) if end is None else end
    return Completion(text, "length" if end is None else "stop", Usage(1, read, wrote))


def _failure(broken: Exception) -> JudgeFailed:
    words = " ".join(str(broken).split())[:200]
    return JudgeFailed("transport", f"the local model failed: {type(broken).__name__}: {words}")
