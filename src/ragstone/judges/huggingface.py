"""Local Hugging Face models: loaded once per process, run in batches, on the GPU when there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from threading import Lock
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, MissingExtra, RagstoneError
from ragstone.judges.completion import Completion, CompletionRequest
from ragstone.judges.embedding_probe import PROBE_TEXTS, PROBE_VERSION, remove_probe
from ragstone.judges.limits import Budget
from ragstone.judges.local.thread import to_failure
from ragstone.judges.local.weights import (
    ModelNotFound,
    find_model,
    fingerprint_files,
    is_classifier,
    list_parts,
    read_json,
)
from ragstone.types import Usage

_LOADED: dict[tuple[str, str], tuple[Any, Any]] = {}
"""Tokenizer and model by name and task (see `load`); the device of the first load stays."""
_LOAD_LOCK = Lock()


class LocalModel:
    """A causal language model of transformers; requests that wait at the same time are run as one batch."""

    notes: tuple[str, ...] = ()

    def __init__(
        self,
        path: str,
        *,
        batch: int = 4,
        max_tokens: int = 1024,
        deadline: float = 600.0,
        device: str | None = None,
        threads: int | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.path = path
        self.name = f"hf:{path}"
        self.threads = threads
        self.budget = budget or Budget()
        self.batch = batch
        self.concurrency = 2 * batch
        self.max_tokens = max_tokens
        self.deadline = deadline
        self.device = device
        self._queue: list[tuple[CompletionRequest, asyncio.Future[Completion]]] = []
        self._runner: asyncio.Task[None] | None = None

    def identity(self) -> Mapping[str, Any]:
        """Return the model, the token limit and the form of a request; decoding is greedy."""
        return {**identify_chat(self.path), "max_tokens": self.max_tokens}

    async def complete(self, request: CompletionRequest) -> Completion:
        """Complete one prompt, in a batch with the others that wait."""
        await self.budget.admit(0.0)
        done: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        self._queue.append((request, done))
        if self._runner is None or self._runner.done():
            self._runner = asyncio.create_task(self._run())
        try:
            async with asyncio.timeout(self.deadline):
                return await done
        except TimeoutError:
            raise JudgeFailed("transport", "no_reply_within", seconds=self.deadline) from None

    async def close(self) -> None:
        """Stop the batch runner; the loaded model stays for the next judge of this process."""
        if self._runner is not None and not self._runner.done():
            self._runner.cancel()

    async def _run(self) -> None:
        await asyncio.sleep(0)  # let the requests of this turn arrive
        while self._queue:
            # a request whose caller waits no longer is not generated for nobody
            waiting = [(request, done) for request, done in self._queue if not done.done()]
            batch, self._queue = waiting[: self.batch], waiting[self.batch :]
            if not batch:
                return
            try:
                completions = await asyncio.to_thread(
                    self._generate, [request for request, _ in batch]
                )
            except Exception as error:
                failure = to_failure(error)
                for _, done in batch:
                    if not done.done():
                        done.set_exception(failure)
                continue
            for (_, done), completion in zip(batch, completions, strict=True):
                if not done.done():
                    done.set_result(completion)

    def _generate(self, requests: Sequence[CompletionRequest]) -> list[Completion]:
        import torch

        tokenizer, model = load(self.path, "text", self.device, self.threads)
        prompts = [format_chat(tokenizer, request.system, request.user) for request in requests]
        inputs = tokenizer(prompts, return_tensors="pt", padding=True, add_special_tokens=False)
        inputs = {name: value.to(model.device) for name, value in inputs.items()}
        limit = max(request.limit_tokens(self.max_tokens) for request in requests)
        with torch.inference_mode():
            output = model.generate(
                **inputs, max_new_tokens=limit, do_sample=False, pad_token_id=tokenizer.pad_token_id
            )
        start = inputs["input_ids"].shape[1]
        input_tokens = inputs["attention_mask"].sum(dim=1).tolist()
        return [
            _to_completion(tokenizer, row[start:].tolist(), int(count))
            for row, count in zip(output, input_tokens, strict=True)
        ]


class LocalEmbeddings:
    """Mean-pooled vectors of a transformers encoder; answers `embed` Asks and no others."""

    batch = 16
    concurrency = 1
    local = True

    def __init__(self, path: str, *, device: str | None = None) -> None:
        self.path = path
        self.name = f"hf:{path}"
        self.device = device

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return the model."""
        model = identify(self.path)
        return {"dialect": "hf embeddings", "model": model, "probe": PROBE_VERSION}

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Embed the texts of each Ask."""
        if any(ask.kind != "embed" for ask in asks):
            return [JudgeFailed("refusal", "only_embeds", judge=self.name) for _ in asks]
        # an empty text may have no token to take the mean of
        texts = [text or " " for ask in asks for text in ask.values["texts"]]
        try:
            embedded = await asyncio.to_thread(self._embed, [*texts, *PROBE_TEXTS])
            vectors = iter(remove_probe(embedded))
        except RagstoneError:
            raise
        except JudgeFailed as failure:
            return [failure for _ in asks]
        except Exception as error:
            return [to_failure(error) for _ in asks]
        return [Reply({"vectors": [next(vectors) for _ in ask.values["texts"]]}) for ask in asks]

    async def close(self) -> None:
        """Do nothing: the loaded model stays for the next judge of this process."""

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


def check_installed(name: str) -> None:
    """Raise before anything is asked when the extra or the model is missing, or it is no language model."""
    if not all(find_spec(package) for package in ("torch", "transformers")):
        raise MissingExtra(f"hf:{name}", "hf")
    path = find_model("hf", name)
    if path is None or not (path / "config.json").exists():
        return
    if is_classifier(read_json(path / "config.json")):
        raise ModelNotFound(f"{name!r} is a classifier of pairs of texts; write nli:{name}")


def identify(name: str) -> str:
    """Return a hash of the model's files, wherever they lie, or the name of a hub model."""
    path = find_model("hf", name)
    if path is None:
        return name
    return fingerprint_files([path] if path.is_file() else list_parts(path))


def load(name: str, task: str, device: str | None, threads: int | None = None) -> tuple[Any, Any]:
    """Return tokenizer and model, loaded once per process; a `.gguf` file is read as it is.

    `task` is "text" for a language model or "vectors" for an encoder.

    The number of threads holds for all models of torch in this process: the last one given counts."""
    with _LOAD_LOCK:
        loaded = _LOADED.get((name, task))
        if loaded is None:
            loaded = _LOADED[name, task] = _load(name, task, device)
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    return loaded


def _load(name: str, task: str, device: str | None) -> tuple[Any, Any]:
    import torch
    import transformers

    path = find_model("hf", name)
    folder, options = name if path is None else str(path), {}
    if path is not None and path.is_file():
        folder, options = str(path.parent), {"gguf_file": path.name}
    model_class = transformers.AutoModelForCausalLM if task == "text" else transformers.AutoModel
    auto_tokenizer = transformers.AutoTokenizer
    with hide_progress() if path is not None else nullcontext():
        # on the left: what a language model writes must follow the prompt, not the padding
        tokenizer = auto_tokenizer.from_pretrained(folder, padding_side="left", **options)
        model, report = model_class.from_pretrained(
            folder, dtype="auto", output_loading_info=True, **options
        )
    if (
        task == "text" and report["missing_keys"]
    ):  # transformers would fill them with random numbers
        missing = sorted(report["missing_keys"])[0]
        raise ModelNotFound(f"{name!r} is no language model: its weights lack {missing!r}")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    model.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).eval()
    return tokenizer, model


@contextmanager
def hide_progress() -> Iterator[None]:
    """Hide the progress bar that transformers shows for each file it reads; not for a model that is downloaded."""
    from transformers.utils import logging

    was_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_shown:
            logging.enable_progress_bar()


CHAT_FORM = 1
"""How `format_chat` writes a request. Raise it when another text is sent: from 2 on it is part of the cache key."""


def identify_chat(path: str) -> dict[str, Any]:
    """Return the model and how requests to it are written, for the cache key of every judge that calls `format_chat`."""
    form = {"chat_form": CHAT_FORM} if CHAT_FORM > 1 else {}
    return {"dialect": "hf", "model": identify(path), **form}


def format_chat(tokenizer: Any, system: str, user: str) -> str:
    """Return the prompt in the model's own chat format; instructions go first where there is none.

    A change of the text raises CHAT_FORM."""
    whole = f"{system}\n\n{user}" if system else user
    if not tokenizer.chat_template:
        return f"{whole}\n\n"
    if not system:
        return _apply_template(tokenizer, [{"role": "user", "content": user}])
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    try:
        return _apply_template(tokenizer, messages)
    except Exception as error:  # some templates (Gemma 2) raise for a system message
        if "system" not in str(error).lower():
            raise
        return _apply_template(tokenizer, [{"role": "user", "content": whole}])


def _apply_template(tokenizer: Any, messages: list[dict[str, str]]) -> str:
    # models that think aloud by default (Qwen3) would not begin with the reply
    return str(
        tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
    )


def _to_completion(tokenizer: Any, tokens: list[int], input_tokens: int) -> Completion:
    end_tokens = {tokenizer.eos_token_id, tokenizer.pad_token_id}
    end = next((n for n, token in enumerate(tokens) if token in end_tokens), None)
    text = tokenizer.decode(tokens[:end], skip_special_tokens=True)
    output_tokens = len(tokens) if end is None else end
    return Completion(
        text, "length" if end is None else "stop", Usage(1, input_tokens, output_tokens)
    )
