"""Find the quantities of a text in one pass: start at the tokens that can begin one, and read on from there. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from ragstone.text.clause_words import to_word_set
from ragstone.text.quantities import moments
from ragstone.text.quantities.measures import PARTED_UNITS, make_amount, read_share, read_unit
from ragstone.text.quantities.moments import QuantityMatch
from ragstone.text.quantities.numerals import Number, read_half, read_number, read_roman
from ragstone.text.quantities.quantity import CalendarDate, Quantity
from ragstone.text.quantities.ranges import join_range
from ragstone.text.quantities.tokens import QuantityTokens
from ragstone.text.quantities.units import CURRENCY_SIGNS, TIME_SPANS, UNITS, Unit
from ragstone.text.quantities.vocabulary import VOCABULARIES, WORD_OR_SIGN, Vocabulary

HOUR_SECONDS = 3600.0


def find_quantities(text: str, language: str) -> list[Quantity]:
    """Every quantity of the text, in order; other languages than Spanish are read as English."""
    return list(_find_quantities(text, "es" if language.startswith("es") else "en"))


@lru_cache(maxsize=1024)
def _find_quantities(text: str, language: str) -> tuple[Quantity, ...]:
    vocabulary = VOCABULARIES[language]
    if not _DIGIT.search(text) and vocabulary.starters.isdisjoint(_WORD.findall(text.lower())):
        return ()  # as most sentences
    tokens = QuantityTokens.cut(text, vocabulary)
    quantities: list[Quantity] = []
    end = 0
    for at in tokens.starters:
        if at < end:
            continue
        first = _read_quantity(tokens, at)
        if first is None:
            continue
        read, end = join_range(tokens, at, first, _read_quantity)
        quantities += (_add_bound(tokens, quantity) for quantity in read)
        rate, end = _read_rate(tokens, end) if read[-1].kind in ("number", "measure") else ("", end)
        if rate:
            quantities[-1] = replace(quantities[-1], rate=rate)
    return tuple(quantities)


_DIGIT = re.compile(r"\d")
_WORD = re.compile(WORD_OR_SIGN)


def _read_rate(tokens: QuantityTokens, at: int) -> tuple[str, int]:
    """The time that a quantity is for, as 500 euros a month, empty for none; and the token after it."""
    after = at
    while tokens.word(after) in _PER and tokens.is_joined(after - 1) and after < at + 2:
        after += 1
    period = _PERIODS.get(tokens.word(at)) if tokens.is_joined(at - 1) else None
    if period:  # 500 euros mensuales
        return f"{UNITS[period].base} {UNITS[period].factor:g}", at + 1
    unit = UNITS.get(tokens.word(after))
    if (
        after == at
        or unit is None
        or unit.base not in TIME_SPANS
        or not tokens.is_joined(after - 1)
    ):
        return "", at
    return f"{unit.base} {unit.factor:g}", after + 1


_PERIODS = {
    adjective: noun
    for noun, adjectives in {
        "day": "daily diario diaria diarios diarias",
        "week": "weekly semanal semanales",
        "month": "monthly mensual mensuales",
        "year": "yearly annually anual anuales",
    }.items()
    for adjective in adjectives.split()
}
_PER = frozenset(["a", "an", "per", "each", "every", "al", "por", "cada", "la"])


def _read_quantity(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """The quantity that starts at a token, its range apart."""
    vocabulary, word = tokens.vocabulary, tokens.word(at)
    if not word:
        return None
    if word in CURRENCY_SIGNS:
        return _read_money(tokens, at)
    if word[0].isdecimal():
        return None if _is_label(tokens, at) else _read_digits(tokens, at)
    if word in vocabulary.months:
        month = moments.read_month(tokens, at)
        if month or word not in vocabulary.cardinals:
            return month
    if word in vocabulary.weekdays:
        return moments.make_date(
            tokens, at, at + 1, CalendarDate(weekday=int(vocabulary.weekdays[word]))
        )
    if word in vocabulary.clock_words:
        return moments.make_time(tokens, at, at + 1, 60 * vocabulary.clock_words[word])
    if word in vocabulary.decade_nouns or (vocabulary.is_spanish and word in vocabulary.centuries):
        period = moments.read_spanish_period(tokens, at)
        if period:
            return period
    return _read_words(tokens, at)


def _is_label(tokens: QuantityTokens, at: int) -> bool:
    """Whether digits name or number something and say nothing: A320, COVID-19, passage 2, "3." of a list."""
    before, gap = tokens.word(at - 1), tokens.gap(at - 1) if at else ""
    start, end = tokens.spans[at]
    if end - start <= 2 and _LIST_ITEM.match(tokens.text, end):
        return not at or "\n" in gap or gap.strip()[-1:] in (".", ":", ";", "*", "-")
    if not before[:1].isalpha():
        return False
    if gap in ("", "."):
        return before != "q"
    if gap == "-":
        return before not in _PREFIXES and before not in tokens.vocabulary.months
    return before in _CITED and gap == " "


_LIST_ITEM = re.compile(r"[.)]\s+[\"'*]*[A-ZÁÉÍÓÚÑ¿¡]")
_CITED = frozenset(
    ["passage", "passages", "document", "source", "pasaje", "pasajes", "documento", "fuente"]
)
_PREFIXES = frozenset({"mid", "pre", "post", "early", "late"})


def _read_digits(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    word = tokens.word(at)
    if ":" in word:
        return moments.read_clock(tokens, at)
    date = moments.read_numeric_date(tokens, at)
    if date:
        return date
    if "/" in word:
        top, _, bottom = word.partition("/")
        is_share = 0 < int(top) < int(bottom)
        return (
            make_amount(tokens, at, at + 1, int(top) / int(bottom), 0.01, Unit("share", 1))
            if is_share
            else None
        )
    if tokens.word(at - 1) == "q" and tokens.gap(at - 1) == "":
        return _make_ordinal(tokens, at, float(word), at + 1) if len(word) == 1 else None
    return _read_number(tokens, at)


def _read_words(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """A quantity that begins with a word: a number, an ordinal, a part, or a unit after an article."""
    vocabulary, word = tokens.vocabulary, tokens.word(at)
    times = _read_times(tokens, at)
    if times:
        return times
    roman = read_roman(tokens, at)
    if roman is not None:
        if tokens.word(at + 1) in vocabulary.centuries:
            return moments.read_century(tokens, at, roman, at + 2)
        return _make_ordinal(tokens, at, roman, at + 1)
    if word in vocabulary.decades and _is_decade(tokens, at):
        first = int(vocabulary.decades[word])
        return moments.make_date(tokens, at, at + 1, CalendarDate((first, first + 9)))
    if word in vocabulary.halves or word in vocabulary.fractions:
        part = _read_part(tokens, at)
        if part:
            return part
    if word in vocabulary.ordinals:
        return _read_ordinal(tokens, at)
    if word in vocabulary.cardinals or word in vocabulary.scales or word in vocabulary.dozens:
        return _read_number(tokens, at)
    return _read_indefinite(tokens, at)


def _read_times(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """Read twice, and once a month: without a time "once" may be a conjunction and "una vez" a story's beginning."""
    word, unit = tokens.word(at), Unit("times", 1)
    if word == "twice":
        return make_amount(tokens, at, at + 1, 2, 1, unit)
    is_phrase = (word, tokens.word(at + 1)) in (("una", "vez"), ("one", "time"))
    end = at + 2 if is_phrase else at + 1
    if not is_phrase and (word != "once" or tokens.vocabulary.is_spanish):
        return None
    return make_amount(tokens, at, end, 1, 1, unit) if _read_rate(tokens, end)[0] else None


def _is_decade(tokens: QuantityTokens, at: int) -> bool:
    if not tokens.vocabulary.is_spanish:
        return tokens.word(at - 1) in ("the", "mid", "early", "late")
    return (
        tokens.word(at - 1) == "los"
        and tokens.word(at + 1) not in ("por", "mil")
        and (not tokens.word(at + 1).isalpha() or tokens.word(at + 1) in tokens.vocabulary.stop)
    )


def _read_part(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """Read half an hour, half past two, half of them, a third of, una cuarta parte."""
    vocabulary, word = tokens.vocabulary, tokens.word(at)
    time = None if vocabulary.is_spanish else moments.read_spoken_time(tokens, at)
    if time:
        return time
    is_half = word in vocabulary.halves
    value = 0.5 if is_half else vocabulary.fractions[word]
    measure = _read_part_of_unit(tokens, at, value, is_half)
    if measure:
        return measure
    is_share = _is_half_share(tokens, at) if is_half else _is_fraction_share(tokens, at)
    return make_amount(tokens, at, at + 1, value, 0.01, Unit("share", 1)) if is_share else None


def _read_part_of_unit(
    tokens: QuantityTokens, at: int, value: float, is_half: bool
) -> QuantityMatch | None:
    """Read half a million, half an hour, a quarter of a litre."""
    after = at + 1
    while tokens.word(after) in ("a", "an", "of", "de") and after < at + 3:
        after += 1
    if not all(tokens.is_joined(n) for n in range(at, after)):
        return None
    scales, dozens, noun = tokens.vocabulary.scales, tokens.vocabulary.dozens, tokens.word(after)
    factor = scales.get(noun) or dozens.get(noun)
    if factor and is_half:
        return _read_counted(tokens, at, Number(value * factor, 0.1 * factor, after + 1))
    unit, end = read_unit(tokens, after, False)
    is_part = is_half or tokens.word(at + 1) in ("of", "de")
    if is_part and unit and unit.base in PARTED_UNITS:
        return make_amount(tokens, at, end, value, 0.01, unit)
    return None


_PART_MARKERS = frozenset({"of", "de", "the", "parte", "del"})


def _is_half_share(tokens: QuantityTokens, at: int) -> bool:
    """Whether "half" is a part of something, which "the second half" is not."""
    is_parted = tokens.word(at + 1) in _PART_MARKERS and not tokens.vocabulary.is_spanish
    is_share = tokens.word(at) == "mitad" or is_parted
    return is_share and tokens.word(at - 1) not in tokens.vocabulary.ordinals


def _is_fraction_share(tokens: QuantityTokens, at: int) -> bool:
    """Whether "a third of" is a part; an ordinal may stand for its own noun: la quinta de Beethoven."""
    before, after = tokens.word(at - 1), tokens.word(at + 1)
    is_named = tokens.vocabulary.is_spanish and before == "la"
    is_counted = before in tokens.vocabulary.articles or before == "la"
    return after in _PART_MARKERS and is_counted and (after == "parte" or not is_named)


def _read_ordinal(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    ordinal = moments.read_ordinal(tokens, at)
    if ordinal is None:
        return None
    end = ordinal.end
    if tokens.word(end) in tokens.vocabulary.centuries and tokens.is_joined(end - 1):
        return moments.read_century(tokens, at, ordinal.value, end + 1)
    return moments.read_day_first(tokens, at, ordinal.value, end) or _make_ordinal(
        tokens, at, ordinal.value, end
    )


def _make_ordinal(tokens: QuantityTokens, at: int, value: float, end: int) -> QuantityMatch:
    start, stop = tokens.spans[at][0], tokens.spans[end - 1][1]
    return QuantityMatch(Quantity("ordinal", start, stop, value, value), end)


def _read_indefinite(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """Read a week, un año: a span of an hour or more whose number is an article."""
    vocabulary = tokens.vocabulary
    unit = UNITS.get(tokens.word(at))
    if (
        unit is None
        or unit.base not in ("s", "month")
        or (unit.factor % HOUR_SECONDS and unit.base == "s")
    ):
        return None
    end = read_half(tokens, at + 1)
    has_article = tokens.word(at - 1) in vocabulary.articles and tokens.is_joined(at - 1)
    first = at - 1 if has_article else at
    if end > at + 1:
        return make_amount(tokens, first, end, 1.5, 0.1, unit)
    if not has_article or tokens.word(at - 2) not in vocabulary.spans:
        return None
    span = make_amount(tokens, first, end, 1.0, 0.1, unit)
    return QuantityMatch(replace(span.quantity, indefinite=True), end)


def _read_money(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """Read an amount after the sign of its currency: $2.5 million."""
    number = read_number(tokens, at + 1, is_money=True)
    if number is None or tokens.gap(at) not in ("", " ", "\u00a0"):
        return None
    unit = CURRENCY_SIGNS[tokens.word(at)]
    return make_amount(tokens, at, number.end, number.value, number.step, unit)


def _read_number(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """A quantity that begins with a number, in digits or words."""
    vocabulary = tokens.vocabulary
    if vocabulary.is_spanish or tokens.word(at + 1) == "past":
        time = moments.read_spoken_time(tokens, at)
        if time:
            return time
    ordinal = _read_ordinal(tokens, at)
    if ordinal:
        return ordinal
    if tokens.word(at) in vocabulary.dozens:
        return _read_dozen(tokens, at)
    number = read_number(tokens, at)
    first = at
    if number is None:
        number, first = _read_scale(tokens, at), at - 1  # the article belongs to it
    if number is None:
        return None
    if tokens.word(number.end) in vocabulary.dozens and tokens.is_joined(number.end - 1):
        factor = vocabulary.dozens[tokens.word(number.end)]
        number = Number(number.value * factor, factor, number.end + 1)
    return _read_counted(tokens, first, number)


def _read_dozen(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """Read a dozen, per dozen, una docena."""
    vocabulary, word, before = tokens.vocabulary, tokens.word(at), tokens.word(at - 1)
    is_plural = vocabulary.is_spanish and word.endswith("s")
    is_counted = before in vocabulary.articles or before == "per"
    if not is_counted or is_plural:
        return None
    return make_amount(tokens, at, at + 1, vocabulary.dozens[word], 1, None)


def _read_scale(tokens: QuantityTokens, at: int) -> Number | None:
    """Read the million of "a million"."""
    factor = tokens.vocabulary.scales.get(tokens.word(at), 0.0)
    is_counted = tokens.word(at - 1) in tokens.vocabulary.articles
    is_word = factor >= 100 and len(tokens.word(at)) > 2
    return Number(factor, 0.1 * factor, at + 1) if is_counted and is_word else None


def _read_counted(tokens: QuantityTokens, at: int, number: Number) -> QuantityMatch | None:
    """What a number is, by what stands after it."""
    vocabulary, end = tokens.vocabulary, number.end
    moment = (
        moments.read_decade(tokens, at, number)
        or (
            _may_be_hour(tokens, at, end)
            and moments.read_half_day(tokens, at, moments.to_minutes(number), end)
        )
        or moments.read_day_first(tokens, at, number.value, end)
        or _read_hours_and_minutes(tokens, at, number)
    )
    if moment:
        return moment
    unit, after = read_unit(tokens, end, True)
    is_one = tokens.word(at) in vocabulary.ones and end == at + 1
    if unit:
        half = read_half(tokens, after)
        value = number.value + (0.5 if half > after else 0.0)
        measure = make_amount(tokens, at, half, value, number.step, unit)
        article = is_one and tokens.word(at) in vocabulary.articles
        return QuantityMatch(replace(measure.quantity, indefinite=article), measure.end)
    share = read_share(tokens, at, number)
    if share:
        return share
    if _is_bare_hour(tokens, at, number):
        return moments.make_time(tokens, at, end, 60 * number.value, number.value > 12)
    if is_one:
        return _read_elliptic_one(tokens, at)
    year = moments.read_year(tokens, at, number)
    if year and tokens.word(end) not in vocabulary.halves:
        return year
    return make_amount(tokens, at, end, number.value, number.step, None)


def _may_be_hour(tokens: QuantityTokens, at: int, end: int) -> bool:
    """Whether a number can be an hour; one in the morning and one in the evening may be tablets."""
    is_spelt = not tokens.word(at)[0].isdecimal() and tokens.word(end) == "in"
    return not is_spelt or not at or tokens.word(at - 1) in _BEFORE_HOUR


def _is_bare_hour(tokens: QuantityTokens, at: int, number: Number) -> bool:
    """Whether a number is an hour by the word before it: it opens at 8."""
    is_hour = number.value % 1 == 0 and 1 <= number.value <= 24
    return is_hour and tokens.word(at - 1) == "at" and not tokens.is_noun_after(number.end)


_BEFORE_HOUR = to_word_set("at by until till from to around about before after since past between")


def _read_elliptic_one(tokens: QuantityTokens, at: int) -> QuantityMatch | None:
    """Read "one" at the end of a clause, where its noun is left out: adults take two, children one."""
    is_last = tokens.gap(at).strip()[:1] in (".", ",", ";", ")") or at == len(tokens.words) - 1
    before = tokens.word(at - 1)
    if not is_last or not before or before in _BEFORE_PRONOUN or tokens.word(at) == "un":
        return None
    number = make_amount(tokens, at, at + 1, 1.0, 1.0, None)
    return QuantityMatch(replace(number.quantity, indefinite=True), number.end)


_BEFORE_PRONOUN = to_word_set(
    "the this that no any every each another some which other cada ningún otro otra alguno la el"
)


def _read_hours_and_minutes(
    tokens: QuantityTokens, at: int, number: Number
) -> QuantityMatch | None:
    """Read 14h30; a plain 14 h is a time span, or a time after "las", which `moments` reads."""
    end = number.end
    if tokens.word(end) != "h" or not number.is_plain_digits or number.value > 24:
        return None
    minutes = tokens.word(end + 1)
    if tokens.gap(end) == "" and len(minutes) == 2 and minutes.isdecimal():
        return moments.make_time(tokens, at, end + 2, 60 * number.value + int(minutes))
    return None


def _add_bound(tokens: QuantityTokens, quantity: Quantity) -> Quantity:
    """The quantity with the word before or after it that makes it a limit: more than 40, 40 or more."""
    if quantity.date or quantity.kind in ("time", "ordinal"):
        return quantity
    vocabulary: Vocabulary = tokens.vocabulary
    before = tokens.text[max(quantity.start - 60, 0) : quantity.start]  # longer than any bound
    match = vocabulary.before.search(before) or vocabulary.after.match(tokens.text, quantity.end)
    if match is None or match.lastgroup is None:
        return quantity
    # groups are named like bounds
    bound = match.lastgroup
    if bound in _DENIED_BOUNDS and vocabulary.denials.search(before[: match.start()]):
        return replace(quantity, bound=_DENIED_BOUNDS[bound], is_denied=True)
    return replace(quantity, bound=bound)


_DENIED_BOUNDS = {"over": "at_most", "under": "at_least"}
"""What a limit is where it is denied: must not exceed 40."""
