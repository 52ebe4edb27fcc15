"""English questions for what stands behind the verb: what of, what into, how, under what condition, which example."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.testset.offline.english.clauses import Clause
from ragstone.testset.offline.english.ends import end_of
from ragstone.testset.offline.english.forms import TIMES, Form, inner
from ragstone.testset.offline.english.people import is_people
from ragstone.testset.offline.english.verbs import BE, forms
from ragstone.testset.offline.english.words import DET, PREP, PRONOUNS, RELATIVE, adverb
from ragstone.testset.offline.facts import Fact, Source
from ragstone.testset.spans import is_number, is_person, plural, typed
from ragstone.testset.vocabulary import UNCLEAR, word_set

_REACHED = word_set("to into on upon with from through against across as onto of for")
_LONG = 16
"""Tokens of an answer."""
_POINTING = re.compile(
    r"\b(?:this|that|these|those|it|they|them|him|he|she|which|who)\b|\bsuch(?! as)\b"
)
_ERAS = word_set("century centuries decade era period season")
_SET_PHRASES = word_set(
    "addition contrast fact general particular turn case order part place result time example "
    "instance average detail total response account behalf basis way extent degree end"
)


def reached(clause: Clause, form: Form) -> Iterator[Fact]:
    """`flows through the Rhine Gorge`: what it flows through."""
    source, tokens = clause.source, clause.source.tokens
    at = clause.rest
    while at < clause.end and adverb(tokens[at]):
        at += 1
    if at >= clause.end - 1 or clause.negated or not clause.base:
        return
    prep = tokens[at].lower
    if prep == "from" and at > clause.rest:
        return  # `regulated separately from`
    if (tokens[at - 1].lower, prep) in (
        ("used", "to"),
        ("composed", "of"),
    ) and not clause.auxiliary:
        return
    if prep == "to" and tokens[at - 1].lower == "used":
        return
    bare_be = clause.base == "be" and not clause.tail
    if tokens[at + 1].lower in ("half", "most", "one", "all", "which", "whom"):
        return
    if prep not in _REACHED or bare_be or (prep == "to" and "base" in forms(tokens[at + 1].lower)):
        return
    end = _phrase_end(clause, at + 1)
    if not _sound(clause, at + 1, end):
        return
    person = any(
        at < a
        and b == end
        and is_person([one.text for one in tokens[a:b]], tokens[a - 1].lower, source.people)
        for a, b in clause.names()
    )
    person = person or is_people(tokens[end - 1].lower)
    behind = source.say(end, clause.end).strip(" ,") if end < clause.end else ""
    if behind.split(" ")[0] in ("to", "of", "and", "or", "as", "than") or _POINTING.search(behind):
        return
    what = "Who" if person else "What"
    loose = behind.split(" ")[0] in PREP and prep in (
        "on",
        "across",
        "over",
        "through",
        "of",
        "for",
    )
    if loose or len(behind.split()) > 5:  # `established on in 1964`
        return
    rest = f"{prep} {behind}".strip()
    yield Fact(
        form.ask(what, rest), source.raw(at + 1, end), "person" if person else "thing",
        clause.subject, form.again(what, rest), deep=True,
    )  # fmt: skip


def _phrase_end(clause: Clause, start: int) -> int:
    """Where the noun phrase that starts here ends: at the next preposition but `of`, or with the clause."""
    tokens = clause.source.tokens
    stops = (PREP - {"of"}) | RELATIVE | {"to"}
    end = next((n for n in range(start + 1, clause.end) if tokens[n].lower in stops), clause.end)
    if end < clause.end and tokens[end - 1].lower == "such":
        return clause.end
    while end > start and (adverb(tokens[end - 1]) or tokens[end - 1].text == ","):
        end -= 1
    return end


def _sound(clause: Clause, start: int, end: int) -> bool:
    """Whether tokens start..end are a phrase that answers: no date, no pronoun, no torso."""
    source, tokens = clause.source, clause.source.tokens
    if end <= start or end - start > _LONG or tokens[start].lower in RELATIVE | PRONOUNS | PREP:
        return False
    if tokens[start].lower in UNCLEAR["en"] or tokens[start].lower.endswith("ing"):
        return False
    first = tokens[start]
    if end - start == 1 and not first.capital and not plural(first.lower, "en"):
        return False
    if tokens[end - 1].lower in TIMES | _SET_PHRASES | _ERAS or "participle" in forms(
        tokens[end - 1].lower
    ):
        return False
    if any(
        s.first < end and s.last > start and s.sort in ("date", "clock", "day", "money")
        for s in clause.spans
    ):
        return False
    if any(letter.isdigit() for letter in first.text) or is_number(first, "en"):
        return False
    return not _POINTING.search(source.say(start, end))


def means(clause: Clause, form: Form) -> Iterator[Fact]:
    """`achieved princely rank by proclaiming …`: how it achieved it."""
    source, tokens = clause.source, clause.source.tokens
    if clause.negated or not clause.base or (clause.base == "be" and not clause.tail):
        return
    for n in range(clause.rest, clause.end - 2):
        if tokens[n].lower in RELATIVE:
            return
        low = tokens[n + 1].lower
        if tokens[n].lower == "by" and low.endswith("ing") and len(low) > 5:
            end = end_of(source, n + 1, relatives=True)
            rest = source.say(clause.rest, n) if n > clause.rest else ""
            answer = source.raw(n, end).rstrip(" .,;")
            if rest.startswith(("and ", "or ")):
                return
            if 3 <= end - n <= 24 and not re.search(r"\b(?:this|these|those)\b", answer):
                yield Fact(
                    form.ask("How", rest), answer, "means", clause.subject, form.again("How", rest)
                )
            return


def condition(clause: Clause, form: Form) -> Iterator[Fact]:
    """`occurs when the immune system is less active`: when does it occur."""
    source, tokens = clause.source, clause.source.tokens
    if clause.negated or not clause.base or clause.lead or clause.do == "did":
        return
    if clause.auxiliary in ("was", "were", "had"):
        return
    at = next(
        (
            n
            for n in range(clause.rest, clause.end - 3)
            if tokens[n].lower in ("when", "if", "unless")
        ),
        None,
    )
    if at is None or any(tokens[n].lower in RELATIVE for n in range(clause.rest, at)):
        return
    if clause.base == "be" and not clause.tail and at == clause.rest:
        return
    if any(s.sort in ("date", "clock", "day") and s.first < at for s in clause.spans):
        return
    end = end_of(source, at + 1, relatives=True)
    # the whole clause answers: `when the tracking stands still` alone is no sentence
    answer = source.raw(clause.first, end).rstrip(" .,;")
    rest = source.say(clause.rest, at) if at > clause.rest else ""
    rest = re.sub(r"(?:^| )only$", "", rest.strip())
    if not 4 <= end - at <= 22 or re.search(r"\b(?:this|these|those|you|yours?)\b", answer):
        return
    word = tokens[at].lower
    what = "When" if word == "when" else "Under what condition" if word == "if" else ""
    if what:
        yield Fact(form.ask(what, rest), answer, "condition", clause.subject, deep=True)


def wide_object(clause: Clause, form: Form) -> Iterator[Fact]:
    """`announced the results of an examination of 25 bodies`: what they announced, to the end of the clause."""
    source, tokens = clause.source, clause.source.tokens
    passive = clause.auxiliary in BE or {"be", "been", "being"} & set(clause.tail.split())
    if passive or clause.negated or clause.base not in _TAKES or clause.rest >= clause.end - 1:
        return
    start = tokens[clause.rest]
    if start.lower not in DET - {"this", "that", "these", "those", "no"} and not start.capital:
        return
    size = clause.end - clause.rest
    answer = source.raw(clause.rest, clause.end).rstrip(" ,.;")
    if not 3 <= size <= 22 or _POINTING.search(" ".join(answer.lower().split()[:3])):
        return
    if any(s.sort in ("date", "clock") and s.last >= clause.end for s in clause.spans):
        return
    if inner(clause, clause.rest, clause.end) is None:
        return
    yield Fact(
        form.ask("What", ""), answer, "thing", clause.subject, form.again("What", ""),
        negated=clause.negated,
    )  # fmt: skip


def called(clause: Clause, form: Form) -> Iterator[Fact]:
    """`is called primality`: what it is called."""
    source, tokens = clause.source, clause.source.tokens
    named = clause.tail.split()[-1:] in (["called"], ["named"], ["termed"], ["dubbed"], ["renamed"])
    if not named or clause.negated or clause.rest >= clause.end or clause.auxiliary not in BE:
        return
    if tokens[clause.rest].lower in PREP | RELATIVE | {"to"}:
        return
    end = _phrase_end(clause, clause.rest)
    behind = source.say(end, clause.end).strip(" ,.") if end < clause.end else ""
    if len(behind.split()) > 6 or behind.startswith(("to ", "of ")):
        return
    answer = source.raw(clause.rest, end).rstrip(" ,.")
    yield Fact(form.ask("What", behind), answer, "name", clause.subject, form.again("What", behind))


_TAKES = word_set(
    "accept achieve acquire adopt affect announce approve attack attract award build capture carry "
    "cause celebrate challenge claim collect commission complete comprise conduct confirm conquer "
    "contain control convert cover create criticize defeat define deliver demand describe design "
    "destroy determine develop direct discover display dissolve divide dominate earn emphasize "
    "employ encourage enforce establish examine exclude exhibit expand experience explain explore "
    "express extend face feature fight finance follow form found generate govern handle host "
    "identify illustrate implement impose improve include incorporate increase indicate inhibit "
    "influence inherit inspire introduce invade invent investigate involve issue join launch lead "
    "limit maintain manage measure negotiate observe obtain occupy offer operate oppose organize "
    "outline oversee own perform possess prepare present preserve prevent produce prohibit promise "
    "promote propose protect provide publish pursue raise reach receive recognise recognize record "
    "reduce reflect reform regulate reject release replace report represent require resist "
    "restore restrict reveal review revise ridicule rule run secure seek sell serve share show sign "
    "sponsor stress study suffer supply support suppress survive teach threaten trace transform "
    "translate transmit trigger undermine use utilize violate visit win write accommodate assemble "
    "assign chair claim compile enact mandate manufacture merge operate oversee patent predate "
    "become prompt stipulate supervise sustain underpin uphold yield combine store track keep help print"
)
"""Verbs whose whole object answers `what`."""


_EXAMPLES = ("such", "including")


def examples(source: Source) -> Iterator[Fact]:
    """`respiratory infections, such as X, Y and Z`: what are some examples of respiratory infections."""
    tokens = source.tokens
    for n in range(2, len(tokens) - 2):
        if tokens[n].lower != "such" or tokens[n + 1].lower != "as":
            continue
        last = n - 1 if tokens[n - 1].text == "," else n
        first = last - 1
        while (
            first > 0 and last - first < 5 and _modifier(tokens[first - 1].lower, first - 1, source)
        ):
            first -= 1
        end = end_of(source, n + 2)
        named = source.say(first, last)
        answer = source.raw(n + 2, end).rstrip(" ,.;)")
        fits = plural(tokens[last - 1].lower, "en") and last - first >= 2
        if not fits or not 1 <= end - n - 2 <= 22 or _POINTING.search(answer.lower()):
            continue
        one = "," not in answer and " and " not in answer and " or " not in answer
        if any(forms(word).get("third") for word in answer.lower().split()[2:]):
            continue
        asks = "What is an example of" if one else "What are some examples of"
        yield Fact(f"{asks} {named}?", answer, "list", named, deep=True).at(source)


def _modifier(word: str, at: int, source: Source) -> bool:
    """Whether a word before a noun belongs to it: no article, preposition, verb or sign."""
    token = source.tokens[at]
    if not token.word or token.lower in DET | PREP | RELATIVE | {
        "and",
        "or",
        "of",
        "other",
        "as",
        "to",
        "but",
        "have",
        "has",
        "had",
        "are",
        "is",
        "were",
        "was",
        "many",
        "various",
    }:
        return False
    kinds = forms(word)
    return (
        at > 0
        and not ("past" in kinds or "third" in kinds)
        and not (kinds.get("base") and not word.endswith("s"))
    )


def existing(source: Source) -> Iterator[Fact]:
    """`There are 12 lockers beside the door`: how many there are, or what there is."""
    tokens = source.tokens
    if len(tokens) < 6 or tokens[0].lower != "there" or tokens[1].lower not in BE:
        return
    end = end_of(source, 2)
    verb = tokens[1].lower
    if tokens[2].lower in ("never", "not", "no", "hardly", "barely", "scarcely"):
        return
    if any(one.lower in UNCLEAR["en"] | RELATIVE for one in tokens[2:end]):
        return
    for span in typed(source.text, list(tokens), "en"):
        if span.sort == "quantity" and 2 <= span.first <= 4 and span.last < end:
            rest = source.say(span.last, end).strip(" ,.")
            if rest and rest.split()[0] in PREP:
                yield Fact(
                    f"How many {span.unit} {verb} there {rest}?", source.raw(2, span.last), "number",
                    span.unit,
                ).at(source)  # fmt: skip
            return
    at = next(
        (
            n
            for n in range(3, end)
            if tokens[n].lower in ("in", "on", "at", "near", "behind", "beside", "between")
        ),
        None,
    )
    if at is None or end - at < 3 or tokens[2].lower not in ("a", "an") or at - 2 > 10:
        return
    where = source.say(at, end).strip(" ,.")
    yield Fact(f"What {verb} there {where}?", source.raw(2, at).rstrip(" ,"), "thing").at(source)
