"""Questions over English clauses: who, when, how many, what it is, why, what happens if."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragstone.testset.offline.english.clauses import Clause, clauses
from ragstone.testset.offline.english.complements import complement
from ragstone.testset.offline.english.counts import counted, counted_subject, dated_lead, places
from ragstone.testset.offline.english.forms import LONGEST, Form, clean, whole
from ragstone.testset.offline.english.negation import denies, doubtful
from ragstone.testset.offline.english.rests import (
    called,
    condition,
    examples,
    existing,
    means,
    reached,
    wide_object,
)
from ragstone.testset.offline.english.subjects import subject
from ragstone.testset.offline.english.things import agent, definition, thing
from ragstone.testset.offline.english.wholes import (
    apposition,
    claim,
    denied,
    outcome,
    purpose,
    reason,
    spelled_out,
)
from ragstone.testset.offline.facts import Fact, Source

__all__ = ["clauses", "facts"]


def facts(source: Source, found: Sequence[Clause]) -> Iterator[Fact]:
    """What the sentence tells, one fact for each thing that can be asked for."""
    yield from outcome(source)
    yield from spelled_out(source)
    yield from apposition(source)
    yield from examples(source)
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
    tokens = clause.source.tokens
    joined = clause.rest < clause.end and tokens[clause.rest].lower in ("and", "or")
    if clause.lead == "?" or joined:  # `designed and constructed` cannot be turned into a question
        return
    if doubtful(clause):
        return
    if denies(clause):
        clause = replace(clause, negated=True)
    form = Form(clause)
    body = [one.lower for one in tokens[clause.rest : clause.end]]
    if clause.base or clause.auxiliary:
        yield from denied(clause, form)
    ours = any(word in ("we", "us", "our", "ours") for word in body)
    if (ours and not form.we) or (not form.you and not form.we and {"your", "you"} & set(body)):
        return
    if clause.negated and not clause.auxiliary:
        return  # `Members never pay`: beyond yes or no, what a plain verb tells would be turned around
    if not clause.relative and (clause.base or clause.auxiliary):
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
