"""Styles that rules can write: a question as a letter, a chat or a search box puts it."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from ragstone.testset.items import Item, item_id
from ragstone.testset.offline import twists
from ragstone.testset.offline.framing import put_before, taken_apart
from ragstone.testset.offline.phrases import FORMAL
from ragstone.testset.vocabulary import DETERMINERS, PREPOSITIONS, word_set

STYLES = ("formal", "informal", "terse")
"""What `--style` takes without a judge."""
_STYLED = frozenset(
    ["factual", "conceptual", "out_of_scope", "false_premise", "detail", "negation", "distractor", "multi_document", "near_miss", "two_in_one"]
)  # fmt: skip
"""Kinds that are asked in a style; the others have one of their own, or are turns of a conversation."""


def styled(item: Item, styles: Sequence[str]) -> Item:
    """The item in one of the styles, by a throw that its id decides; as it is when its kind bears none."""
    if not styles or item.kind not in _STYLED:
        return item
    style = styles[int(item.id[:6], 16) % len(styles)]
    question = in_style(item.question, style, item.language, random.Random(item.id))
    if not question or question == item.question:
        return item
    return replace(
        item,
        id=item_id(question, item.evidence, item.history),
        question=question,
        style=style,
        proof={"plain": item.question, **item.proof},
    )


def in_style(question: str, style: str, language: str, dice: random.Random) -> str:
    """The question in a style; empty when it cannot be put so."""
    if style == "formal":
        about, bare = taken_apart(question, language)
        asks = int(bare.startswith("¿"))
        if _ASKS.match(bare[asks:]):
            bare = f"{bare[:asks]}{bare[asks : asks + 1].lower()}{bare[asks + 1 :]}"
        said = dice.choice(FORMAL[language]).format(bare)
        return put_before(about, said, language) if about else said
    if style == "informal":
        return twists.in_a_chat(question, language, dice)
    return terse(question, language)


_ASKS = re.compile(
    r"(?:Who|What|When|Where|Which|Why|How|For how|Until when|Since when|From when|At what|By what|"
    r"Is|Are|Was|Were|Does|Do|Did|Can|May|Must|Has|Have|Had|Will|Under what|At|In|On|Of|Into|"
    r"Qué|Quién|Quiénes|Cuál|Cuáles|Cuándo|Cuánto|Cuánta|Cuántos|Cuántas|Dónde|Cómo|Por|Para|De|En|A|Con|Desde|Hasta|Durante)\b"
)
_WORDS = {
    "en": (
        (r"^how many\b", "number of"), (r"^(?:for )?how long\b", "duration"), (r"^how soon\b", "how soon"),
        (r"^how much\b(?=.*\bcost\b)", "price"), (r"^how much\b", "amount"), (r"^until when\b", "end date"),
        (r"^since when\b", "start date"), (r"^when\b", "date"), (r"^at what time\b", "time"),
        (r"^where\b", "place"), (r"^why\b", "reason"), (r"^under what condition\b", "condition"),
        (r"^(?:what|which)\b", ""), (r"^how\b", "how"),
    ),
    "es": (
        (r"^(?:de )?cuánt[oa]s\b", "número de"), (r"^cuánto (?:tarda|dura)n?\b", "duración"),
        (r"^(?:durante|en) cuánto tiempo\b", "duración"), (r"^cuánto cuestan?\b", "precio"), (r"^(?:de )?cuánto\b", "cantidad"),
        (r"^cuándo\b|^en qué año\b", "fecha"), (r"^dónde\b", "lugar"), (r"^por qué\b", "motivo"), (r"^para qué\b", "finalidad"),
        (r"^en qué caso\b", "condición"), (r"^a qué hora\b|^en qué horario\b", "hora"), (r"^cómo\b", "cómo"),
        (r"^(?:\w+ )?qué\b|^cuál(?:es)?\b", ""),
    ),
}  # fmt: skip
_SMALL = {
    "en": word_set("is are was were be been has have had do does did can may must will would should the a an of and my i there"),
    "es": word_set("es son era eran fue fueron está están ha han se el la los las un una y de del al"),
}  # fmt: skip


def terse(question: str, language: str) -> str:
    """The question as it is typed into a search box: what is wanted, then the words that carry meaning."""
    about, question = taken_apart(question, language)
    front, sign, asks = question.partition("¿") if language == "es" else ("", "", question)
    asks = asks.rstrip("?") if sign or language == "en" else question.rstrip("?")
    if language == "en" and (found := re.match(r"((?:At|In|On) [^,]+), (.+)", asks)):
        front, asks = found.groups()
    asks = f"{asks[:1].lower()}{asks[1:]}"
    wanted = ""
    for pattern, word in _WORDS[language]:
        if re.match(pattern, asks):
            wanted, asks = word, re.sub(pattern, "", asks, count=1)
            break
    dropped = _SMALL[language] | (DETERMINERS[language] - {"no", "each", "every", "cada"})
    kept = [
        word.strip(",;:")
        for word in f"{asks} {front}".split()
        if word.strip(",;:").lower() not in dropped | (PREPOSITIONS[language] - {"without", "sin"})
        or word[:1].isdigit()
    ]
    topic = re.sub(r"^(?:the|an?|el|la|los|las|una?) ", "", about)
    body = " ".join(word for word in [*kept, topic] if word)
    return re.sub(r"\s+", " ", f"{wanted} {body}").strip() if len(kept) + bool(topic) >= 2 else ""
