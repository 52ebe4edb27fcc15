"""What a question asks for: its parts, and for each part the kind of thing that answers it.
Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ragstone.text.quantities import Quantity, find_quantities
from ragstone.text.verbs import find_verb_form

QuantityKind = Literal["number", "share", "ordinal", "money", "duration", "measure", "date", "time"]

_CURRENCIES = frozenset(
    ["USD", "EUR", "GBP", "JPY", "CNY", "INR", "CHF", "peso", "cent", "dollar", "pound"]
)
_DURATIONS = frozenset(["s", "month"])
_WH = (
    r"(?:who|whom|whose|what|when|where|which|why|how|quién|quiénes|qué|cuándo|dónde|adónde|cuál|cuáles|por qué|"
    r"cómo|cuánt[oa]s?)"
)


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """The kind of answer that a question wants."""

    quantities: frozenset[QuantityKind] = frozenset()
    """Kinds of quantity that can answer it; empty when it asks for something else."""
    name: bool = False
    """Whether it asks for a person, a place or what something is called."""
    place: bool = False
    """Whether it asks where, so that an answer has to name a place."""
    thing: bool = False
    """Whether it asks what or which, so that nearly anything can answer it."""
    sort: bool = False
    """Whether it names the sort of thing that it asks for: which painter."""
    polar: bool = False
    """Whether yes or no answers it."""


def split_question(question: str) -> list[str]:
    """Split a question into the parts that it asks for, each put as a question; the question itself
    when it has one part."""
    text = _PAIR.sub(lambda m: f"{m['one']} {m['rest']}? {m['two']} {m['rest']}", question.strip())
    parts = [part.strip(" ?¿.,") for part in _JOINT.split(text)]
    parts = [part for part in parts if len(part) > 2]
    if len(parts) < 2:
        return [question.strip() or "?"]
    return [f"¿{part}?" if "¿" in question else f"{part}?" for part in parts]


_PAIR = re.compile(
    rf"(?P<one>\b{_WH}) (?:and|or|y|e|o) (?P<two>{_WH}) (?P<rest>[^?]+)", re.IGNORECASE
)
"""When and where was she born: two questions with the same rest."""
_JOINT = re.compile(
    rf"\?\s+|;\s+|,?\s+(?:and|y|e)\s+(?=(?:(?:in|on|at|by|for|to|with|from|de|en|a|con|por|para)\s+)?¿?{_WH}\b)"
    r"|,?\s+(?:as well as|así como)\s+",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def classify_question(question: str) -> QuestionKind:
    """Find what kind of thing a question with one part asks for, by its first question word and
    what follows it."""
    first = _FIRST_WH.search(question)
    if first is None:
        return QuestionKind(polar=bool(_POLAR.search(question)))
    asked = question[first.start() :]
    for kinds, pattern in _QUANTITY_QUESTIONS:
        if pattern.match(asked):
            return QuestionKind(quantities=kinds)
    if _NAME_QUESTION.match(asked):
        return QuestionKind(name=True, place=bool(_WHERE.match(asked)))
    is_thing = bool(_THING_QUESTION.match(asked))
    return QuestionKind(thing=is_thing, sort=is_thing and _names_sort(asked))


def _names_sort(asked: str) -> bool:
    """Whether a noun follows the question word, and not a verb."""
    noun = asked.split()[1:2]
    language = "en" if asked.lower().startswith("wh") else "es"
    return bool(noun) and find_verb_form(noun[0].lower(), language) in ("", "noun_like", "base")


def _build_pattern(kinds: str, *patterns: str) -> tuple[frozenset[QuantityKind], re.Pattern[str]]:
    names: frozenset[QuantityKind] = frozenset(kinds.split())  # type: ignore[arg-type]
    return names, re.compile("|".join(patterns), re.IGNORECASE)


_FIRST_WH = re.compile(rf"\b{_WH}\b|^\W*cuando\b", re.IGNORECASE)
_WHAT = r"(?:what|which)(?: (?:is|was|are|were) the)? (?:\w+ )?"
_QUE = r"(?:qué|cuál(?:es)? (?:es|fue|era|son|fueron) (?:el|la|los|las)) (?:\w+ )?"
_QUANTITY_QUESTIONS = (
    _build_pattern(
        "date time duration",
        r"(?:when|how soon|cuándo|cuando)\b|what (?:are|were) the opening hours",
        rf"{_WHAT}(?:time|days?|hours|years?|dates?|months?|century|decade|weekday)\b",
        rf"{_QUE}(?:días?|horas?|horarios?|años?|fechas?|mes(?:es)?|siglo|década)\b",
    ),
    _build_pattern("share number", rf"{_WHAT}(?:percent\w*|share|proportion|fraction)\b", rf"{_QUE}(?:porcentaje|proporción)\b"),
    _build_pattern(
        "money share number",
        r"(?:what|how much)\b.*\b(?:costs?|prices?|fees?|pay|charged?|charges|fine|deposit|salary|revenue|budget|refund)\b",
        r"(?:qué|cuánto|cuál)\b.*\b(?:cuest[ae]n?|cost[óe]|precios?|paga[nr]?|tarifa|cuota|multa|fianza|sueldo|presupuesto)\b",
    ),
    _build_pattern(
        "duration measure date number",
        rf"how (?:long|many (?:seconds|minutes|hours|days|weeks|months|years))\b|{_WHAT}(?:deadline|notice|period)\b",
        rf"cuánto (?:tiempo|dura|duró|tarda|tardó|mide)n?\b|{_QUE}(?:plazo|antelación|duración)\b",
        r"cuánt[oa]s (?:segundos|minutos|horas|días|semanas|meses|años)\b",
    ),
    _build_pattern("number duration", r"how old\b", rf"{_WHAT}ages?\b", r"qué edad(?:es)?\b"),
    _build_pattern(
        "measure number duration share money",
        r"how (?:far|tall|big|high|fast|large|deep|wide|heavy|hot|cold|thick)\b",
        rf"{_WHAT}(?:temperature|speed|height|length|weight|size|distance|area|depth|width)\b",
        rf"{_QUE}(?:temperatura|velocidad|altura|longitud|peso|tamaño|distancia|área|superficie|profundidad|desnivel)\b",
    ),
    _build_pattern(
        "number money measure share duration ordinal",
        r"how (?:many|much|often)\b|cuánt[oa]s?\b",
        rf"{_WHAT}(?:number|amount|rate|score|population|total)\b",
        rf"{_QUE}(?:número|cantidad|tasa|puntuación|población|total)\b",
    ),
)  # fmt: skip
_NAME_QUESTION = re.compile(
    r"(?:who(?:se|m)?|where|quién(?:es)?|a?dónde)\b"
    r"|(?:what|which|qué|cuál) (?:city|country|state|town|street|ciudad|país|estado|pueblo|calle)\b"
    r"|(?:what|qué|cuál|cómo)\b.{,30}(?:\bnamed?\b|\bcalled\b|\bnombre\b|\bllam)",
    re.IGNORECASE,
)
_WHERE = re.compile(r"(?:where|a?dónde)\b", re.IGNORECASE)
_THING_QUESTION = re.compile(r"(?:what|which|qué|cuál(?:es)?)\b", re.IGNORECASE)
_POLAR = re.compile(
    r"(?:^\W*+|[.,;:¿][^\w.,;:¿]*+)(?:is|are|was|were|do|does|did|can|could|may|might|must|will|would|should|has|have|had|am|"
    r"es|son|era|está|están|puedo|puede|pueden|podemos|hay|tiene|tengo|debe|debo|se|me|ha|han|he)\b",
    re.IGNORECASE,
)


def list_quantity_kinds(quantities: list[Quantity]) -> frozenset[QuantityKind]:
    """List the kinds of the quantities; a measure is told apart by what its unit measures."""
    return frozenset(_name_kind(quantity) for quantity in quantities)


def _name_kind(quantity: Quantity) -> QuantityKind:
    if quantity.kind != "measure":
        return quantity.kind
    if quantity.unit in _CURRENCIES:
        return "money"
    return "duration" if quantity.unit in _DURATIONS else "measure"


def offers_quantity(text: str, wanted: frozenset[QuantityKind], language: str) -> bool:
    """Whether the text names a quantity of a wanted kind, or speaks of one in words: free, in
    spring, several."""
    quantities = find_quantities(text, language)
    if "money" in wanted and "ordinal" not in wanted:
        quantities = [q for q in quantities if not q.has_counted_noun]  # four wheels are no price
    kinds = list_quantity_kinds(quantities)
    if kinds & wanted or ("date" in wanted and "number" in kinds):
        return True
    return bool(_VAGUE_TIME.search(text) if "date" in wanted else _VAGUE_AMOUNT.search(text))


_VAGUE_AMOUNT = re.compile(
    r"\b(?:free|none|nothing|half|double|twice|once|several|many|few|most|all|dozens?|hundreds?|thousands?|millions?|"
    r"always|never|no charge|(?:not|n't) (?:pay|cost|charge)|no (?:pag|cuest|cobr)\w+|daily|weekly|every|each|unlimited|gratis|gratuit[oa]s?|nada|mitad|dobles?|ningun[oa]|ningún|vari[oa]s|"
    r"much[oa]s?|poc[oa]s?|tod[oa]s?|cientos|miles|millones|siempre|nunca|cada|a diario|ilimitad[oa]s?)\b",
    re.IGNORECASE,
)
_VAGUE_TIME = re.compile(
    r"\b(?:today|now|after|before|during|until|since|when|while|later|earlier|spring|summer|autumn|winter|morning|evening|"
    r"night|years?|days?|weeks?|months?|hours?|century|era|hoy|ahora|después|antes|durante|hasta|desde|cuando|mientras|"
    r"primavera|verano|otoño|invierno|mañana|tarde|noche|años?|días?|semanas?|mes(?:es)?|horas?|siglos?|época)\b",
    re.IGNORECASE,
)
