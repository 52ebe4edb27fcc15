"""`questions`: write questions that an answer would answer, and say whether it is evasive."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from ragstone.asks.aspects import ask_covered
from ragstone.asks.choices import (
    Deciding,
    LocalCode,
    build_request,
    fence_texts,
    read_yes,
)
from ragstone.asks.fences import fence
from ragstone.asks.kind import Kind, register
from ragstone.asks.protocol import (
    PromptBatch,
    WholeBatch,
    WholeSpec,
)
from ragstone.asks.rows import (
    list_messages,
)
from ragstone.asks.schemas import BOOLEAN, STRING, array_of, object_of
from ragstone.asks.types import Ask
from ragstone.errors import JudgeFailed
from ragstone.locale.messages import compose
from ragstone.text.words import fold_text
from ragstone.types import ChatMessage


def questions(
    answer: str,
    *,
    question: str | None = None,
    history: Sequence[ChatMessage] = (),
    count: int = 3,
    language: str | None = None,
) -> Ask:
    """Write questions that the answer would answer, and say whether it is evasive.

    `question` is the one that was asked, after the messages of `history`, for judges that write none and reply with `addresses` instead. A judge that
    writes questions must not be shown it."""
    values: dict[str, Any] = {"answer": answer, "count": count}
    if question is not None:
        values["question"] = question
    if history:
        values["history"] = list_messages(history)
    return Ask("questions", values, QUESTIONS, language)


QUESTIONS = object_of(evasive=BOOLEAN, questions=array_of(STRING))


class QuestionsSpec(WholeSpec):
    """Questions that an answer would answer: as many as wanted, all different."""

    prompt = "questions"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the answer."""
        answer = fence(nonce, "answer", self.ask.values["answer"])
        values = {"answer": answer, "count": str(self.ask.values["count"])}
        return WholeBatch(self, values, nonce)

    def find_gap(self, value: Any) -> str:
        """Return whether there are too few or too many questions, or one twice."""
        count = self.ask.values["count"]
        given = [fold_text(question) for question in value["questions"]]
        if not all(given):
            return compose("question_empty")
        if value["evasive"] and len(given) <= count:
            return ""  # the metric is settled; the questions do not matter
        if len(given) != count:
            return compose("questions_given", given=len(given), wanted=count)
        return compose("question_twice") if len(set(given)) < len(given) else ""


def choose_questions(ask: Ask, code: LocalCode) -> Deciding:
    """Ask whether the answer is evasive, and if not, whether it tells what the question asks for."""
    if code.reply.get("evasive"):  # recognised without a judge
        return {"evasive": True, "questions": [], "addresses": []}
    prompt = code.load_prompt("choose_evasive")
    request = build_request(prompt, {"answer": fence_texts(ask.values["answer"])})
    (choice,) = yield (request,)
    if read_yes(choice, request)[0]:
        return {"evasive": True, "questions": [], "addresses": []}
    question = ask.values.get("question", "").strip()
    if not question:
        raise JudgeFailed("unsupported", "questions_unsupported")
    (request,) = ask_covered(ask, [question], code)
    (choice,) = yield (request,)
    addresses, chance = read_yes(choice, request)
    chance = float(addresses) if chance is None else chance
    return {"evasive": False, "addresses": [{"part": question, "probability": chance}]}


KIND = register(
    Kind(
        "questions",
        lambda language: questions("x", language=language),
        spec=QuestionsSpec,
        choose=choose_questions,
        prompts=("choose_evasive", "choose_covered"),
        by_first=True,
        has_scale=True,
    )
)
