"""What an answer says of itself and its sources around what it states: I'm not sure, but; according to passage 1; creo que. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re

from ragstone.text.appeals import is_appeal
from ragstone.text.clauses import has_clause
from ragstone.text.language import detect_language
from ragstone.text.refusals import declines
from ragstone.text.verbs import WORD

_SOURCE = (
    r"(?:(?:the|this|these|el|la|los|las|este|esta)\s+)?(?:(?:provided|given|retrieved)\s+)?"
    r"(?:documents?|contexts?|passages?|texts?|sources?|articles?|excerpts?|"
    r"documentos?|contextos?|pasajes?|textos?|fuentes?|artículos?|fragmentos?)(?:\s+(?:\d+|proporcionad[oa]s?|dad[oa]s?))?"
)
_REPORT = re.compile(
    rf"{_SOURCE}\s+(?:also\s+|también\s+)?(?:states?|says?|mentions?|notes?|indicates?|explains?|shows?|suggests?|"
    r"dicen?|indican?|mencionan?|señalan?|afirman?|explican?|muestran?)\s+(?:that|que)\s+",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"(?:i\s+(?:think|believe|guess|suppose|assume)(?:\s+that)?|as\s+far\s+as\s+i\s+(?:know|can\s+tell|am\s+aware)|"
    r"to\s+(?:the\s+best\s+of\s+)?my\s+knowledge|in\s+my\s+opinion|it\s+(?:seems|appears)\s+that|"
    r"(?:i|it)\s+(?:may|might|could)\s+be\s+(?:wrong|mistaken)(?:,?\s+but)?|if\s+i(?:['’]m|\s+am|\s+remember|\s+recall)\s+(?:not\s+mistaken|correctly|right)|"
    r"puede\s+que\s+me\s+equivoque(?:,?\s+pero)?|si\s+no\s+me\s+equivoco|si\s+mal\s+no\s+recuerdo|"
    r"creo\s+que|pienso\s+que|supongo\s+que|me\s+parece\s+que|parece\s+que|hasta\s+donde\s+(?:yo\s+)?sé|que\s+yo\s+sepa|"
    r"en\s+mi\s+opinión)\b\s*,?\s*",
    re.IGNORECASE,
)
_REPLY = re.compile(
    r"(?:yes|no|sure|of course|certainly|correct|indeed|well|in (?:short|summary|other words|fact)|that is|nothing|"
    r"sí|claro|por supuesto|efectivamente|en (?:efecto|resumen|otras palabras)|es decir|o sea|de hecho|nada)[,:;]\s+",
    re.IGNORECASE,
)
"""Words before a comma that answer a question or lead over to a sentence that says it."""
_TURN = re.compile(r"[,;:–—]?\s+(?:but|however|yet|pero|sin embargo)\b,?\s+", re.IGNORECASE)
_CONCESSION = re.compile(
    r"(?:although|though|even\s+though|while|aunque|si\s+bien)\s+([^,]+),\s+", re.IGNORECASE
)
_HEAD = re.compile(r"[^,:;.]{2,80}[,:]\s+")
_TAIL = re.compile(r"\s*(?:,\s*([^,;()]{2,60}?)|\(([^()]{2,40})\))(?=[.!]?\s*$)")


def find_statement(sentence: str) -> tuple[int, int]:
    """Return where the statement stands in a sentence: without hedges, introductions and appeals to sources."""
    start = 0
    while (after := _skip_introduction(sentence, start)) > start:
        start = after
    has_tail = "," in sentence or ")" in sentence  # the pattern tries every letter
    tail = _TAIL.search(sentence, start) if has_tail else None
    if tail and is_appeal(tail[1] or tail[2]) and WORD.search(sentence, start, tail.start()):
        return start, tail.start()
    return start, len(sentence)


def _skip_introduction(sentence: str, start: int) -> int:
    """Return where the first introduction ends, `start` where there is none."""
    for pattern in (_REPORT, _OPINION):
        if match := pattern.match(sentence, start):
            return match.end()
    reply = _REPLY.match(sentence, start)
    if reply and has_clause(sentence[reply.end() :], detect_language(sentence, None)):
        return reply.end()
    concession = _CONCESSION.match(sentence, start)
    if concession and declines(concession[1]):
        return concession.end()
    head = _HEAD.match(sentence, start)
    if head and is_appeal(head.group()) and WORD.search(head.group()):
        return head.end()
    turn = _TURN.search(sentence, start)
    if (
        turn
        and declines(sentence[start : turn.start()])
        and len(WORD.findall(sentence, turn.end())) > 1
    ):
        return turn.end()
    return start
