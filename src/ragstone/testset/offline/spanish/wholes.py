"""Spanish questions for what a whole sentence tells: why, what happens if, what was claimed, whether it is so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.testset.offline.facts import Fact, Source
from ragstone.testset.offline.spanish.clauses import Clause
from ragstone.testset.offline.spanish.forms import Form
from ragstone.testset.offline.spanish.groups import end_of
from ragstone.testset.offline.spanish.verbs import finite, infinitive
from ragstone.testset.offline.spanish.words import PREP, RELATIVE, adverb
from ragstone.testset.spans import is_person, names
from ragstone.testset.vocabulary import UNCLEAR


def reason(clause: Clause, form: Form) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    at = next(
        (
            n
            for n in range(clause.rest, len(tokens) - 3)
            if tokens[n].lower == "porque"
            or (tokens[n].lower in ("ya", "debido") and tokens[n + 1].lower in ("que", "a"))
        ),
        None,
    )
    if at is None or at > clause.end + 1:
        return
    end = end_of(source, at + 1, relatives=True)
    answer = source.raw(at, end).rstrip(" .,")
    if re.search(r"\b(?:esto|estos|estas|este|esta|eso)\b", answer) or len(answer.split()) < 4:
        return
    rest = source.say(clause.rest, min(clause.end, at)).strip(" ,")
    yield Fact(form.ask("por qué", rest), answer, "reason", clause.subject, negated=clause.negated)


def denied(clause: Clause, form: Form) -> Iterator[Fact]:
    """`Los muebles no se envían a las islas`: se envían los muebles a las islas."""
    source = clause.source
    if not clause.negated or clause.relative or clause.words[:1] in (["nadie"], ["ninguno"]):
        return
    rest = source.say(clause.rest, clause.end).strip(" ,.")
    group = re.sub(r"^no ", "", clause.group)
    if re.search(r"\b(?:nunca|nada|nadie|ningún|ninguna|ni)\b", rest) or clause.main in (
        "hay",
        "hace",
    ):
        return
    body = (
        f"{clause.subject} {rest}"
        if len(clause.subject.split()) <= 7
        else f"{rest} {clause.subject}"
    )
    question = form.put(group, body, None)
    if len(question.split()) >= 4:
        yield Fact(question, source.text.strip(), "denial", clause.subject, negated=True)


_SAYS = re.compile(
    r"(?:afirm|sostuv|sostien|sugir|sugier|demostr|demuestr|mostr|muestr|dij|dice|anunci|explic|concluy|indic|revel|declar|estim|argument|asegur|confirm|propus|propon|señal|cree|consider|recomend|recomiend|predij)\w*$"
)


def claim(clause: Clause, form: Form) -> Iterator[Fact]:
    """`El informe sugiere que …`: qué sugiere."""
    source, tokens = clause.source, clause.source.tokens
    at = clause.rest
    while at < len(tokens) and adverb(tokens[at]):
        at += 1
    if (
        not _SAYS.match(clause.last_verb)
        or clause.negated
        or at >= len(tokens) - 4
        or tokens[at].lower != "que"
        or clause.reflexive
    ):
        return
    end = next(
        (
            n
            for n in range(at, len(tokens))
            if tokens[n].text in ";:" or (tokens[n].text in ".!" and n >= len(tokens) - 2)
        ),
        len(tokens),
    )
    if end - at > 42:
        return
    yield Fact(
        form.ask("qué", ""),
        source.raw(at, end).rstrip(" ."),
        "claim",
        clause.subject,
        form.again("qué", ""),
        deep=True,
    )


def purpose(clause: Clause, form: Form) -> Iterator[Fact]:
    """`se creó para explorar …`: para qué se creó."""
    source, tokens = clause.source, clause.source.tokens
    if clause.negated:
        return
    for n in range(clause.rest, min(clause.end, len(tokens) - 3)):
        if tokens[n].lower in RELATIVE:
            return
        if tokens[n].lower == "para" and infinitive(tokens[n + 1].lower):
            end = end_of(source, n + 1, relatives=True)
            if end - n >= 4:
                rest = source.say(clause.rest, n) if n > clause.rest else ""
                if len(rest.split()) > 9:  # the object alone: where and when it happens may go
                    stop = (
                        m
                        for m in range(clause.rest + 1, n)
                        if tokens[m].lower in PREP - {"de", "del"}
                    )
                    rest = source.say(clause.rest, next(stop, n))
                if len(rest.split()) > 9 or re.search(r"\bal \w+[aei]r\b", rest):
                    return
                yield Fact(
                    form.ask("para qué", rest),
                    source.raw(n, end).rstrip(" .,"),
                    "reason",
                    clause.subject,
                )
            return


def outcome(source: Source) -> Iterator[Fact]:
    """`Si A, B.`: qué pasa si A."""
    tokens = source.tokens
    if len(tokens) < 8 or tokens[0].lower not in ("si", "cuando"):
        return
    comma = next((n for n in range(3, min(22, len(tokens))) if tokens[n].text == ","), None)
    if comma is None or any(
        one.lower in UNCLEAR["es"] - {"le", "les", "su", "sus", "lo"} for one in tokens[1:comma]
    ):
        return
    end = len(tokens) - 1 if tokens[-1].text in ".!" else len(tokens)
    if end - comma < 4 or any(
        one.lower.endswith(("ó", "aron", "ieron", "aba", "aban")) for one in tokens[1:comma]
    ):
        return
    if not any(finite(one.lower) for one in tokens[1:comma]) or tokens[1].lower in ("bien",):
        return
    condition = source.say(0, comma)
    verb = "pasa" if tokens[0].lower == "si" else "ocurre"
    question = f"¿Qué {verb} {condition[:1].lower()}{condition[1:]}?"
    yield Fact(question, source.raw(comma + 1, end), "outcome").at(source)


def apposition(source: Source) -> Iterator[Fact]:
    """`Joseph Shea, defensor de LOR,`: quién es."""
    tokens = source.tokens
    for a, b in names(tokens, "es", source.names):
        if (
            b + 3 >= len(tokens)
            or tokens[b].text != ","
            or tokens[b + 1].lower not in ("un", "una")
        ):
            continue
        end = next(
            (n for n in range(b + 2, min(b + 14, len(tokens))) if tokens[n].text in ",.;:—"), None
        )
        if (
            end is None
            or end - b < 4
            or any(
                tokens[n].lower in RELATIVE | {"y", "o"} or finite(tokens[n].lower)
                for n in range(b + 1, end)
            )
        ):
            continue
        found = [one.text for one in tokens[a:b]]
        if is_person(found, tokens[a - 1].lower if a else "", source.people) and len(found) > 1:
            yield Fact(
                f"¿Quién es {source.say(a, b)}?",
                source.raw(b + 1, end),
                "definition",
                " ".join(found),
                deep=True,
            ).at(source)
