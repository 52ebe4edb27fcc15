"""Language models that people hold in their hands: chat models of LangChain, LlamaIndex, Haystack, DSPy and pydantic-ai, and
clients of OpenAI. Recognised by what they have; a package is imported only when a model of it is asked."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ragstone.errors import JudgeFailed, RagstoneError
from ragstone.judges.any_llm import AnyLLM
from ragstone.judges.completion import Completion, CompletionRequest, Deadline, Finish
from ragstone.judges.limits import Budget
from ragstone.judges.prices import Price, compute_usage, estimate_usd

Wrote = tuple[str, int, int, Finish]
"""Text, input tokens, output tokens, why it stopped."""

EXPECTED_OUTPUT_TOKENS = 600
"""For the estimate of a call's price."""

PUBLIC_SETTINGS = (
    "temperature",
    "top_p",
    "seed",
    "max_tokens",
    "num_predict",
    "base_url",
    "api_base",
)
"""Attributes of a model that change its replies and are no secrets."""


class HeldModel:
    """An object of another framework as a language model."""

    def __init__(
        self,
        target: Any,
        call: Callable[[CompletionRequest], Awaitable[Wrote]],
        framework: str,
        *,
        budget: Budget,
        identity: str | None = None,
        price: Price | None = None,
        concurrency: int = 8,
        deadline: float = 300.0,
    ) -> None:
        self._call = call
        self._budget = budget
        self.price = price
        model = find_model_name(target)
        self.name = f"{framework}:{identity or model}"
        self.concurrency = concurrency
        self.deadline = deadline
        self.notes: tuple[str, ...] = ()
        settings = {name: _to_plain(getattr(target, name, None)) for name in PUBLIC_SETTINGS}
        self._identity: Mapping[str, Any] = (
            {"identity": identity}
            if identity
            else {
                "object": f"{type(target).__module__}.{type(target).__qualname__}",
                "model": model,
                "settings": {name: value for name, value in settings.items() if value is not None},
            }
        )

    def identity(self) -> Mapping[str, Any]:
        """Return the class of the object with model and settings, or the name that the user gave it."""
        return self._identity

    async def complete(self, request: CompletionRequest) -> Completion:
        """Have the object complete one prompt; whatever it raises is a failed judgement."""
        estimate = estimate_usd(
            self.price, len(request.system) + len(request.user), EXPECTED_OUTPUT_TOKENS
        )
        await self._budget.admit(estimate)
        limit = min(request.deadline.remaining_seconds(), self._budget.remaining_seconds())
        try:
            async with asyncio.timeout(limit) as clock:
                text, given, written, finish = await self._call(request)
        except JudgeFailed:
            raise
        except Exception as raised:
            if clock.expired():
                raise JudgeFailed(
                    "transport", "judge_too_slow", judge=self.name, seconds=self.deadline
                ) from None
            raise JudgeFailed(
                "transport", "judge_raised_named",
                judge=self.name, error=type(raised).__name__, text=str(raised)[:300],
            ) from None  # fmt: skip
        usage = compute_usage(self.price, given, written)
        self._budget.settle(estimate, usage)
        return Completion(text, finish, usage)

    async def close(self) -> None:
        """Leave the object open: it is its owner's."""


def adapt_model(
    target: Any, model: str = ""
) -> tuple[str, Callable[[CompletionRequest], Awaitable[Wrote]]] | None:
    """Return the framework of a model and a function that completes a prompt with it; None for anything else.

    `model` names the model to a client, which holds none itself."""
    for framework, fits, adapt in ADAPTERS:
        if fits(target):
            return framework, adapt(target, model)
    return None


def is_model_object(target: Any) -> bool:
    """Whether an object is a language model that `adapt_model` knows."""
    return any(fits(target) for _, fits, _ in ADAPTERS)


def takes_schema(target: Any) -> bool:
    """Whether a model writes by a JSON schema; others are asked the plain question."""
    if _is_langchain(target):
        return _bind_schema(target, _PROBE) is not None
    return _is_openai(target) or _is_any_llm(target)


def find_model_name(target: Any) -> str:
    """The name of the model that an object holds; its class where it names none."""
    for name in ("model_name", "model", "model_id", "deployment_name"):
        value = getattr(target, name, None)
        if isinstance(value, str) and value:
            return value
    return type(target).__name__


def _has(target: Any, *names: str) -> bool:
    return not isinstance(target, type) and all(hasattr(target, name) for name in names)


def _to_plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else None


async def _call_either(function: Callable[..., Any], *given: Any, **more: Any) -> Any:
    """Await an async function; run another one in a thread."""
    if inspect.iscoroutinefunction(function):
        return await function(*given, **more)
    result = await asyncio.to_thread(function, *given, **more)
    return await result if inspect.isawaitable(result) else result


def _read_finish(reason: Any) -> Finish:
    text = str(reason or "").lower()
    if text in ("length", "max_tokens"):
        return "length"
    return "refusal" if text in ("content_filter", "refusal", "safety") else "stop"


def _read_counts(usage: Any) -> tuple[int, int]:
    """Input and output tokens of whatever a framework calls usage."""

    def read(*names: str) -> int:
        for name in names:
            value = usage.get(name) if isinstance(usage, Mapping) else getattr(usage, name, None)
            if isinstance(value, int):
                return value
        return 0

    if usage is None:
        return 0, 0
    return (
        read("input_tokens", "prompt_tokens", "request_tokens"),
        read("output_tokens", "completion_tokens", "response_tokens"),
    )


def _to_text(content: Any) -> str:
    """The text of a message whose content may come in parts."""
    if isinstance(content, list | tuple):
        parts = (
            p
            if isinstance(p, str)
            else p.get("text", "")
            if isinstance(p, Mapping)
            else getattr(p, "text", "")
            for p in content
        )
        return "".join(parts)
    return content if isinstance(content, str) else "" if content is None else str(content)


def _build_response_format(request: CompletionRequest) -> dict[str, Any]:
    schema = {"name": request.name, "schema": request.schema, "strict": True}
    return {"type": "json_schema", "json_schema": schema}


# ── one adapter a framework ──────────────────────────────────────────────────


def _adapt_langchain(target: Any, model: str) -> Callable[[CompletionRequest], Awaitable[Wrote]]:
    async def complete(request: CompletionRequest) -> Wrote:
        asked: Any = [("system", request.system), ("human", request.user)]
        if request.schema is not None and (bound := _bind_schema(target, request)) is not None:
            given = await bound.ainvoke(asked)
            message, parsed = given["raw"], given["parsed"]
            # by tools: the reply is the arguments of a call, not its text
            text = json.dumps(parsed) if isinstance(parsed, dict) else _to_text(message.content)
        else:
            message = await target.ainvoke(asked)
            text = _to_text(getattr(message, "content", message))
        details = getattr(message, "response_metadata", None) or {}
        finish = details.get("finish_reason") or details.get("stop_reason")
        return text, *_read_counts(getattr(message, "usage_metadata", None)), _read_finish(finish)

    return complete


def _bind_schema(target: Any, request: CompletionRequest) -> Any:
    """The chat model bound to the schema of the reply; None where it has no structured output."""
    if not hasattr(target, "with_structured_output"):
        return None
    try:
        schema = {"title": request.name, "description": request.name, **(request.schema or {})}
        return target.with_structured_output(schema, include_raw=True)
    except (NotImplementedError, ValueError, TypeError):
        return None


def _adapt_llama_index(target: Any, model: str) -> Callable[[CompletionRequest], Awaitable[Wrote]]:
    async def complete(request: CompletionRequest) -> Wrote:
        from llama_index.core.llms import ChatMessage

        messages = [
            ChatMessage(role="system", content=request.system),
            ChatMessage(role="user", content=request.user),
        ]
        reply = await target.achat(messages)
        raw = reply.raw
        usage = raw.get("usage") if isinstance(raw, Mapping) else getattr(raw, "usage", None)
        return reply.message.content or "", *_read_counts(usage), "stop"

    return complete


def _adapt_dspy(target: Any, model: str) -> Callable[[CompletionRequest], Awaitable[Wrote]]:
    async def complete(request: CompletionRequest) -> Wrote:
        messages = [
            {"role": "system", "content": request.system},
            {"role": "user", "content": request.user},
        ]
        replies = await target.acall(messages=messages)
        history = getattr(target, "history", None) or [{}]
        first = replies[0] if replies else ""
        text = first.get("text", "") if isinstance(first, Mapping) else first
        return text or "", *_read_counts(history[-1].get("usage")), "stop"

    return complete


def _adapt_haystack(target: Any, model: str) -> Callable[[CompletionRequest], Awaitable[Wrote]]:
    names = inspect.signature(target.run).parameters

    async def complete(request: CompletionRequest) -> Wrote:
        if "messages" in names:
            from haystack.dataclasses import ChatMessage

            messages = [
                ChatMessage.from_system(request.system),
                ChatMessage.from_user(request.user),
            ]
            result = await _call_either(getattr(target, "run_async", target.run), messages=messages)
            reply = result["replies"][0]
            meta = reply.meta or {}
            text = reply.text or ""
        else:
            result = await _call_either(target.run, prompt=f"{request.system}\n\n{request.user}")
            text, meta = result["replies"][0], (result.get("meta") or [{}])[0]
        return text, *_read_counts(meta.get("usage")), _read_finish(meta.get("finish_reason"))

    return complete


def _adapt_pydantic_ai(target: Any, model: str) -> Callable[[CompletionRequest], Awaitable[Wrote]]:
    async def complete(request: CompletionRequest) -> Wrote:
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

        parts = [SystemPromptPart(content=request.system), UserPromptPart(content=request.user)]
        held = getattr(target, "model", None) if hasattr(target, "toolsets") else target
        reply = await model_request(held, [ModelRequest(parts=parts)])
        text = "".join(
            getattr(part, "content", "") for part in reply.parts if part.part_kind == "text"
        )
        finish = _read_finish(getattr(reply, "finish_reason", None))
        return text, *_read_counts(reply.usage), finish

    return complete


def _adapt_openai(target: Any, model: str) -> Callable[[CompletionRequest], Awaitable[Wrote]]:
    if not model:
        raise RagstoneError(
            "an OpenAI client holds no model; write judge={'model': client, 'name': 'gpt-4o-mini'}"
        )

    return _complete_like_openai(target.chat.completions.create, {"model": model})


def _complete_like_openai(
    create: Callable[..., Any], fixed: Mapping[str, Any]
) -> Callable[[CompletionRequest], Awaitable[Wrote]]:
    """Complete prompts by a function that takes and gives what OpenAI's chat completions do."""

    async def complete(request: CompletionRequest) -> Wrote:
        more: dict[str, Any] = {"temperature": 0, **fixed}
        if request.schema is not None:
            more["response_format"] = _build_response_format(request)
        messages = [
            {"role": "system", "content": request.system},
            {"role": "user", "content": request.user},
        ]
        reply = await _call_either(create, messages=messages, **more)
        choice = reply.choices[0]
        finish = _read_finish(choice.finish_reason)
        return choice.message.content or "", *_read_counts(reply.usage), finish

    return complete


def _adapt_any_llm(target: Any, model: str) -> Callable[[CompletionRequest], Awaitable[Wrote]]:
    return _complete_like_openai(target.complete, {})


def _is_any_llm(target: Any) -> bool:
    return isinstance(target, AnyLLM)


def _is_langchain(target: Any) -> bool:
    return _has(target, "ainvoke", "agenerate_prompt")


def _is_llama_index(target: Any) -> bool:
    return _has(target, "achat", "acomplete", "metadata")


def _is_dspy(target: Any) -> bool:
    return _has(target, "acall", "history", "kwargs", "model")


def _is_pydantic_ai(target: Any) -> bool:
    return _has(target, "request_stream", "model_name") or _has(target, "run_sync", "toolsets")


def _is_openai(target: Any) -> bool:
    return _has(target, "chat", "with_options")


def _is_haystack(target: Any) -> bool:
    return _has(target, "run", "__haystack_input__")


_PROBE = CompletionRequest("", "", {"type": "object", "properties": {}}, "probe", Deadline(1.0))

ADAPTERS: tuple[tuple[str, Callable[[Any], bool], Callable[[Any, str], Any]], ...] = (
    ("langchain", _is_langchain, _adapt_langchain),
    ("llama_index", _is_llama_index, _adapt_llama_index),
    ("dspy", _is_dspy, _adapt_dspy),
    ("pydantic_ai", _is_pydantic_ai, _adapt_pydantic_ai),
    ("openai", _is_openai, _adapt_openai),
    ("haystack", _is_haystack, _adapt_haystack),
    ("any-llm", _is_any_llm, _adapt_any_llm),
)
"""Framework, whether an object is a model of it, and what completes prompts with it."""
