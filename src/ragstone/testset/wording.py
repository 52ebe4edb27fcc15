"""Test sets with a small language model: rules make the items, and the model words those that ask for a heading as people would.

A model of one or two billion parameters cannot be trusted with more. What it writes stands in for the question of the
rules only if it has every word of the heading and hardly another one, so that it asks for all that stands below it;
else the question of the rules stays."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ragstone.asks import Reply, write_one
from ragstone.engine import AskBroker
from ragstone.errors import JudgeFailed, OutOfBudget
from ragstone.testset.generation import Generation
from ragstone.testset.items import Item, make_item_id
from ragstone.testset.offline import gate
from ragstone.testset.offline.frames import frame_home
from ragstone.testset.offline.page import Page, open_page
from ragstone.testset.question_terms import extract_content_stems
from ragstone.text.clause_words import to_word_set

WORDED = ("record:heading", "record:list")
"""How items were made that ask for a heading."""
MAX_WORDS = 16
MAX_NEW_STEMS = 1
"""Words of meaning of the section, besides those of its heading and of the page's name, that a question may have: with
more of them it asks for a part of the section."""
MAX_UNREACHED = 3
"""Calls in a row that do not reach the model before it is given up."""
_QUOTED = re.compile(r"[“«]([^”»]*)[”»]")
_ABOUT_TEXT = re.compile(
    r"\b(?:section|document|text|topic|purpose|heading|describe[sd]?|mention(?:ed|s)?|apartado|documento|texto|tema|propósito|objetivo|encabezado|menciona)\b",
    re.IGNORECASE,
)
"""Words of a question about a text, which nobody asks who wants to know something."""
_YOU = re.compile(r"\b(do|can|should|must|would|will|if|when|may) you\b(?! to\b)")
_ASKING_WORDS = {
    "en": to_word_set("rule happen work need step kind way must should available require requirement procedure policy use handle"),
    "es": to_word_set("norma regla pasar funcionar necesitar paso tipo forma deber poder haber requisito procedimiento política usar"),
}  # fmt: skip
"""Words that only ask: `What are the rules for …`."""


@dataclass(slots=True)
class SectionWording:
    """Has a small model word the questions of a generation that ask for a heading."""

    broker: AskBroker
    judge: str
    find_product: Callable[[str], str]
    """Id of a document → the name that its folder is about; empty where none stands out."""
    _unreached: int = 0

    async def word_items(self, generation: Generation) -> None:
        """Put the model's question in the place of that of the rules, where it may stand there."""
        for at, item in enumerate(generation.items):
            if generation.stopped:
                return
            if item.how in WORDED and not item.history and item.reference is not None:
                generation.items[at] = await self._word_item(item, generation)

    async def _word_item(self, item: Item, generation: Generation) -> Item:
        """The item with the model's question, or as it is."""
        document = generation.corpus.find(item.evidence[0].document)
        page = open_page(document, item.language, self.find_product(document.id))
        heading = find_heading(item.question)
        ask = write_one(heading, str(item.reference), language=item.language)
        (answered,) = await self.broker.answer([ask])
        generation.usage = generation.usage + answered.usage if answered.usage else generation.usage
        if not isinstance(answered, Reply):
            generation.stopped = self._explain_stop(answered)
            return item
        self._unreached = 0
        question = finish_question(answered.value["question"], page)
        if explain_unfit(question, heading, item, page):
            return item
        framed = frame_home(page, question)
        if not framed or any(other.question == framed for other in generation.items):
            return item
        proof = {**item.proof, "plain": item.question, "worded_by": self.judge}
        return replace(item, id=make_item_id(framed, item.evidence), question=framed, how=self.judge, proof=proof)  # fmt: skip

    def _explain_stop(self, answered: Any) -> str:
        """Why nothing more is asked after a failed call; empty when the next one may pass."""
        if isinstance(answered, OutOfBudget):
            return answered.reason
        if isinstance(answered, JudgeFailed) and answered.kind == "transport":
            self._unreached += 1
            if self._unreached >= MAX_UNREACHED:
                return f"the judge cannot be reached: {answered.reason}"
        return ""


def find_heading(question: str) -> str:
    """The heading that a question of the rules asks for: in English the last quotation, in Spanish the first."""
    quoted = _QUOTED.findall(question)
    return str(quoted[0] if question.startswith("¿") else quoted[-1])


def finish_question(line: str, page: Page) -> str:
    """The question of a model's line, as its reader puts it."""
    question = " ".join(line.split())
    if page.grammar.language == "es":
        question = f"¿{question.lstrip('¿')}"
    else:
        question = re.sub(r"\byour\b", "my", _YOU.sub(r"\1 I", question))
    return page.grammar.fix_question(question)


def explain_unfit(question: str, heading: str, item: Item, page: Page) -> str:
    """Why a question may not stand for one that asks for a heading; empty when it may."""
    language = page.grammar.language
    if doubt := gate.explain_doubtful_question(question, page.grammar):
        return doubt
    if len(question.split()) > MAX_WORDS:
        return "too long for what a colleague would ask"
    if _ABOUT_TEXT.search(question):
        return "asks about a text"
    asked = set(extract_content_stems(question, language))
    named = set(extract_content_stems(heading, language))
    if not named or not named <= asked:
        return "leaves out a word of the heading"
    home = set(extract_content_stems(f"{page.title} {page.owner} {page.product}", language))
    asking = set(extract_content_stems(" ".join(sorted(_ASKING_WORDS[language])), language))
    new = asked - named - home - asking
    told = set(extract_content_stems(str(item.reference), language))
    return "" if new <= told and len(new) <= MAX_NEW_STEMS else "asks for something else, or for a part of it"  # fmt: skip
