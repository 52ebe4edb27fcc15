"""Words of quantities in English and Spanish: the two tables that the scanner reads. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from ragstone.text.clause_words import to_word_set
from ragstone.text.quantities.units import UNIT_STARTS

_Values = dict[str, float]

VULGAR: Final = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
ROMANS: Final = {
    (tens + ones): 10 * ten + unit
    for ten, tens in enumerate(("", "x", "xx", "xxx"))
    for unit, ones in enumerate(("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"))
    if tens + ones
}
"""Numerals in small letters → their number."""


def _number(words: str, first: int = 1, step: int = 1) -> _Values:
    """Words counted up from the first; forms of the same number joined by a stroke."""
    return {
        form: float(first + step * index)
        for index, forms in enumerate(words.split())
        for form in forms.split("|")
    }


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of one language."""

    is_spanish: bool
    numerals: str
    """Pattern of a number in digits."""
    cardinals: _Values
    scales: _Values
    ordinals: _Values
    """Also suffixes after digits are ordinals: `suffixes`."""
    suffixes: frozenset[str]
    fractions: _Values
    """Parts named by a noun: two thirds, un tercio."""
    halves: frozenset[str]
    dozens: _Values
    ones: frozenset[str]
    """The number one, which is a pronoun or an article elsewhere."""
    articles: frozenset[str]
    joins: frozenset[str]
    """Words inside a number: two hundred and five, treinta y uno."""
    of: frozenset[str]
    to: frozenset[str]
    """Words between the ends of a range."""
    between: str
    months: _Values
    weekdays: _Values
    needs_context: frozenset[str]
    """Months and weekdays that are other words as well."""
    date_prepositions: frozenset[str]
    decades: _Values
    centuries: frozenset[str]
    decade_nouns: frozenset[str]
    clock_words: _Values
    """Hours with a name of their own."""
    spans: frozenset[str]
    """Words before "a week" that make it a time span; elsewhere it is a rate: five times a week."""
    qualifiers: frozenset[str]
    """Adjectives between a number and its unit."""
    stop: frozenset[str]
    """Words after a number that it does not count."""
    before: re.Pattern[str]
    after: re.Pattern[str]
    """What stands right before and right after a quantity; groups are named like the values of `Quantity.bound`."""
    denials: re.Pattern[str]
    """A denial before a limit, in the same clause."""
    half_days: re.Pattern[str]
    """What follows an hour: `am` or `pm`, or `sharp` (o'clock), which `more` may follow, of the morning where `am2` is set."""
    eras: re.Pattern[str]
    """What follows a year; the group `before` is set for one before Christ."""
    token: re.Pattern[str] = field(init=False)
    starters: frozenset[str] = field(init=False)
    """Words with which a quantity may begin; all others are passed over."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "token", re.compile(f"{WORD_OR_SIGN}|{_DATES}{self.numerals}"))
        words = (
            self.cardinals.keys() | self.scales.keys() | self.ordinals.keys() | self.fractions.keys()
            | self.halves | self.dozens.keys() | self.ones | self.months.keys() | self.weekdays.keys()
            | self.decades.keys() | self.clock_words.keys() | self.centuries | self.decade_nouns | UNIT_STARTS
            | {"once", "twice", "q"} | ROMANS.keys() | VULGAR.keys()
        )  # fmt: skip
        object.__setattr__(self, "starters", frozenset(words))


_DATES = (
    r"\d{4}(?P<a>[-/.])\d{1,2}(?P=a)\d{1,2}(?!\d)|\d{1,2}(?P<b>[-/.])\d{1,2}(?P=b)(?:\d{4}|\d{2})(?![\d/-])"
    r"|\d{1,2}:\d{1,2}(?::\d{2})?(?![\d:])|\d{1,3}/\d{1,3}(?![\d/])|"
)
WORD_OR_SIGN = r"[^\W\d_]+|[%€$£¥₹°º½¼¾⅓⅔~≈<>≤≥+]"
"""A token without digits: a word or a sign."""


def _before(**phrases: str) -> re.Pattern[str]:
    """Words right before a quantity, one group for each kind of bound."""
    groups = "|".join(f"(?P<{bound}>{phrase})" for bound, phrase in phrases.items())
    return re.compile(rf"(?<!\w)(?:{groups})\s*(?:(?:the|los|las|el|an?|una?) )?$", re.IGNORECASE)


def _after(**phrases: str) -> re.Pattern[str]:
    groups = "|".join(f"(?P<{bound}>{phrase})" for bound, phrase in phrases.items())
    return re.compile(rf"\s*(?:{groups})(?!\w)", re.IGNORECASE)


_ENGLISH = Vocabulary(
    is_spanish=False,
    numerals=r"\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)*",
    cardinals=_number(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
        " seventeen eighteen nineteen", 0
    ) | _number("twenty thirty forty|fourty fifty sixty seventy eighty ninety", 20, 10),
    scales={"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "millions": 1e6,
            "billions": 1e9, "k": 1e3, "mn": 1e6, "mm": 1e6, "bn": 1e9, "tn": 1e12, "m": 1e6, "b": 1e9},
    ordinals=_number(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
        " fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
    ) | {"thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100, "thousandth": 1000},
    suffixes=to_word_set("st nd rd th"),
    fractions={"third": 1 / 3, "thirds": 1 / 3, "quarter": 0.25, "quarters": 0.25, "fourth": 0.25, "fourths": 0.25,
               "fifth": 0.2, "fifths": 0.2, "sixth": 1 / 6, "sixths": 1 / 6, "eighth": 0.125, "eighths": 0.125,
               "tenth": 0.1, "tenths": 0.1},
    halves=to_word_set("half"),
    dozens={"dozen": 12},
    ones=to_word_set("one"),
    articles=to_word_set("a an"),
    joins=to_word_set("and"),
    of=to_word_set("of the"),
    to=to_word_set("to till until through"),
    between="between",
    months=_number("january|jan february|feb march|mar april|apr may june|jun july|jul august|aug"
                   " september|sept|sep october|oct november|nov december|dec"),
    weekdays=_number("monday|mondays tuesday|tuesdays wednesday|wednesdays thursday|thursdays friday|fridays"
                     " saturday|saturdays sunday|sundays"),
    needs_context=to_word_set("may march mar jan dec jun sep"),
    date_prepositions=to_word_set("in of on since by until till from last next this early late mid to during before after"
                             " and through"),
    decades=_number("twenties thirties forties fifties sixties seventies eighties nineties", 1920, 10),
    centuries=to_word_set("century centuries"),
    decade_nouns=to_word_set("decade"),
    clock_words={"noon": 12.0, "midday": 12.0, "midnight": 0.0},
    spans=to_word_set("for in within after lasts last lasted takes take took of than about over almost nearly under is was"
                 " lasting requires required"),
    qualifiers=to_word_set("business working calendar consecutive additional more further full whole long short us"),
    stop=to_word_set("and or to of in on at by for from with as is are was were has have had but the a an that which who"
                " when where than then if per it he she they until till through"),
    before=_before(
        at_most=r"(?:no|not) (?:more|longer|later|greater|higher) than|at most|up to|(?:a )?(?:maximum|limit)(?: of| is)?|maximum(?: \w+){1,5} (?:is|of)|at the most|within|≤",
        at_least=r"(?:no|not) (?:less|fewer|lower) than|at least|(?:a )?minimum(?: of)?|minimum(?: \w+){1,5} (?:is|of)|starting (?:at|from)|≥",
        over=r"(?:more|greater|higher|longer|larger|older) than|over|above|exceed(?:s|ed|ing)?|upwards of|beyond|>",
        under=r"(?:less|fewer|lower|shorter|smaller|younger) than|under|below|<",
        about=r"about|around|approximately|approx\.?|roughly|nearly|almost|some|circa|c\.|ca\.|close to|~|≈",
    ),
    after=_after(
        at_least=r"\+|(?:[^\W\d_]+ )?or (?:more|older|above|over|longer)|and (?:above|over|older|up)",
        at_most=r"(?:[^\W\d_]+ )?or (?:less|fewer|under|below|younger|shorter)|at most|maximum",
        about=r"or so|approximately",
    ),
    denials=re.compile(r"(?:\b(?:not|never|cannot|nor)|n['’]t)\b[^.,;:]*$", re.IGNORECASE),
    half_days=re.compile(
        r"\s*(?:(?P<am>a\.?\s?m\b\.?|in the morning\b)|(?P<pm>p\.?\s?m\b\.?|in the (?:afternoon|evening)\b|at night\b)"
        r"|(?P<sharp>o['’]?clock\b))(?P<more>\s*in the (?:(?P<am2>morning)|afternoon|evening)\b)?", re.IGNORECASE
    ),
    eras=re.compile(r"\s?(?:(?P<before>B\.?C\.?(?:E\b\.?)?)|A\.?D\b\.?|C\.?E\b\.?)(?!\w)"),
)  # fmt: skip

_SPANISH = Vocabulary(
    is_spanish=True,
    numerals=r"\d{1,3}(?:[.\u00a0\u202f ]\d{3})+(?:,\d+)?(?![\d])|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:[.,]\d+)*",
    cardinals=_number(
        "cero uno|un|una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
        " dieciséis|dieciseis diecisiete dieciocho diecinueve veinte veintiuno|veintiún|veintiuna veintidós|veintidos"
        " veintitrés|veintitres veinticuatro veinticinco veintiséis|veintiseis veintisiete veintiocho veintinueve", 0
    ) | _number("treinta cuarenta cincuenta sesenta setenta ochenta noventa", 30, 10)
      | _number("cien|ciento doscientos|doscientas trescientos|trescientas cuatrocientos|cuatrocientas"
                " quinientos|quinientas seiscientos|seiscientas setecientos|setecientas ochocientos|ochocientas"
                " novecientos|novecientas", 100, 100),
    scales={"mil": 1e3, "millón": 1e6, "millon": 1e6, "millones": 1e6, "millardo": 1e9, "millardos": 1e9,
            "billón": 1e12, "billones": 1e12, "k": 1e3},
    ordinals=_number(
        "primero|primera|primer segundo|segunda tercero|tercera|tercer cuarto|cuarta quinto|quinta sexto|sexta"
        " séptimo|séptima octavo|octava noveno|novena décimo|décima undécimo|undécima duodécimo|duodécima"
        " decimotercero|decimotercera|decimotercer decimocuarto|decimocuarta decimoquinto|decimoquinta"
    ) | {"vigésimo": 20, "vigésima": 20, "centésimo": 100},
    suffixes=to_word_set("º ª o a er ro do ra ma mo to ta vo va"),
    fractions={"tercio": 1 / 3, "tercios": 1 / 3, "cuarto": 0.25, "cuartos": 0.25, "cuarta": 0.25, "quinto": 0.2,
               "quintos": 0.2, "quinta": 0.2, "sexto": 1 / 6, "sexta": 1 / 6, "tercera": 1 / 3, "décimo": 0.1,
               "décima": 0.1, "décimos": 0.1, "décimas": 0.1, "octavo": 0.125, "octavos": 0.125},
    halves=to_word_set("medio media mitad"),
    dozens={"docena": 12, "docenas": 12, "decena": 10, "decenas": 10},
    ones=to_word_set("un una uno"),
    articles=to_word_set("un una"),
    joins=to_word_set("y"),
    of=to_word_set("de del el la los las año"),
    to=to_word_set("a al hasta"),
    between="entre",
    months=_number("enero|ene febrero|feb marzo|mar abril|abr mayo|may junio|jun julio|jul agosto|ago"
                   " septiembre|setiembre|sept|sep octubre|oct noviembre|nov diciembre|dic"),
    weekdays=_number("lunes martes miércoles|miercoles jueves viernes sábado|sábados domingo|domingos"),
    needs_context=to_word_set("mar sep may ago ene dic"),
    date_prepositions=to_word_set("en de desde hasta para el los hacia del a y entre durante"),
    decades=_number("veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa", 1920, 10),
    centuries=to_word_set("siglo siglos s"),
    decade_nouns=to_word_set("década decada años"),
    clock_words={"mediodía": 12.0, "medianoche": 0.0},
    spans=to_word_set("durante en dentro de dura duró duran tarda tardó tras hace más menos casi es fue lleva requiere"),
    qualifiers=to_word_set("largos largas escasos primeros primeras últimos últimas nuevos de"),
    stop=to_word_set("y o a de en con por para que es son fue era eran ha han pero el la los las un una cuando donde si"
                " del al hasta e u como"),
    before=_before(
        at_most=r"no más del?l?|como máximo|a lo sumo|hasta|(?:un )?(?:máximo|límite)(?: es)?(?: del?)?|máxim[oa](?: \w+){1,5} es(?: del?)?|en (?:el|un) plazo(?: máximo)? de|≤",
        at_least=r"no menos del?l?|como mínimo|al menos|por lo menos|(?:un )?mínimo(?: del?)?|mínim[oa](?: \w+){1,5} es(?: del?)?|a partir del?|≥",
        over=r"más del?|superior(?:es)? al?|mayor(?:es)? (?:de|a|que)|por encima del?|sobrepasa(?:n|r|ba)?|supera(?:n|r|ba|ron|do)?"
             r"(?: los| las)?|pasar? del?|exced(?:er|en?) (?:del?|los|las)|superó(?: los| las)?|>",
        under=r"menos del?|inferior(?:es)? al?|menor(?:es)? (?:de|a|que)|por debajo del?|<",
        about=r"unos|unas|alrededor del?|aproximadamente|casi|cerca del?|en torno al?|más o menos|cosa de|~|≈",
    ),
    after=_after(
        at_least=r"\+|(?:[^\W\d_]+ )?o más|como mínimo|por lo menos|al menos",
        at_most=r"(?:[^\W\d_]+ )?o menos|como máximo|como mucho",
        about=r"aproximadamente|más o menos",
    ),
    denials=re.compile(r"\b(?:no|nunca|jamás|ni)\b[^.,;:]*$", re.IGNORECASE),
    half_days=re.compile(
        r"\s*(?:(?P<am>a\.?\s?m\b\.?|de la (?:mañana|madrugada)\b)|(?P<pm>p\.?\s?m\b\.?|de la (?:tarde|noche)\b)"
        r"|(?P<sharp>en punto\b))(?P<more>\s*de la (?:(?P<am2>mañana|madrugada)|tarde|noche)\b)?", re.IGNORECASE
    ),
    eras=re.compile(r"\s?(?:(?P<before>a\.?\s?(?:de\s)?C\b\.?)|d\.?\s?(?:de\s)?C\b\.?)(?!\w)"),
)  # fmt: skip

VOCABULARIES: Final = {"en": _ENGLISH, "es": _SPANISH}
