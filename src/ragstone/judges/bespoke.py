"""bespoke-minicheck behind Ollama: a language model that says Yes or No to a document and a claim, asked as it was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.asks.choices import Choice, ChoiceRequest
from ragstone.judges.choices import PairClasses, PairOutcome, PairRequest
from ragstone.judges.prompted_choices import PromptedChoices

MODEL = "bespoke-minicheck"
"""Its name at Ollama (ollama.com/library/bespoke-minicheck), whatever the tag; the system message comes with it."""
OPTIONS = ("yes", "no")


class BespokeMiniCheck:
    """The model as a classifier of pairs."""

    batch = 1

    def __init__(self, choices: PromptedChoices) -> None:
        self.choices = choices
        self.name = choices.name
        self.concurrency = choices.concurrency
        self.notes = choices.notes

    def identity(self) -> Mapping[str, Any]:
        """Return model and form."""
        return {**self.choices.identity(), "form": MODEL}

    async def classify(self, pairs: Sequence[PairRequest]) -> list[PairOutcome]:
        """Ask about each pair; without log-probabilities a yes counts as 1 and a no as 0."""
        requests = [
            ChoiceRequest("", "Document: " + "\n".join(pair.passages), f"\nClaim: {pair.claim}", OPTIONS)
            for pair in pairs
        ]  # fmt: skip
        return [
            _to_classes(choice) if isinstance(choice, Choice) else choice
            for choice in await self.choices.choose(requests)
        ]

    async def close(self) -> None:
        """Close the model's connections."""
        await self.choices.close()


def _to_classes(choice: Choice) -> PairClasses:
    said = choice.probabilities or {option: float(option == choice.option) for option in OPTIONS}
    return PairClasses({"supported": said["yes"], "not_found": said["no"]}, 1, choice.usage)
