"""Styles that rules write: a question as in a letter, a chat or a search box, and with slips of the keyboard."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from ragstone.testset.items import Item, make_item_id
from ragstone.testset.vocabulary import DETERMINERS, PREPOSITIONS
from ragstone.text.clause_words import to_word_set
from ragstone.text.stopwords import STOPWORDS
from ragstone.text.terms import strip_accents

STYLES = ("formal", "informal", "terse")
"""What `--style` takes without a judge."""
_STYLED_KINDS = frozenset(
    ["factual", "conceptual", "how_to", "detail", "aggregation", "distractor", "near_miss"]
)
"""Kinds that are asked in a style; the others have one of their own, or are turns of a conversation."""
_OPENERS = {
    "en": ("hi, quick question: {}", "hey, {}", "hello! {}, thanks", "sorry to bother you but {}", "{}, anyone know?"),
    "es": ("hola, una duda: {}", "oye, {}", "buenas, {}, gracias", "perdona la molestia, {}", "una pregunta rápida, {}"),
}  # fmt: skip
_FORMAL = {
    "en": ("I would be grateful if you could tell me the following: {}", "I am writing to enquire: {}", "Could you kindly let me know: {}"),
    "es": ("Les agradecería que me indicaran lo siguiente: {}", "Me dirijo a ustedes para consultar: {}", "Les ruego que tengan la amabilidad de informarme: {}"),
}  # fmt: skip
# question word → what a search box is asked for; the first that matches counts
_WANTED = {
    "en": (
        (r"^how many\b", "number of"), (r"^how long\b", "duration"), (r"^how much\b", "price"), (r"^when\b", "date"),
        (r"^where\b", "place"), (r"^who\b", "who"), (r"^how (?:do|can) i\b", "how to"), (r"^what happens if\b", "if"), (r"^(?:what|which)\b", ""),
    ),
    "es": (
        (r"^cuánt[oa]s\b", "número de"), (r"^cuánto (?:tarda|dura)n?\b", "duración"), (r"^cuánto cuestan?\b", "precio"),
        (r"^cuándo\b", "fecha"), (r"^dónde\b", "lugar"), (r"^cómo puedo\b", "cómo"), (r"^qué ocurre si\b", "si"), (r"^para qué\b", "finalidad"),
        (r"^(?:\w+ )?(?:qué|quién)\b|^cuál(?:es)?\b", ""),
    ),
}  # fmt: skip
_SMALL_WORDS = {
    "en": to_word_set("is are was were be has have do does did can the a an of and my i"),
    "es": to_word_set(
        "es son fue fueron está están se hace hacen el la los las un una y de del al"
    ),
}
_QUOTING_WORDS = {
    "en": to_word_set("say list give heading table column documentation"),
    "es": to_word_set("indica enumera apartado tabla columna documentación"),
}
"""Words between the quoted names of a question, which nobody types into a search box."""
_PIECE = re.compile(r"`[^`]*`|“[^”]*”|«[^»]*»|\S+")
_FRAME = re.compile(r"(?:At|With|In|According to|En|Con|Según) ((?:“[^”]*”|«[^»]*»|[^,“«])+), (.+)")
MIN_TELLING_WORDS = 3
"""Words of meaning of a question from which one may be misspelt."""
# letter → a neighbour on the keyboard
_NEXT_KEY = dict(zip("abcdefghilmnoprstuvw", "svxfrghjoknmpotayibe", strict=True))


def apply_style(item: Item, styles: Sequence[str]) -> Item:
    """The item in one of the styles, chosen by its id; unchanged when its kind has no style, or the style does not fit."""
    if not styles or item.kind not in _STYLED_KINDS:
        return item
    # by the id, not by a draw: the same item has the same style in every run
    style = styles[int(item.id[:6], 16) % len(styles)]
    question = write_in_style(item.question, style, item.language, random.Random(item.id))
    if not question or question == item.question:
        return item
    return replace(
        item,
        id=make_item_id(question, item.evidence, item.history),
        question=question,
        style=style,
        # a `plain` that is there already is plainer, so it wins
        proof={"plain": item.question, **item.proof},
    )


def write_in_style(question: str, style: str, language: str, rng: random.Random) -> str:
    """The question in a style; empty when it cannot be put so."""
    if style == "formal":
        return rng.choice(_FORMAL[language]).format(_lower_start(question))
    if style == "informal":
        return to_chat(question, language, rng)
    return to_search(question, language)


def _lower_start(question: str) -> str:
    """The question as it goes on after a colon."""
    at = int(question.startswith("¿"))
    return f"{question[:at]}{question[at : at + 1].lower()}{question[at + 1 :]}"


def to_chat(question: str, language: str, rng: random.Random) -> str:
    """The question as it is typed into a chat: small letters, no signs, a word around it."""
    plain = _lower_start(question).replace("¿", "").rstrip("?")
    if language == "es":
        parts = re.split(r"(`[^`]*`)", plain[:1].lower() + plain[1:])
        plain = "".join(part if part[:1] == "`" else strip_accents(part) for part in parts)
    return rng.choice(_OPENERS[language]).format(plain)


def to_search(question: str, language: str) -> str:
    """The question as it is typed into a search box: what is wanted, then the words that carry meaning."""
    frame, asks = "", question.rstrip("?").replace("¿", "")
    if framed := _FRAME.match(asks):
        frame, asks = framed.groups()
    asks = _lower_start(asks)
    wanted = ""
    for pattern, word in _WANTED[language]:
        if re.match(pattern, asks, re.IGNORECASE):
            wanted, asks = word, re.sub(pattern, "", asks, count=1, flags=re.IGNORECASE)
            break
    dropped = _SMALL_WORDS[language] | DETERMINERS[language] | PREPOSITIONS[language]
    if re.search("[“«]", question):
        dropped = dropped | _QUOTING_WORDS[language]
    pieces = [piece.strip(",;:()") for piece in _PIECE.findall(f"{asks} {frame}")]
    words = [piece.strip("“”«»") for piece in pieces if piece.lower() not in dropped]
    return f"{wanted} {' '.join(words)}".strip() if len(words) >= 2 else ""


def add_slips(question: str, rng: random.Random) -> str:
    """The question as fingers in a hurry write it: slips in one or two long words, names, code and numbers left alone."""
    pieces = re.split(r"(`[^`]*`|“[^”]*”|«[^»]*»|\s+)", question)
    free = [n for n, piece in enumerate(pieces) if re.fullmatch(r"[^\W\d_A-Z]{5,}[?,]?", piece)]
    told = [n for n in free if pieces[n].rstrip("?,") not in STOPWORDS["en"] | STOPWORDS["es"]]
    if len(told) < MIN_TELLING_WORDS and not re.search(r"[`“«]", question):
        # what is asked must stay legible: without code or a quote, nothing but the few words of meaning tells it
        free = [n for n in free if n not in told]
    for n in rng.sample(free, min(len(free), 1 if len(free) < 4 else 2)):
        pieces[n] = _add_slip(pieces[n], rng)
    return "".join(pieces)


def _add_slip(word: str, rng: random.Random) -> str:
    """Swap two letters, drop one, double one, or hit a wrong key; the first letter stays."""
    at = rng.randrange(1, len(word.rstrip("?,")) - 1)
    way = rng.randrange(4)
    if way == 0 and word[at] != word[at + 1]:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if way == 1:
        return word[:at] + word[at + 1 :]
    if way == 2:
        return word[:at] + word[at] + word[at:]
    return word[:at] + _NEXT_KEY.get(word[at].lower(), word[at + 1]) + word[at + 1 :]
