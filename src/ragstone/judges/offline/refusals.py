"""Sentences that decline to answer, in English and Spanish."""

from __future__ import annotations

import re

from ragstone.text.language import ABSTENTIONS
from ragstone.text.words import fold_text

_EN = (
    r"\bi (?:do not|don't|cannot|can't|could not|couldn't|am unable to|am not able to|'m unable to|have no)\b"
    r".{0,40}\b(?:know|answer|find|tell|say|determine|provide|help|information|idea|assist|sure|locate)\b",
    r"\bi(?:'m| am) (?:sorry|afraid|not sure|unable)\b",
    r"^(?:sorry|unfortunately|i apologi[sz]e)\b.{0,80}\b(?:not|n't|unable|no|cannot)\b",
    r"\b(?:is|are|was|were) (?:not|n't|nowhere) (?:mentioned|stated|specified|provided|given|available|found|"
    r"discussed|included|described|addressed|covered|listed)\b.{0,60}"
    r"(?:\b(?:in|by|within) (?:the|this|these|any|your|our)?\s*(?:given |provided |retrieved )?"
    r"(?:document|context|passage|text|source|article|information|material)s?\b|[.!]?$)",
    r"\bisn't (?:mentioned|stated|specified|provided|available)\b",
    r"\b(?:the|these|this|provided|given)?\s*(?:document|context|passage|text|source|article|information|material|excerpt)s?"
    r"(?: provided| given)? (?:do(?:es)?|did) (?:not|n't) "
    r"(?:\w+ )?(?:mention|state|specify|provide|say|contain|include|give|answer|address|discuss|cover|tell|offer)\b",
    r"\b(?:document|context|passage|text|source|article)s? (?:don't|doesn't) "
    r"(?:\w+ )?(?:mention|state|specify|provide|say|contain|include|give|answer|address|discuss|cover|tell)\b",
    r"\bthere is (?:no|not enough|insufficient) (?:\w+ )?(?:information|mention|data|evidence|answer)\b",
    r"\b(?:unable|not possible|impossible) to (?:answer|determine|provide|say|find)\b",
    r"\b(?:cannot|can't|can not) be (?:answered|determined)\b",
    r"\b(?:it is|it's) (?:unclear|unknown|not clear|not known)\b",
    r"\bnot enough information\b",
    r"\binsufficient information\b",
    r"\bno information (?:is |was )?(?:about|on|available|provided)\b",
    r"^(?:i don't know|no idea|unknown|n/?a|not mentioned|not specified|not available|no answer|unanswerable)[.!]*$",
    r"\bas an ai\b",
    r"\bas a language model\b",
    r"\bdepends on (?:many|several|various) (?:things|factors)\b.{0,30}$",
    r"\b(?:please )?(?:consult|ask|contact|check with|refer to) (?:a|an|your|the) (?:\w+ )?(?:professional|expert|support|"
    r"lawyer|doctor|website|manual|specialist)\b",
)
_ES = (
    r"\bno (?:lo )?(?:sé|se sabe|tengo|dispongo|puedo|podemos|encuentro|encontré|hay|cuento|estoy segur[oa])\b"
    r".{0,50}(?:\b(?:responder|contestar|información|informacion|datos|determinar|decir|ayudar|respuesta|idea|segur[oa]|"
    r"saber|proporcionar|mención|indicarlo)\b|^no (?:lo )?sé)",
    r"^no (?:lo )?sé\b",
    r"^lo (?:siento|lamento)\b",
    r"\bno se (?:menciona|indica|especifica|proporciona|dice|detalla|aclara|encuentra|describe|sabe|puede (?:responder|"
    r"determinar|saber))\b",
    r"\bno (?:está|están|aparece|aparecen|viene|figura|figuran) (?:mencionad|indicad|especificad|disponible|recogid|en (?:el|los|la)"
    r" (?:document|context|text|pasaje|fuente))\w*",
    r"\b(?:document|context|text|pasaje|fragmento|artículo|fuente|información)\w* (?:\w+ )?no (?:\w+ )?"
    r"(?:menciona|indica|especifica|proporciona|dice|contiene|incluye|responde|aclara|ofrece|da|detalla)n?\b",
    r"\b(?:información|datos) (?:insuficiente|no disponible)s?\b",
    r"\bsin información\b",
    r"\bno hay (?:suficiente )?información\b",
    r"\bcomo (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje)\b",
    r"\bno es posible (?:responder|determinar|saber|contestar)\b",
    r"\bdepende de (?:muchos|varios|diversos) factores\b.{0,30}$",
    r"\b(?:consulte|consulta|póngase en contacto|contacte|pregunte)\b.{0,30}\b(?:profesional|experto|especialista|médico|"
    r"abogado|servicio|web|página)\b",
)


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern for all; the start of a word is looked for once and not by each of them at every letter."""
    starts = "|".join(one.removeprefix("^") for one in patterns if one.startswith("^"))
    words = "|".join(one.removeprefix(r"\b") for one in patterns if one.startswith(r"\b"))
    return re.compile(rf"^(?:{starts})|\b(?:{words})")


_DECLINES = _any_of((*_EN, *_ES))
_MARKS = (
    "not ", "n't", "no ", "cannot", "unable", "sorry", "i am", "i'm", "unfortunately", "apologi", "nowhere", "there is ",
    "unclear", "unknown", "impossible", "insufficient information", "i have no", "unanswerable",
    "as an ai", "as a language", "depends on", "consult", "ask", "contact", "check with", "refer to",
    "lo siento", "lo lamento", "insuficiente", "sin información", "como ", "depende de", "póngase", "pregunte",
)  # fmt: skip
"""No sentence declines without one of these, or "n/a" at its start; most have none, and looking for plain text is many
times quicker than the patterns."""
_ABSTAINS = frozenset(fold_text(text) for text in ABSTENTIONS)


def declines(sentence: str) -> bool:
    """Whether the sentence says that it does not answer."""
    folded = fold_text(sentence).replace("’", "'").replace("n't", " n't").replace(" n't", "n't")
    if folded in _ABSTAINS:
        return True
    marked = folded.startswith(("n/a", "na")) or any(mark in folded for mark in _MARKS)
    return marked and _DECLINES.search(folded) is not None


def evasive(sentences: list[str]) -> bool:
    """Whether a text as a whole declines: what it says beside refusals is too little to answer."""
    told = [sentence for sentence in sentences if sentence.strip()]
    if not told:
        return True
    refused = [declines(sentence) for sentence in told]
    if all(refused):
        return True
    rest = sum(len(sentence.split()) for sentence, no in zip(told, refused, strict=True) if not no)
    return refused[0] and rest <= 12
