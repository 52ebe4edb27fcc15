"""English questions for what a clause counts and dates: how many, how much, how long, when, where."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.testset.offline.english.clauses import Clause
from ragstone.testset.offline.english.forms import PERIODS, Form, answer_at
from ragstone.testset.offline.english.words import PREP, adverb, amount_start
from ragstone.testset.offline.facts import Fact
from ragstone.testset.spans import Span
from ragstone.testset.vocabulary import MONTHS_AND_DAYS, word_set


def counted(clause: Clause, form: Form) -> Iterator[Fact]:
    tokens = clause.source.tokens
    clocks = sum(s.sort == "clock" for s in clause.spans if clause.rest <= s.first < clause.end)
    for span in clause.spans:
        if span.first < clause.rest or span.last > clause.end:
            continue
        first = amount_start(tokens, span.first, clause.rest)
        prep = (
            tokens[first - 1].lower
            if first > clause.rest and tokens[first - 1].lower in PREP
            else ""
        )
        if span.sort == "money" and not prep and first == clause.rest:
            yield from answer_at(clause, form, "How much", first, span.last, "money")
        elif span.sort == "percent" and not prep and first == clause.rest:
            yield from _percent(clause, form, span, first)
        elif span.sort == "quantity":
            yield from _quantity(clause, form, span, first, prep)
        elif span.sort == "day" and clocks == 0 and not (first and adverb(tokens[first - 1])):
            if prep in ("on", "at"):
                yield from answer_at(clause, form, "When", first - 1, span.last, "date")
            elif tokens[first].lower in ("every", "each") or tokens[first].capital:
                yield from answer_at(clause, form, "When", first, span.last, "date")
        elif span.sort in ("date", "clock") and prep and clocks <= 2:
            yield from _when(clause, form, span, first - 1)
    if (
        (
            clause.base == "be"
            and not clause.tail
            and not clause.negated
            and clause.rest + 1 == clause.end
        )
        and re.fullmatch(r"\d[\d.,]*", tokens[clause.rest].text)
        and len(clause.words) > 2
    ):
        yield Fact(
            form.ask("What", ""),
            tokens[clause.rest].text,
            "number",
            clause.subject,
            "",
            form.why("", ""),
        )


def _percent(clause: Clause, form: Form, span: Span, first: int) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    if span.last < clause.end and tokens[span.last].lower == "of":
        end = next(
            (n for n in range(span.last + 1, clause.end) if tokens[n].lower in PREP), clause.end
        )
        what = f"What percentage {source.say(span.last, end)}"
        rest = source.say(end, clause.end) if end < clause.end else ""
        yield Fact(form.ask(what, rest), source.raw(first, span.last), "percent", clause.subject)


def _quantity(clause: Clause, form: Form, span: Span, first: int, prep: str) -> Iterator[Fact]:
    tokens = clause.source.tokens
    period = span.unit.split()[-1] in PERIODS
    after = tokens[span.last].lower if span.last < clause.end else ""
    if after in ("after", "before", "ahead") and first == clause.rest:
        rest = clause.source.say(span.last, clause.end)
        yield Fact(
            form.put(f"How many {span.unit} {rest.strip(' ,.')}", form.ask("", "", lead="")[:-1].strip(), None),
            clause.source.raw(first, span.last), "number", clause.subject, "", "", clause.negated, True,
        )  # fmt: skip
        return
    if after in (
        "after",
        "before",
        "ahead",
        "ago",
        "later",
        "old",
        "long",
        "wide",
        "high",
        "and",
        "or",
    ):
        return
    if not prep and first == clause.rest:
        if clause.base in ("be", "take", "last") and period:
            yield from answer_at(clause, form, "How long", first, span.last, "duration")
        elif clause.base not in ("be", "rise", "grow", "increase", "decline", "fall"):
            yield from answer_at(clause, form, f"How many {span.unit}", first, span.last, "number")
    elif prep == "for" and period:
        yield from answer_at(
            clause, form, "For how long", first - 1, span.last, "duration", answer=first
        )
    elif prep == "within" and period:
        yield from answer_at(clause, form, "How soon", first - 1, span.last, "duration")
    elif (
        prep in ("of", "into")
        and clause.base in ("consist", "divide", "compose")
        and first - 1 == clause.rest
    ):
        yield from answer_at(
            clause,
            form,
            f"{prep.capitalize()} how many {span.unit}",
            first - 1,
            span.last,
            "number",
            answer=first,
        )
    elif prep == "for" and first - 1 == clause.rest and not period:
        yield from answer_at(
            clause, form, f"For how many {span.unit}", first - 1, span.last, "number", answer=first
        )


def _when(clause: Clause, form: Form, span: Span, first: int) -> Iterator[Fact]:
    tokens = clause.source.tokens
    prep, last = tokens[first].lower, span.last
    if prep not in (
        "in",
        "on",
        "at",
        "since",
        "until",
        "till",
        "from",
        "between",
        "during",
        "by",
        "after",
        "before",
    ):
        return
    joint = {"from": ("to", "until", "till"), "between": ("and",)}.get(prep, ())
    if last < clause.end and tokens[last].lower in joint:
        other = next((s for s in clause.spans if s.first == last + 1 and s.sort == span.sort), None)
        if other is None:
            return
        last = other.last
    elif prep == "between":
        return
    if last < clause.end and tokens[last].lower in ("and", "or"):
        return
    what = {
        "since": "Since when",
        "until": "Until when",
        "till": "Until when",
        "from": "From when",
    }.get(prep, "When")
    if last != span.last:
        what = "When"
    elif span.sort == "clock":
        what = {"at": "At what time", "by": "By what time"}.get(
            prep, f"{prep.capitalize()} what time"
        )
    bare = prep in ("in", "on", "at", "until", "since") and last == span.last
    yield from answer_at(
        clause, form, what, first, last, "date", answer=first + 1 if bare else first
    )


def dated_lead(clause: Clause, form: Form) -> Iterator[Fact]:
    if clause.lead_date is None or clause.negated:
        return
    source = clause.source
    a, b = clause.lead_date
    prep = source.tokens[a].lower
    if prep not in ("in", "on", "during", "between"):
        return
    rest = source.say(clause.rest, clause.end)
    start = a + 1 if prep in ("in", "on") else a
    yield Fact(
        form.ask("When", rest, lead=""), source.raw(start, b), "date", clause.subject,
        why=form.ask("Why", f"{rest} {prep} {{}}", lead="") if start > a else "",
    )  # fmt: skip


_PLACED = word_set(
    "bear locate situate find found establish hold build stand lie form settle meet base "
    "headquarter open live die bury sign exhibit house"
)


def places(clause: Clause, form: Form) -> Iterator[Fact]:
    """`was born in Leipzig`: where, when the verb says that something is or happens there."""
    tokens = clause.source.tokens
    if clause.base not in _PLACED or clause.rest >= clause.end:
        return
    for a, b in clause.names():
        at = a - 1
        if at > clause.rest and tokens[at].lower == "the":
            at -= 1
        if at < clause.rest or tokens[at].lower not in ("in", "at", "near", "on") or b > clause.end:
            continue
        if tokens[a].lower in MONTHS_AND_DAYS or any(
            s.first < b and a < s.last for s in clause.spans
        ):
            continue
        yield from answer_at(clause, form, "Where", at, b, "place")
        return


def counted_subject(clause: Clause, form: Form) -> Iterator[Fact]:
    """A number in the subject: `Eight study rooms are booked …`."""
    source = clause.source
    for span in clause.spans:
        start = amount_start(source.tokens, span.first, clause.first)
        if start != clause.first or span.last > clause.close:
            continue
        rest = source.say(clause.rest, clause.end).strip(" ,")
        behind = source.say(span.last, clause.close)
        verb = source.say(clause.verb, clause.rest)
        if clause.base == "be" and not clause.tail:
            continue
        if span.sort == "quantity" and len(rest.split()) >= 2 and clause.close > span.last - 1:
            what = f"How many {span.unit} {behind}".strip()
            yield Fact(
                form.put(what, f"{verb} {rest}", None),
                source.raw(start, span.last),
                "number",
                span.unit,
            )
        elif span.sort == "percent" and behind.startswith("of ") and clause.do != "does":
            what = f"What percentage {behind}"
            yield Fact(
                form.put(what, f"{verb} {rest}", None),
                source.raw(start, span.last),
                "percent",
                behind,
            )
