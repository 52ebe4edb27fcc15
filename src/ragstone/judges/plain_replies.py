"""Asks that a small model answers with one plain line: JSON and a nonce to be copied cost it more than the reply itself.

What the line says is proved by whoever asked. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ragstone.asks import Ask
from ragstone.errors import JudgeFailed
from ragstone.judges.completion import CompletionRequest, Deadline, LanguageModel
from ragstone.judges.fences import neutralize, to_one_line
from ragstone.prompts import Prompt, fill_placeholders
from ragstone.types import NO_USAGE

PLAIN_FIELDS = {"write_one": "question"}
"""Kind of Ask → the field of its reply that the line is."""
MAX_TOKENS = 64
"""Of a reply: one question."""
_MARKS = " \t\"'“”«»*"


class PlainSession:
    """Asks a model once for one line."""

    def __init__(
        self, model: LanguageModel, ask: Ask, load_prompt: Callable[[str], Prompt]
    ) -> None:
        self.model = model
        self.ask = ask
        self.prompt = load_prompt(ask.kind)
        self.usage = NO_USAGE

    async def run(self) -> Any:
        """Return the value of the reply; raises JudgeFailed or OutOfBudget. A line that is cut off is an empty one."""
        system, user = build_plain_prompt(self.ask, self.prompt)
        deadline = Deadline(self.model.deadline)
        completion = await self.model.complete(
            CompletionRequest(system, user, None, self.ask.kind, deadline, max_tokens=MAX_TOKENS)
        )
        self.usage = completion.usage
        if completion.finish == "refusal":
            raise JudgeFailed("refusal", "judge_declined")
        lines = completion.text.strip().splitlines()
        is_cut = completion.finish == "length" and len(lines) < 2
        line = "" if is_cut or not lines else lines[0]
        return {PLAIN_FIELDS[self.ask.kind]: _strip_marks(line)}


def build_plain_prompt(ask: Ask, prompt: Prompt) -> tuple[str, str]:
    """System and user message: the passage behind its heading, then the order."""
    shown, order = prompt.user.split("\n---\n")
    passage = neutralize(str(ask.values["passage"]).strip())
    heading = to_one_line(str(ask.values["heading"]))
    values = {"heading": heading, "passage": f"<<<\n{passage}\n>>>"}
    return prompt.system, f"{fill_placeholders(shown, values)}\n\n{order}"


def _strip_marks(line: str) -> str:
    """The line without the quotes that a model puts around it."""
    return line.strip(_MARKS)
