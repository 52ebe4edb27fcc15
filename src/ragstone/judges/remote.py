"""Models and embeddings behind an HTTP API: dialect, parameters, price, and what a server turned out to refuse."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges.dialects import Dialect, Mode, OpenAI
from ragstone.judges.http import JsonClient, MalformedReply, RequestRejected
from ragstone.judges.model_judge import Completion, CompletionRequest, Deadline
from ragstone.judges.prices import Price, compute_usage, estimate_usd
from ragstone.types import Usage


@dataclass(slots=True)
class RejectedFeatures:
    """What a model at a URL refused in this process; it is not sent again."""

    dropped: set[str] = field(default_factory=set)
    step: int = 0
    """How far its dialect's modes have been stepped down."""


_LEARNED: dict[tuple[str, str, str], RejectedFeatures] = {}


class RemoteModel:
    """A language model behind an HTTP API."""

    def __init__(
        self,
        dialect: Dialect,
        model: str,
        client: JsonClient,
        *,
        parameters: Mapping[str, Any],
        price: Price | None = None,
        deadline: float = 300.0,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.dialect = dialect
        self.model = model
        self.client = client
        self.name = f"{dialect.name}:{model}"
        self.concurrency = client.limiter.limit
        self.deadline = deadline
        self.notes = notes
        self.price = price
        self.parameters = {**dialect.defaults, **parameters}
        key = (dialect.name, client.place.url, model)
        self._learned = _LEARNED.setdefault(key, RejectedFeatures())
        self._usual_output = 600.0
        """Running mean of the tokens written, to estimate what a call will cost."""

    def identity(self) -> Mapping[str, Any]:
        """Dialect, host, model and parameters."""
        return {
            "dialect": self.dialect.name,
            "base_url": self.client.place.url,
            "model": self.model,
            "parameters": self.parameters,
        }

    async def complete(self, order: CompletionRequest) -> Completion:
        """One completion; a parameter that the model refuses is dropped for good."""
        sent: list[Mode] = []

        def body() -> Any:
            sent.append(self.dialect.modes[self._learned.step])
            return self.dialect.body(self.model, order, self._sent(order), sent[-1])

        for _ in range(2 + len(self.parameters) + len(self.dialect.modes)):
            try:
                return await self._call(body, order)
            except RequestRejected as refused:
                if not self._yielded(refused, sent[-1]):
                    said = f"HTTP {refused.status}: {refused.message}"
                    raise JudgeFailed("transport", said) from None
        raise JudgeFailed("transport", f"{self.name} refuses every form of the question")

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def _call(self, body: Callable[[], Any], order: CompletionRequest) -> Completion:
        guess = estimate_usd(
            self.price, len(order.system) + len(order.user), int(self._usual_output)
        )
        written = await self.client.post(
            self.dialect.path(self.model), body, self.dialect.read, order.deadline, guess
        )
        usage = compute_usage(self.price, written.input_tokens, written.output_tokens)
        self.client.budget.settle(guess, usage)
        self._usual_output += 0.1 * (written.output_tokens - self._usual_output)
        return Completion(written.text, written.finish, usage)

    def _sent(self, order: CompletionRequest) -> dict[str, Any]:
        """The parameters that the model accepts, the length stretched if wanted."""
        sent = {
            k: v
            for k, v in self.parameters.items()
            if k not in self._learned.dropped and v is not None
        }
        if order.length_factor > 1 and self.dialect.length in sent:
            sent[self.dialect.length] *= order.length_factor
        return sent

    def _yielded(self, refused: RequestRejected, mode: Mode) -> bool:
        """Whether something was dropped because of the refusal, so that asking again makes sense."""
        words = f"{refused.parameter} {refused.message}".lower()
        for name in sorted(self.parameters, key=len, reverse=True):
            if name.lower() in words or _snake(name) in words:
                self._learned.dropped.add(name)
                return True
        if not any(word in words for word in _ABOUT_FORM) or mode == self.dialect.modes[-1]:
            return False
        # calls under way at once are refused at once: step down once for all of them
        if self.dialect.modes[self._learned.step] == mode:
            self._learned.step += 1
        return True


_ABOUT_FORM = (
    "response_format", "json_schema", "json_object", "output_config", "responsejsonschema",
    "response_json_schema", "responsemimetype", "response_mime_type", "response mime type",
    "structured output", "schema", "grammar", "json mode",
)  # fmt: skip


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


class RemoteEmbeddings:
    """Embeddings behind an OpenAI-compatible endpoint; answers `embed` and nothing else."""

    batch = 1
    local = False

    def __init__(
        self, model: str, client: JsonClient, *, price: Price | None = None, deadline: float = 300.0,
        parameters: Mapping[str, Any] | None = None, owner: bool = True,
    ) -> None:  # fmt: skip
        self.model = model
        self.client = client
        self.name = f"openai:{model}"
        self.concurrency = client.limiter.limit
        self.price = price
        self.deadline = deadline
        self.parameters = dict(parameters or {})
        self._owner = owner
        self._identity: Mapping[str, Any] | None = None

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Host, model and parameters."""
        if self._identity is None:
            self._identity = {
                "dialect": f"{OpenAI.name} embeddings",
                "base_url": self.client.place.url,
                "model": self.model,
                "parameters": self.parameters,
            }
        return self._identity

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Vectors for the texts of each Ask."""
        if len(asks) == 1:
            return [await self._answer(asks[0])]
        return list(await asyncio.gather(*map(self._answer, asks)))

    async def close(self) -> None:
        """Close the connections, unless they are another's."""
        if self._owner:
            await self.client.close()

    async def _answer(self, ask: Ask) -> Answered:
        if ask.kind != "embed":
            return JudgeFailed("refusal", f"{self.name} embeds texts and answers no questions")
        texts = [text or " " for text in ask.values["texts"]]
        guess = estimate_usd(self.price, sum(map(len, texts)), 0)
        try:
            vectors, usage = await self.client.post(
                "/embeddings",
                lambda: {"model": self.model, "input": texts, **self.parameters},
                lambda reply: self._read(reply, len(texts)),
                Deadline(self.deadline),
                guess,
            )
        except (JudgeFailed, OutOfBudget) as failed:
            return failed
        except RequestRejected as refused:
            return JudgeFailed("transport", f"HTTP {refused.status}: {refused.message}")
        self.client.budget.settle(guess, usage)
        return Reply({"vectors": vectors}, usage)

    def _read(self, reply: Any, count: int) -> tuple[list[list[float]], Usage]:
        rows = reply.get("data") if isinstance(reply, dict) else None
        if not isinstance(rows, list) or len(rows) != count:
            raise MalformedReply(f"the server's reply does not hold {count} embeddings")
        try:
            ordered = sorted(rows, key=lambda row: int(row["index"]))
            vectors = [_vector(row["embedding"]) for row in ordered]
            places = [int(row["index"]) for row in ordered]
        except (TypeError, KeyError, ValueError):
            raise MalformedReply(
                "the server's embeddings are not lists of finite numbers"
            ) from None
        if places != list(range(count)) or len({len(v) for v in vectors}) > 1 or not vectors[0]:
            raise MalformedReply("the server's embeddings do not fit together")
        usage = reply.get("usage") or {}
        tokens = usage.get("prompt_tokens", 0) if isinstance(usage, dict) else 0
        return vectors, compute_usage(self.price, tokens if isinstance(tokens, int) else 0, 0)


def _vector(row: Any) -> list[float]:
    # one sum shows what is no number or not finite, at a tenth of the price of looking at each
    if row.__class__ is list and math.isfinite(sum(row, 0.0)):
        return row
    numbers = list(map(float, row))
    if not all(map(math.isfinite, numbers)):
        raise ValueError("not finite")
    return numbers
