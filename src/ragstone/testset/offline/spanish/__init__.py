"""Questions over Spanish clauses: quién, cuándo, cuántos, qué es, por qué, qué pasa si."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragstone.testset.offline.english.wholes import initials
from ragstone.testset.offline.facts import Fact, Source
from ragstone.testset.offline.spanish.clauses import Clause, clauses
from ragstone.testset.offline.spanish.counts import (
    counted,
    counted_subject,
    dated_lead,
    existing,
    places,
)
from ragstone.testset.offline.spanish.forms import LONGEST, Form, clean, whole
from ragstone.testset.offline.spanish.negation import doubtful
from ragstone.testset.offline.spanish.rests import (
    called,
    condition,
    means,
    reached,
    wide_object,
)
from ragstone.testset.offline.spanish.things import agent, complement, definition, subject, thing
from ragstone.testset.offline.spanish.wholes import (
    apposition,
    claim,
    denied,
    outcome,
    purpose,
    reason,
)

__all__ = ["clauses", "facts"]


def facts(source: Source, found: Sequence[Clause]) -> Iterator[Fact]:
    """What the sentence tells, one fact for each thing that can be asked for."""
    yield from outcome(source)
    for letters, name in initials(source.text):
        yield Fact(
            f"¿Qué significan las siglas {letters}?", name, "initials", letters, deep=True
        ).at(source)
    yield from apposition(source)
    yield from existing(source)
    for number, clause in enumerate(found):
        for fact in _from(clause):
            if fact.negated and fact.sort == "date":
                continue  # what did not happen has no day
            if (
                len(fact.question.split()) <= LONGEST
                and clean(fact.question)
                and whole(fact.answer)
            ):
                yield Fact(
                    fact.question, fact.answer, fact.sort, fact.subject, fact.again, fact.why,
                    fact.negated, fact.deep or number > 0,
                ).at(source)  # fmt: skip


def _from(clause: Clause) -> Iterator[Fact]:
    if clause.lead == "?" or not clause.subject or doubtful(clause):
        return
    tokens = clause.source.tokens
    body = [one.lower for one in tokens[clause.verb : clause.end]]
    if any(
        word
        in ("nosotros", "nuestro", "nuestra", "nuestros", "nuestras", "usted", "ustedes", "nos")
        for word in body
    ):
        return
    before = tokens[clause.verb : clause.finite]
    if any(one.lower in ("lo", "la", "los", "las", "le", "les") for one in before):
        return  # the object stands first: what looks like the subject is not
    form = Form(clause)
    yield from denied(clause, form)
    if not clause.relative:
        yield from counted(clause, form)
        yield from dated_lead(clause, form)
        yield from places(clause, form)
        yield from agent(clause, form)
        yield from definition(clause, form)
        yield from wide_object(clause, form)
        yield from thing(clause, form)
        yield from complement(clause, form)
        yield from called(clause, form)
        yield from means(clause, form)
        yield from condition(clause, form)
        yield from reached(clause, form)
        yield from claim(clause, form)
        yield from purpose(clause, form)
        yield from reason(clause, form)
        yield from counted_subject(clause, form)
    yield from subject(clause, form)
