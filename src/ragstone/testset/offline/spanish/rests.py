"""Spanish questions for what stands behind the verb: con qué, cómo, en qué caso, qué en conjunto."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.testset.offline.facts import Fact
from ragstone.testset.offline.spanish.clauses import Clause
from ragstone.testset.offline.spanish.forms import PERIODS, Form
from ragstone.testset.offline.spanish.groups import end_of
from ragstone.testset.offline.spanish.people import is_people
from ragstone.testset.offline.spanish.verbs import finite, infinitive, participle
from ragstone.testset.offline.spanish.words import DET, PREP, RELATIVE, adverb
from ragstone.testset.spans import is_number, is_person, plural
from ragstone.testset.vocabulary import UNCLEAR, word_set

_REACHED = {
    "con": "con",
    "de": "de",
    "del": "de",
    "contra": "contra",
    "sobre": "sobre",
    "hacia": "hacia",
}
_LONG = 18
"""Tokens of an answer."""
_POINTING = re.compile(
    r"\b(?:este|esta|esto|estos|estas|ese|esa|eso|esos|esas|dich[oa]s?|ell[oa]s?|él|mism[oa]s?)\b"
)
_SER = word_set("es son era eran fue fueron será serán ser")
_HAVE = frozenset(["ha", "han", "había", "habían"])
_SET_PHRASES = word_set(
    "acuerdo frente lado parte manera forma modo vez veces momento finales principios partir "
    "pesar embargo hecho nuevo pronto repente menos más largo medio alrededor"
)


def reached(clause: Clause, form: Form) -> Iterator[Fact]:
    """`está etiquetado con una dirección`: con qué está etiquetado."""
    source, tokens = clause.source, clause.source.tokens
    at = clause.rest
    while at < clause.end and (
        tokens[at].lower.endswith("mente") or tokens[at].lower in ("ya", "también")
    ):
        at += 1
    if at >= clause.end - 1 or clause.negated or tokens[at].lower not in _REACHED:
        return
    if clause.main in _SER and clause.rest == clause.finite + 1:
        return
    prep = _REACHED[tokens[at].lower]
    end = _phrase_end(clause, at + 1)
    if (
        not _sound(clause, at + 1, end)
        or tokens[at + 1].lower in _SET_PHRASES
        or infinitive(tokens[at + 1].lower)
    ):
        return
    behind = source.say(end, clause.end).strip(" ,") if end < clause.end else ""
    if (
        behind.split(" ")[0] in ("de", "del", "y", "o", "que", "a", "como")
        or len(behind.split()) > 5
    ):
        return
    if _POINTING.search(behind):
        return
    person = any(
        at < a and b == end and is_person([one.text for one in tokens[a:b]], tokens[a - 1].lower, source.people)
        for a, b in clause.names()
    )  # fmt: skip
    person = person or any(is_people(one.lower) for one in tokens[at + 1 : min(end, at + 4)])
    what = f"{prep} quién" if person else f"{prep} qué"
    yield Fact(
        form.ask(what, behind), source.raw(at + 1, end), "person" if person else "thing",
        clause.subject, form.again(what, behind), deep=True,
    )  # fmt: skip


def _phrase_end(clause: Clause, start: int) -> int:
    tokens = clause.source.tokens
    stops = (PREP - {"de", "del"}) | RELATIVE
    end = next((n for n in range(start + 1, clause.end) if tokens[n].lower in stops), clause.end)
    if end < clause.end and tokens[end].lower in RELATIVE:
        end = clause.end
    while end > start and (adverb(tokens[end - 1]) or tokens[end - 1].text == ","):
        end -= 1
    return end


def _sound(clause: Clause, start: int, end: int) -> bool:
    """Whether tokens start..end are a phrase that answers: no date, no pronoun, no torso."""
    source, tokens = clause.source, clause.source.tokens
    if (
        end <= start
        or end - start > _LONG
        or tokens[start].lower in RELATIVE | PREP | UNCLEAR["es"]
    ):
        return False
    first = tokens[start]
    if any(letter.isdigit() for letter in first.text) or is_number(first, "es"):
        return False
    if end - start == 1 and not first.capital and not plural(first.lower, "es"):
        return False
    if tokens[end - 1].lower in PERIODS | _SET_PHRASES | {"año", "mes", "día", "siglo"}:
        return False
    if any(
        s.first < end and s.last > start and s.sort in ("date", "clock", "day", "money")
        for s in clause.spans
    ):
        return False
    return not _POINTING.search(source.say(start, end))


def means(clause: Clause, form: Form) -> Iterator[Fact]:
    """`se elige mediante sufragio`: cómo se elige."""
    source, tokens = clause.source, clause.source.tokens
    if clause.negated or (clause.main in _SER and clause.rest == clause.finite + 1):
        return
    for n in range(clause.rest, clause.end - 2):
        if tokens[n].lower in RELATIVE:
            return
        through = tokens[n].lower == "a" and tokens[n + 1].lower == "través"
        if through and any(one.lower in RELATIVE or one.capital for one in tokens[n + 2 : n + 5]):
            return
        if tokens[n].lower == "mediante" or through:
            end = end_of(source, n + 1, relatives=True)
            rest = source.say(clause.rest, n) if n > clause.rest else ""
            answer = source.raw(n, end).rstrip(" .,;")
            if (
                3 <= end - n <= 24
                and not _POINTING.search(answer)
                and not re.match(r"(?:y|o) ", rest)
            ):
                yield Fact(
                    form.ask("cómo", rest),
                    answer,
                    "means",
                    clause.subject,
                    form.again("cómo", rest),
                )
            return


def condition(clause: Clause, form: Form) -> Iterator[Fact]:
    """`son eficientes si giran deprisa`: en qué caso son eficientes."""
    source, tokens = clause.source, clause.source.tokens
    if clause.negated or clause.lead or not re.search(r"[aeon]$", clause.main):
        return
    if clause.main.endswith(("ó", "aron", "ieron", "aba", "aban", "ía", "ían")) or clause.main in (
        "fue",
        "era",
        "eran",
    ):
        return
    at = next(
        (n for n in range(clause.rest, clause.end - 3) if tokens[n].lower in ("cuando", "si")), None
    )
    if at is None or any(tokens[n].lower in RELATIVE for n in range(clause.rest, at)):
        return
    if tokens[at - 1].lower in ("como", "aun", "incluso", "solo", "sólo") or (
        at == clause.rest and clause.main in _SER
    ):
        return
    if any(s.sort in ("date", "clock", "day") and s.first < at for s in clause.spans):
        return
    end = end_of(source, at + 1, relatives=True)
    answer = source.raw(clause.first, end).rstrip(" .,;")
    rest = source.say(clause.rest, at).strip(" ,") if at > clause.rest else ""
    if clause.words and 4 <= end - at <= 22 and not _POINTING.search(answer):
        what = "cuándo" if tokens[at].lower == "cuando" else "en qué caso"
        yield Fact(form.ask(what, rest), answer, "condition", clause.subject, deep=True)


def called(clause: Clause, form: Form) -> Iterator[Fact]:
    """`se llama primalidad`: cómo se llama."""
    source, tokens = clause.source, clause.source.tokens
    named = re.match(r"(?:llam|denomin)(?:a|an|ó|aron|aba|ado|ada|ados|adas)$", clause.last_verb)
    passive = clause.reflexive or participle(clause.last_verb)
    if not named or not passive or clause.negated or clause.rest >= clause.end:
        return
    if tokens[clause.rest].lower in PREP | RELATIVE | UNCLEAR["es"]:
        return
    answer = source.raw(clause.rest, clause.end).rstrip(" ,.;")
    if clause.end - clause.rest <= 10:
        yield Fact(form.ask("cómo", ""), answer, "name", clause.subject, form.again("cómo", ""))


_NO_OBJECT = re.compile(
    r"(?:es|son|era|eran|fue|fueron|ser|está|están|parec\w+|cuesta\w*|costó|hay|va|van|fueron|lleg\w+|viv\w+|naci?ó|muri?ó|"
    r"exist\w+|ocurr\w+|dur\w+|tard\w+|sal\w+|baj\w+|sub\w+|qued\w+|permanec\w+|resul\w+|hace|hacen|hizo|hicieron|di\w+|afirm\w+|sugi\w+|"
    r"comenz\w+|empez\w+|empiez\w+|comienz\w+|suele\w*|deb\w+|pued\w+|pod\w+|tien\w+|tuv\w+|tenía\w*|aument\w+|crec\w+|cay\w+|incluy\w+)$"
)


def wide_object(clause: Clause, form: Form) -> Iterator[Fact]:
    """`ha ratificado el Convenio núm. 81 sobre …`: qué ha ratificado, hasta el final de la oración."""
    source, tokens = clause.source, clause.source.tokens
    if clause.negated or clause.reflexive or clause.rest >= clause.end - 2 or not clause.told:
        return
    if _NO_OBJECT.match(clause.last_verb) or (
        participle(clause.last_verb) and clause.main not in _HAVE
    ):
        return
    if any(
        one.lower in ("lo", "la", "los", "las", "le", "les")
        for one in tokens[clause.verb : clause.finite]
    ):
        return
    start = tokens[clause.rest]
    barred = (
        "su",
        "sus",
        "este",
        "esta",
        "estos",
        "estas",
        "ese",
        "esa",
        "todo",
        "toda",
        "todos",
        "todas",
        "cada",
        "otro",
        "otra",
    )
    if start.lower not in DET - frozenset(barred):
        return
    size = clause.end - clause.rest
    answer = source.raw(clause.rest, clause.end).rstrip(" ,.;")
    if (
        not 3 <= size <= 22
        or _POINTING.search(answer)
        or re.search(r"\b(?:cuando|aunque|mientras|si)\b", answer)
    ):
        return
    if any(
        tokens[n].lower in ("y", "e") and finite(tokens[n + 1].lower)
        for n in range(clause.rest, clause.end - 1)
    ):
        return
    dated = any(s.sort in ("date", "clock", "day") and s.first >= clause.rest for s in clause.spans)
    if dated or tokens[clause.rest + 1].lower in PERIODS | {"año", "mes", "día", "mañana", "noche"}:
        return
    yield Fact(form.ask("qué", ""), answer, "thing", clause.subject, form.again("qué", ""))
