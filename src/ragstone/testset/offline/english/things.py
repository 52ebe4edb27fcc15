"""English questions for what a clause is about: who, what, what it is, what it consists of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.testset.offline.english.clauses import Clause
from ragstone.testset.offline.english.ends import end_of
from ragstone.testset.offline.english.forms import TIMES, Form, inner
from ragstone.testset.offline.english.people import is_people
from ragstone.testset.offline.english.subjects import informative
from ragstone.testset.offline.english.verbs import BE, forms
from ragstone.testset.offline.english.words import DET, PREP, PRONOUNS, RELATIVE, adverb, head
from ragstone.testset.offline.facts import Fact
from ragstone.testset.spans import is_number, is_person, plural
from ragstone.testset.vocabulary import word_set


def agent(clause: Clause, form: Form) -> Iterator[Fact]:
    """Passives: `was developed by Charles Richard`."""
    source, tokens = clause.source, clause.source.tokens
    if (
        not clause.tail
        or clause.auxiliary not in BE | {"has", "have", "had"}
        or clause.rest >= clause.end
    ):
        return
    at = next((n for n in range(clause.rest, clause.end - 1) if tokens[n].lower == "by"), None)
    if at is None or at - clause.rest > 3:
        return
    end = next(
        (n for n in range(at + 1, clause.end) if tokens[n].lower in PREP | RELATIVE), clause.end
    )
    start = tokens[at + 1]
    if not (start.lower in DET or start.capital or plural(tokens[end - 1].lower, "en")) or any(
        s.first < end and s.last > at for s in clause.spans
    ):
        return
    parts = inner(clause, at, end)
    if parts is None:
        return
    before, behind, _ = parts
    if "by" in behind.split() or (
        behind.startswith("of ") or (end < clause.end and tokens[end].lower == "to")
    ):
        return
    person = any(
        at < a
        and b == end
        and is_person([one.text for one in tokens[a:b]], tokens[a - 1].lower, source.people)
        for a, b in clause.names()
    )
    what = "Who" if person or is_people(tokens[end - 1].lower) else "What"
    yield Fact(
        form.ask(what, f"by {before} {behind}"), source.raw(at + 1, end), "person" if person else "thing", clause.subject,
        why=form.why(f"{before} by", behind), negated=clause.negated,
    )  # fmt: skip


_SINGLED_OUT = re.compile(
    r"\b(?:most|first|last|largest|biggest|smallest|highest|lowest|oldest|longest|main|only|best|earliest|greatest|latest|"
    r"name|purpose|goal|aim|role|term|cause|basic unit|official|average|chief|youngest)\b"
)

_ACTOR = re.compile(
    r"(?:tor|sor|ist|eer|ian|leader|player|founder|member|champion|winner|ruler|king|queen|companions?)$"
)


def definition(clause: Clause, form: Form) -> Iterator[Fact]:
    """`X is a Y`: what or who is X; `X is the first Y`: what is the first Y."""
    source, tokens = clause.source, clause.source.tokens
    if (
        clause.base != "be"
        or clause.tail
        or clause.negated
        or clause.auxiliary not in BE
        or clause.rest >= clause.end - 1
    ):
        return
    start = tokens[clause.rest]
    whole = start.lower in ("to", "that") and clause.words[0] == "the"
    if start.lower not in ("a", "an", "the", "one") and not start.capital and not whole:
        return
    end = end_of(source, clause.rest, relatives=True)
    answer = source.raw(clause.rest, end).rstrip(" ,.;")
    if start.lower == "that" and end - clause.rest < 5:
        return
    subject, helper = clause.subject, clause.auxiliary
    bare = clause.words[0] not in DET | PRONOUNS
    pronoun = clause.words[0] in PRONOUNS and subject[:1].isupper()
    if start.lower in ("a", "an", "one"):
        roles = any(is_people(one.lower) for one in tokens[clause.rest : clause.rest + 4])
        if clause.person or (roles and clause.named):
            yield Fact(f"Who {helper} {subject}?", answer, "definition", subject)
        elif (clause.named or bare or pronoun) and len(subject.split()) <= 6 and not clause.lead:
            yield Fact(f"What {helper} {subject}?", answer, "definition", subject)
    elif start.lower == "the" and (clause.named or clause.person) and len(clause.words) <= 6:
        rest = source.say(clause.rest, clause.end)
        what = "Who" if clause.person else "What"
        if len(rest.split()) >= 4:
            yield Fact(
                form.put(what, f"{helper} {rest}", None),
                source.raw(clause.first, clause.close),
                "name",
                subject,
            )
    elif _SINGLED_OUT.search(subject) or (clause.words[0] == "the" and informative(clause)):
        person = start.capital and (
            is_person([one.text for one in tokens[clause.rest : end]], "", source.people)
            or _ACTOR.search(head(source, clause.first, clause.close)) is not None
        )
        yield Fact(
            form.put("Who" if person else "What", f"{helper} {subject}", None),
            answer,
            "definition",
            subject,
        )


_NO_OBJECT = word_set(
    "leave be remain become appear last cost weigh take have say come go live die lie sit stand "
    "occur happen exist arrive result mean tend seem equal make rank number rise grow get "
    "give grant award send earn owe look stay feel sound decline increase let help keep "
    "continue begin start think believe know state argue claim suggest say report note find "
    "see call name enable allow cause force lead require ask encourage persuade appoint elect "
    "tell consider make want need end move total consist add put set date"
)

_WHOM = word_set("defeat beat invite marry kill succeed assassinate crown")

_HAVE = word_set("include contain carry need support have create cause require")

_AT = word_set("in at during until after before from")

_WHEN = word_set("when while because although though if unless whereas since so until")
"""What tells of the whole clause, not of its object."""


def thing(clause: Clause, form: Form) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    passive = clause.auxiliary in BE or "be" in clause.tail.split() or "been" in clause.tail.split()
    if passive or clause.rest >= clause.end or clause.negated:
        return
    if clause.base in _NO_OBJECT - _HAVE or not clause.base:
        return
    start = tokens[clause.rest]
    if not (
        start.lower in DET - {"its", "their", "his", "her", "no", "this", "that", "these", "those"}
        or start.capital
        or plural(start.lower, "en")
        or "," in source.say(clause.rest, clause.end)
    ):
        return
    if (
        start.lower in PREP
        or adverb(start)
        or is_number(start, "en")
        or start.lower in RELATIVE | {"to"}
    ):
        return
    stops = (PREP - {"of"}) | RELATIVE | {"to"}
    end = next(
        (n for n in range(clause.rest + 1, clause.end) if tokens[n].lower in stops), clause.end
    )
    while end > clause.rest and (adverb(tokens[end - 1]) or tokens[end - 1].text == ","):
        end -= 1
    if end <= clause.rest or (
        "participle" in forms(tokens[end - 1].lower)
        and end < clause.end
        and not tokens[end - 1].capital
    ):
        return
    if end < clause.end and (
        tokens[end].lower in (RELATIVE - _WHEN) | {"to", "as"}
        or (end + 1 < clause.end and tokens[end + 1].lower in RELATIVE)
    ):
        end = clause.end  # what defines the object belongs to it
    if any(s.first < end and s.last > clause.rest for s in clause.spans) or end - clause.rest > 14:
        return
    behind = [one.lower for one in tokens[end : clause.end]]
    loose = len(behind) > 9 or "and" in behind or (behind[:1] and behind[0] in PREP - _AT)
    if tokens[end - 1].lower in TIMES:
        return
    parts = inner(clause, clause.rest, end)
    if parts is None or (end - clause.rest == 1 and not start.capital):
        return
    heads = next((n for n in range(clause.rest, end) if tokens[n].lower == "of"), end)
    person = is_people(tokens[heads - 1].lower) or any(
        a >= clause.rest
        and b == end
        and is_person([one.text for one in tokens[a:b]], tokens[a - 1].lower, source.people)
        for a, b in clause.names()
    )
    # what follows may belong to the object, so the question does without it
    rest = "" if loose else parts[1]
    listed = any(tokens[n].text == "," for n in range(clause.rest, end))
    whom = person or (clause.base in _WHOM and tokens[end - 1].capital)
    what = "Who" if whom else "What"
    yield Fact(
        form.ask(what, rest), source.raw(clause.rest, end), "list" if listed else "person" if person else "thing",
        clause.subject, form.again(what, rest), form.why("", rest), clause.negated,
    )  # fmt: skip
