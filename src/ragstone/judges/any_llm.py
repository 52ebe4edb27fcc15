"""`any-llm:PROVIDER:MODEL`: Bedrock, Vertex, Azure, Mistral, gateways and others, by the clients that any-llm knows."""

from __future__ import annotations

from typing import Any

from ragstone.errors import MissingExtra


class AnyLLM:
    """A model by its provider's name, as `adapt_model` takes it."""

    def __init__(self, name: str) -> None:
        try:
            import any_llm  # noqa: F401 - to say at once what is missing
        except ImportError:
            raise MissingExtra(f"the judge any-llm:{name}", "any-llm") from None
        self.model_name = name

    async def complete(self, **request: Any) -> Any:
        """One chat completion in OpenAI's form, whoever makes it."""
        from any_llm import acompletion

        return await acompletion(model=self.model_name, **request)
