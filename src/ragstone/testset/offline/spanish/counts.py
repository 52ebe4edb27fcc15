"""Spanish questions for what a clause counts and dates: how many, how much, how long, when, where."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.testset.offline.facts import Fact, Source
from ragstone.testset.offline.spanish.clauses import Clause
from ragstone.testset.offline.spanish.forms import PERIODS, Form, answer_at, clean, many_of
from ragstone.testset.offline.spanish.groups import end_of
from ragstone.testset.offline.spanish.words import AROUND, PREP, RELATIVE
from ragstone.testset.spans import Span
from ragstone.testset.vocabulary import MONTHS_AND_DAYS, word_set


def counted(clause: Clause, form: Form) -> Iterator[Fact]:
    tokens = clause.source.tokens
    inside = [s for s in clause.spans if clause.rest <= s.first and s.last <= clause.end]
    clocks = sum(s.sort == "clock" for s in inside)
    yield from _bare(clause, form)
    for span in inside:
        first = span.first
        while first > clause.rest and tokens[first - 1].lower in AROUND - {"de", "al"}:
            first -= 1
        prep = tokens[first - 1].lower if first > clause.rest else ""
        ser = (
            clause.main in ("es", "son", "era", "eran", "fue", "será")
            and clause.rest == clause.finite + 1
        )
        if span.sort == "money":
            if first == clause.rest and not ser:
                yield from answer_at(clause, form, "cuánto", first, span.last, "money")
            elif prep == "de" and ser and first - 1 == clause.rest:
                yield from answer_at(
                    clause, form, "de cuánto", first - 1, span.last, "money", answer=first
                )
        elif span.sort == "percent" and first == clause.rest and not ser:
            yield from answer_at(clause, form, "qué porcentaje", first, span.last, "percent")
        elif span.sort == "quantity":
            yield from _quantity(clause, form, span, first, prep, ser)
        elif span.sort == "clock" and clocks <= 2:
            yield from _clock(clause, form, span)
        elif (
            span.sort == "day"
            and clocks == 0
            and prep not in PREP | {"y", "o"}
            and first == span.first
        ):
            yield from answer_at(clause, form, "cuándo", first, span.last, "date")
        elif span.sort == "date":
            yield from _when(clause, form, span)


def _bare(clause: Clause, form: Form) -> Iterator[Fact]:
    """`El tamaño medio era de 3,62`: de cuánto era."""
    tokens, at = clause.source.tokens, clause.rest
    ser = clause.main in ("es", "era", "fue", "son", "eran", "fueron") and at == clause.finite + 1
    if (
        ser
        and at + 2 == clause.end
        and tokens[at].lower == "de"
        and tokens[at + 1].text[0].isdigit()
    ):
        yield from answer_at(clause, form, "de cuánto", at, clause.end, "number", answer=at + 1)


def _quantity(
    clause: Clause, form: Form, span: Span, first: int, prep: str, ser: bool
) -> Iterator[Fact]:
    tokens = clause.source.tokens
    period = span.unit.split()[0] in PERIODS
    after = tokens[span.last].lower if span.last < clause.end else ""
    if after in ("después", "antes") and first == clause.rest and clause.words:
        rest = clause.source.say(span.last, clause.end).strip(" ,.")
        yield Fact(
            form.put(f"{many_of(span.unit)} {span.unit} {rest}", f"{clause.group} {clause.subject}", None),
            clause.source.raw(first, span.last), "number", clause.subject, "", "", clause.negated, True,
        )  # fmt: skip
        return
    if after in ("después", "antes", "y", "o", "atrás", "más"):
        return
    if first == clause.rest and not ser:
        if period and clause.main.startswith(("dur", "tard")):
            yield from answer_at(clause, form, "cuánto", first, span.last, "duration")
        elif clause.main not in (
            "hace",
            "aumentó",
            "creció",
            "tardan",
            "está",
            "están",
            "existe",
            "existen",
        ):
            yield from answer_at(
                clause, form, f"{many_of(span.unit)} {span.unit}", first, span.last, "number"
            )
    elif ser and prep == "de" and first - 1 == clause.rest:
        yield from answer_at(
            clause,
            form,
            f"de {many_of(span.unit)} {span.unit}",
            first - 1,
            span.last,
            "number",
            answer=first,
        )
    elif period and prep in ("durante", "por"):
        yield from answer_at(
            clause, form, "durante cuánto tiempo", first - 1, span.last, "duration", answer=first
        )
    elif period and prep == "en" and not ser:
        yield from answer_at(
            clause, form, "en cuánto tiempo", first - 1, span.last, "duration", answer=first
        )


def _clock(clause: Clause, form: Form, span: Span) -> Iterator[Fact]:
    tokens = clause.source.tokens
    before = [one.lower for one in tokens[max(clause.rest, span.first - 2) : span.first]]
    if before[-1:] == ["de"]:
        other = next(
            (
                s
                for s in clause.spans
                if s.sort == "clock" and s.first in (span.last + 1, span.last + 2)
            ),
            None,
        )
        if other is not None and tokens[span.last].lower == "a" and other.last <= clause.end:
            yield from answer_at(clause, form, "en qué horario", span.first - 1, other.last, "date")
    elif before[-2:] == ["a", "las"]:
        yield from answer_at(clause, form, "a qué hora", span.first - 2, span.last, "date")
    elif before[-2:] == ["hasta", "las"]:
        yield from answer_at(clause, form, "hasta qué hora", span.first - 2, span.last, "date")


def _when(clause: Clause, form: Form, span: Span) -> Iterator[Fact]:
    tokens = clause.source.tokens
    first = span.first
    prep = tokens[first - 1].lower if first > clause.rest else ""
    text = clause.source.raw(span.first, span.last)
    if span.last < clause.end and tokens[span.last].lower in ("y", "o"):
        return
    if prep == "en":
        what = (
            "en qué año"
            if text.isdigit()
            else "en qué mes"
            if text in MONTHS_AND_DAYS
            else "cuándo"
        )
        yield from answer_at(clause, form, what, first - 1, span.last, "date", answer=first)
    elif prep == "desde":
        yield from answer_at(clause, form, "desde cuándo", first - 1, span.last, "date")
    elif prep == "hasta":
        yield from answer_at(clause, form, "hasta cuándo", first - 1, span.last, "date")
    elif (
        prep == "el"
        and first - 2 >= clause.rest - 1
        and tokens[first - 2].lower not in ("hasta", "desde", "del", "de", "y")
    ):
        yield from answer_at(clause, form, "cuándo", first - 1, span.last, "date")
    elif prep in ("de", "del"):
        other = next(
            (
                s
                for s in clause.spans
                if s.sort == "date" and s.first in (span.last + 1, span.last + 2)
            ),
            None,
        )
        if (
            other is not None
            and tokens[span.last].lower in ("a", "al")
            and other.last <= clause.end
        ):
            yield from answer_at(clause, form, "cuándo", first - 1, other.last, "date")


def dated_lead(clause: Clause, form: Form) -> Iterator[Fact]:
    if clause.lead_date is None or clause.negated:
        return
    source = clause.source
    a, b = clause.lead_date
    low = source.tokens[a].lower
    if low not in ("en", "el", "durante"):
        return
    rest = source.say(clause.rest, clause.end)
    answer = source.raw(a + 1, b) if low == "en" else source.raw(a, b)
    what = "en qué año" if answer.isdigit() else "cuándo"
    yield Fact(
        form.ask(what, rest, lead=""),
        answer[:1].lower() + answer[1:] if low == "el" else answer,
        "date",
        clause.subject,
    )


_PLACED = word_set(
    "nació murió nacieron está están encuentra encuentran ubicada ubicado situada situado "
    "fundó fundada fundado celebró celebrada celebrado vive viven construyó formó enterrado "
    "enterrada"
)


def places(clause: Clause, form: Form) -> Iterator[Fact]:
    tokens = clause.source.tokens
    if (
        clause.last_verb not in _PLACED
        or clause.rest >= clause.end
        or tokens[clause.rest].lower != "en"
    ):
        return
    if any(
        s.first <= clause.rest + 2 and s.sort in ("date", "clock")
        for s in clause.spans
        if s.first > clause.rest
    ):
        return
    end = clause.rest + 1
    while (
        end < clause.end
        and tokens[end].text != ","
        and tokens[end].lower not in RELATIVE
        and not (tokens[end].lower in PREP - {"de", "del"} and end > clause.rest + 1)
    ):
        end += 1
    if any(one.capital for one in tokens[clause.rest + 1 : end]) or clause.main in (
        "está",
        "están",
    ):
        yield from answer_at(clause, form, "dónde", clause.rest, end, "place")


def counted_subject(clause: Clause, form: Form) -> Iterator[Fact]:
    source = clause.source
    for span in clause.spans:
        if span.first != clause.first or span.last > clause.close or span.sort != "quantity":
            continue
        rest = source.say(clause.rest, clause.end).strip(" ,")
        behind = source.say(span.last, clause.close)
        if len(rest.split()) >= 2 and not behind.startswith(("más tarde", "después", "antes")):
            what = f"{many_of(span.unit)} {span.unit} {behind}".strip()
            yield Fact(
                form.put(what, f"{clause.group} {rest}", None),
                source.raw(span.first, span.last),
                "number",
                span.unit,
            )


_THERE = frozenset(["hay", "había", "hubo", "existen", "existían"])


def existing(source: Source) -> Iterator[Fact]:
    """`Hay cinco cabinas para …`: cuántas hay; so in the past."""
    from ragstone.testset.spans import typed

    tokens = source.tokens
    if len(tokens) < 5 or tokens[0].lower not in _THERE:
        return
    for span in typed(source.text, tokens, "es"):
        if span.sort == "quantity" and span.first == 1:
            end = end_of(source, span.last)
            rest = source.say(span.last, end).strip(" ,.")
            if not rest or rest.split()[0] in PREP:
                verb = tokens[0].lower
                asks = f"{many_of(span.unit).capitalize()} {span.unit} {verb} {rest}".strip()
                question = f"¿{asks}?"
                if clean(question):
                    yield Fact(question, source.raw(1, span.last), "number", span.unit).at(source)
