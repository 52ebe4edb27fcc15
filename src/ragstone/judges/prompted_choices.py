"""A language model that completes prompts, behind an HTTP API or in this process, asked for one token. Versioned by ROUTE_VERSION in judges/plain.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.asks.choices import Choice, ChoiceRequest
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.judges.choices import ChoiceOutcome, find_option, weigh_options
from ragstone.judges.completion import Completion, CompletionRequest, Deadline, LanguageModel


class PromptedChoices:
    """Puts the requests of one call one after another, so that a server's slot keeps their common prefix."""

    batch = 1

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.name = model.name
        self.concurrency = model.concurrency
        self.notes = model.notes
        self.price = getattr(model, "price", None)

    def identity(self) -> Mapping[str, Any]:
        """Return what the model says of itself."""
        return self.model.identity()

    async def choose(self, requests: Sequence[ChoiceRequest]) -> list[ChoiceOutcome]:
        """Answer the requests in turn; once the budget is spent, the rest is not sent."""
        chosen: list[ChoiceOutcome] = []
        for request in requests:
            chosen.append(await self._choose(request))
            if isinstance(chosen[-1], OutOfBudget):
                return chosen + [chosen[-1]] * (len(requests) - len(chosen))
        return chosen

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()

    async def _choose(self, request: ChoiceRequest) -> ChoiceOutcome:
        try:
            completion = await self.model.complete(
                CompletionRequest(
                    request.system,
                    request.prefix + request.question,
                    None,
                    "choice",
                    Deadline(self.model.deadline),
                )
            )
        except (JudgeFailed, OutOfBudget) as failure:
            return failure
        return read_choice(completion, request.options)


def read_choice(completion: Completion, options: Sequence[str]) -> ChoiceOutcome:
    """Return the option that a completion chooses: the likeliest one, or without probabilities the one it says."""
    if completion.finish == "refusal":
        failure = JudgeFailed("refusal", "judge_declined")
        failure.usage = completion.usage
        return failure
    weights = weigh_options(completion.first_tokens, options)
    if weights is not None:
        return Choice(max(options, key=weights.__getitem__), weights, completion.usage)
    option = find_option(completion.text, options)
    if option is not None:
        return Choice(option, None, completion.usage)
    failure = JudgeFailed(
        "unparseable",
        "no_option_chosen",
        options=", ".join(options),
        text=" ".join(completion.text.split())[:40],
    )
    failure.usage = completion.usage
    return failure
