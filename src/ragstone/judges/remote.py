"""Language models and embeddings behind an HTTP API."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges.completion import Completion, CompletionRequest, Deadline
from ragstone.judges.dialects import Dialect, OutputMode
from ragstone.judges.dialects.dialect import as_object, read_count
from ragstone.judges.embedding_probe import PROBE_TEXTS, PROBE_VERSION, remove_probe
from ragstone.judges.http import JsonClient, MalformedReply, RequestRejected, describe_status
from ragstone.judges.prices import Price, compute_usage, estimate_usd
from ragstone.types import Usage

FIRST_OUTPUT_TOKENS = 600.0
"""Output tokens a call is expected to cost before any was made."""


@dataclass(slots=True)
class RejectedFeatures:
    """What a model at a URL rejected in this process; it is not sent again."""

    parameters: set[str] = field(default_factory=set)
    mode_index: int = 0
    """Index into the dialect's output modes: those before it were rejected."""


_REJECTED: dict[tuple[str, str, str], RejectedFeatures] = {}
"""By dialect, base URL and model, so that every judge of this process profits."""


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
        identity: str | None = None,
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
        self._place = _to_place(client, model, identity)
        key = (dialect.name, client.base_url.join(""), model)
        self._rejected = _REJECTED.setdefault(key, RejectedFeatures())
        self._mean_output_tokens = FIRST_OUTPUT_TOKENS
        """Running mean, to estimate the price of the next call."""

    def identity(self) -> Mapping[str, Any]:
        """Return dialect, host and model or the name that the user gave them, and parameters."""
        return {"dialect": self.dialect.name, **self._place, "parameters": self.parameters}

    async def complete(self, request: CompletionRequest) -> Completion:
        """Complete one prompt; a parameter or output mode that the model rejects is dropped for good."""
        # filled when a body is built, which may be long after the call: the client waits for a free slot
        sent_modes: list[OutputMode] = []

        def build_body() -> Any:
            modes = self.dialect.modes
            mode = "text" if request.schema is None else modes[self._rejected.mode_index]
            sent_modes.append(mode)
            return self.dialect.body(self.model, request, self._select_parameters(request), mode)

        # each rejection drops one parameter or one mode, so that this ends
        for _ in range(2 + len(self.parameters) + len(self.dialect.modes)):
            try:
                return await self._call(build_body, request)
            except RequestRejected as rejection:
                if not self._drop_rejected(rejection, sent_modes[-1]):
                    reason = describe_status(rejection.status, rejection.message)
                    raise JudgeFailed("transport", reason) from None
        raise JudgeFailed("transport", "form_refused", judge=self.name)

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def _call(self, build_body: Callable[[], Any], request: CompletionRequest) -> Completion:
        characters = len(request.system) + len(request.user)
        estimate = estimate_usd(self.price, characters, int(self._mean_output_tokens))
        reply = await self.client.post(
            self.dialect.path(self.model),
            build_body,
            self.dialect.parse_reply,
            request.deadline,
            estimate,
        )
        usage = compute_usage(self.price, reply.input_tokens, reply.output_tokens)
        self.client.budget.settle(estimate, usage)
        self._mean_output_tokens += 0.1 * (reply.output_tokens - self._mean_output_tokens)
        return Completion(reply.text, reply.finish, usage, reply.first_tokens)

    def _select_parameters(self, request: CompletionRequest) -> dict[str, Any]:
        """Return the parameters that were not rejected, the token limit multiplied if wanted."""
        rejected, needs = self._rejected.parameters, self.dialect.parameter_needs
        accepted = {
            name: value
            for name, value in self.parameters.items()
            if value is not None and not rejected & {name, needs.get(name)}
        }
        limit = self.dialect.length_parameter
        if limit in accepted:
            accepted[limit] = request.limit_tokens(accepted[limit])
        return accepted

    def _drop_rejected(self, rejection: RequestRejected, mode: OutputMode) -> bool:
        """Drop what the server rejected; False when nothing can be dropped and asking again is in vain."""
        parameter = self.dialect.find_rejected_parameter(rejection, self.parameters)
        if parameter is not None:
            self._rejected.parameters.add(parameter)
            return True
        if not self.dialect.rejects_output_mode(rejection) or mode == self.dialect.modes[-1]:
            return False
        # concurrent calls are rejected together: step down once for all of them
        if self.dialect.modes[self._rejected.mode_index] == mode:
            self._rejected.mode_index += 1
        return True


class RemoteEmbeddings:
    """Embeddings behind an OpenAI-compatible endpoint; answers `embed` Asks and no others."""

    batch = 1
    local = False

    def __init__(
        self,
        model: str,
        client: JsonClient,
        *,
        price: Price | None = None,
        deadline: float = 300.0,
        parameters: Mapping[str, Any] | None = None,
        identity: str | None = None,
    ) -> None:
        self.model = model
        self.client = client
        self.name = f"openai:{model}"
        self.concurrency = client.limiter.limit
        self.price = price
        self.deadline = deadline
        self.parameters = dict(parameters or {})
        self._identity: Mapping[str, Any] = {
            "dialect": "openai embeddings",
            **_to_place(client, model, identity),
            "parameters": self.parameters,
            "probe": PROBE_VERSION,
        }

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """Return host and model or the name that the user gave them, and parameters."""
        return self._identity

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """Embed the texts of each Ask."""
        if len(asks) == 1:  # the usual case, without the cost of a task
            return [await self._answer(asks[0])]
        return list(await asyncio.gather(*map(self._answer, asks)))

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def _answer(self, ask: Ask) -> Answered:
        if ask.kind != "embed":
            return JudgeFailed("refusal", "only_embeds", judge=self.name)
        # servers reject an empty text
        texts = [text or " " for text in (*ask.values["texts"], *PROBE_TEXTS)]
        estimate = estimate_usd(self.price, sum(map(len, texts)), 0)
        try:
            vectors, usage = await self.client.post(
                "/embeddings",
                lambda: {"model": self.model, "input": texts, **self.parameters},
                lambda reply: self._parse_reply(reply, len(texts)),
                Deadline(self.deadline),
                estimate,
            )
        except (JudgeFailed, OutOfBudget) as failure:
            return failure
        except RequestRejected as rejection:
            return JudgeFailed("transport", describe_status(rejection.status, rejection.message))
        self.client.budget.settle(estimate, usage)
        try:
            return Reply({"vectors": remove_probe(vectors)}, usage)
        except JudgeFailed as failure:
            failure.usage = usage
            return failure

    def _parse_reply(self, reply: Any, count: int) -> tuple[list[list[float]], Usage]:
        rows = reply.get("data") if isinstance(reply, dict) else None
        if not isinstance(rows, list) or len(rows) != count:
            raise MalformedReply("embeddings_miscounted", n=count)
        try:
            ordered = sorted(rows, key=lambda row: int(row["index"]))
            vectors = [_parse_vector(row["embedding"]) for row in ordered]
            indices = [int(row["index"]) for row in ordered]
        except (TypeError, KeyError, ValueError, OverflowError):
            raise MalformedReply("embeddings_not_numbers") from None
        if indices != list(range(count)) or len({len(v) for v in vectors}) > 1 or not vectors[0]:
            raise MalformedReply("embeddings_unlike")
        tokens = read_count(as_object(reply.get("usage")), "prompt_tokens")
        return vectors, compute_usage(self.price, tokens, 0)


def _to_place(client: JsonClient, model: str, identity: str | None) -> dict[str, str]:
    """What replies are cached under: URL and model, or the name that a user gave the model wherever it is served."""
    if identity is not None:
        return {"identity": identity.strip()}
    place = {"base_url": client.base_url.url, "model": model}
    if hidden := client.base_url.hash_hidden():
        place["query and login"] = hidden
    return place


def _parse_vector(row: Any) -> list[float]:
    # one sum finds whatever is no number or not finite, ten times as fast as a test of each number
    if row.__class__ is list and math.isfinite(sum(row, 0.0)):
        return row
    numbers = list(map(float, row))
    if not all(map(math.isfinite, numbers)):
        raise ValueError("not finite")
    return numbers
