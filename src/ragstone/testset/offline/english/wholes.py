"""English questions for what a whole sentence tells: why, what happens if, what was claimed, whether it is so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.testset.offline.english.clauses import Clause
from ragstone.testset.offline.english.ends import end_of
from ragstone.testset.offline.english.forms import Form, to_me
from ragstone.testset.offline.english.verbs import BE, forms
from ragstone.testset.offline.english.words import PRONOUNS, RELATIVE, adverb
from ragstone.testset.offline.facts import Fact, Source
from ragstone.testset.spans import is_person, names
from ragstone.testset.vocabulary import UNCLEAR, word_set


def reason(clause: Clause, form: Form) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    at = next((n for n in range(clause.rest, len(tokens)) if tokens[n].lower == "because"), None)
    if at is None or at < clause.end or at > clause.end + 1 or at + 4 >= len(tokens):
        return
    end = end_of(source, at + 1, relatives=True)
    answer = source.raw(at, end).rstrip(" .,")
    if re.search(r"\b(?:this|these|those|it|they|he|she)\b", answer) or len(answer.split()) < 4:
        return
    rest = source.say(clause.rest, min(clause.end, at)).strip(" ,")
    yield Fact(form.ask("Why", rest), answer, "reason", clause.subject, negated=clause.negated)


def denied(clause: Clause, form: Form) -> Iterator[Fact]:
    """`The fee is not refunded`: is the fee refunded."""
    source, tokens = clause.source, clause.source.tokens
    rest = source.say(clause.rest, clause.end).strip(" ,.")
    none = (
        clause.rest < clause.end
        and tokens[clause.rest].lower == "no"
        and tokens[clause.rest + 1].lower not in ("less", "more", "longer", "fewer", "one", "doubt")
    )
    if (
        not (clause.negated or none)
        or clause.relative
        or clause.words[0] == "no"
        or not clause.subject
    ):
        return
    if none:
        rest = f"any {rest[3:]}"
    if re.search(r"\b(?:they|them|it|this|these)\b", rest) or (form.we and "you" in rest.split()):
        return
    helper = clause.auxiliary or clause.do
    said = "I" if form.you else "you" if form.we else clause.subject
    helper = {"are": "am", "were": "was"}.get(helper, helper) if form.you else helper
    question = form.put(helper.capitalize(), f"{said} {clause.tail} {rest}", None)
    if len(question.split()) >= 4:
        yield Fact(question, source.text.strip(), "denial", clause.subject, negated=True)


_SAYS = word_set(
    "say state argue claim suggest show find report announce note believe propose explain "
    "demonstrate conclude predict indicate reveal declare estimate insist assert confirm rule "
    "hold recommend"
)


def claim(clause: Clause, form: Form) -> Iterator[Fact]:
    """`The report suggests that …`: what it suggests."""
    source, tokens = clause.source, clause.source.tokens
    at = clause.rest
    while at < clause.end and adverb(tokens[at]):
        at += 1
    if (
        clause.base not in _SAYS
        or clause.negated
        or at >= len(tokens) - 4
        or tokens[at].lower != "that"
    ):
        return
    if clause.auxiliary in BE or (
        clause.words[0] in ("it", "he", "she", "they") and not clause.subject
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
    if end - at > 40:
        return
    rest = source.say(clause.rest, at) if at > clause.rest else ""
    yield Fact(
        form.ask("What", rest),
        source.raw(at, end).rstrip(" ."),
        "claim",
        clause.subject,
        form.again("What", rest),
        deep=True,
    )


_NO_PURPOSE = word_set(
    "expect require allow force incline estimate suspect understand say know think believe "
    "suppose ask order tell compel consider find permit need obligate oblige able likely "
    "report intend tend show prove assume appear seem lead"
)


def purpose(clause: Clause, form: Form) -> Iterator[Fact]:
    """`was created to explore …`: why it was created."""
    source, tokens = clause.source, clause.source.tokens
    passive = (clause.auxiliary in BE and clause.tail) or "been" in clause.tail.split()
    if not passive or clause.base in _NO_PURPOSE or clause.negated:
        return
    for n in range(clause.rest, min(clause.end, len(tokens) - 3)):
        if tokens[n].lower in RELATIVE:
            return
        if (
            tokens[n].lower == "to"
            and "base" in forms(tokens[n + 1].lower)
            and tokens[n - 1].lower not in ("able", "due", "according")
            and tokens[n + 1].lower != "date"
        ):
            end = end_of(source, n + 1, relatives=True)
            if end - n >= 4:
                rest = source.say(clause.rest, n) if n > clause.rest else ""
                yield Fact(
                    form.ask("Why", rest.removesuffix("in order").strip()),
                    source.raw(n, end).rstrip(" .,"),
                    "reason",
                    clause.subject,
                )
            return


def outcome(source: Source) -> Iterator[Fact]:
    """`If A, B.`: what happens if A."""
    tokens = source.tokens
    if (
        len(tokens) < 8
        or tokens[0].lower not in ("if", "when")
        or tokens[1].lower in PRONOUNS | {"this", "one"}
    ):
        return
    comma = next((n for n in range(3, min(22, len(tokens))) if tokens[n].text == ","), None)
    if comma is None or any(
        one.lower in UNCLEAR["en"] or one.lower.endswith("ing") for one in tokens[1:comma]
    ):
        return
    end = len(tokens) - 1 if tokens[-1].text in ".!" else len(tokens)
    if end - comma < 4 or any(
        one.lower in ("did", "was", "were", "had", "asked") for one in tokens[1:comma]
    ):
        return
    if any(
        "past" in forms(one.lower) and "base" not in forms(one.lower) for one in tokens[1:comma]
    ):
        return
    condition = to_me(source.say(0, comma))
    question = f"What happens {condition[:1].lower()}{condition[1:]}?"
    yield Fact(question, source.raw(comma + 1, end), "outcome").at(source)


_INITIALS = re.compile(
    r"((?:[A-Z][\w'’-]+(?: (?:of|for|and|the|de|la|del|y|para))* ){1,6}[A-Z][\w'’-]+) \(([A-Z]{2,6})\)"
)


def initials(text: str) -> Iterator[tuple[str, str]]:
    """`National Science Foundation (NSF)`: the letters and what they stand for."""
    for found in _INITIALS.finditer(text):
        name, letters = found.groups()
        whole = [word for word in name.split() if word[0].isupper()]
        if "".join(word[0] for word in whole[-len(letters) :]) == letters:
            start = name.rindex(whole[-len(letters)]) if len(whole) > len(letters) else 0
            yield letters, name[start:]


def spelled_out(source: Source) -> Iterator[Fact]:
    for letters, name in initials(source.text):
        yield Fact(f"What does {letters} stand for?", name, "initials", letters, deep=True).at(
            source
        )


def apposition(source: Source) -> Iterator[Fact]:
    """`Joseph Shea, a champion of LOR,`: who is he."""
    tokens = source.tokens
    for a, b in names(tokens, "en", source.names):
        if b + 3 >= len(tokens) or tokens[b].text != "," or tokens[b + 1].lower not in ("a", "an"):
            continue
        end = next(
            (n for n in range(b + 2, min(b + 14, len(tokens))) if tokens[n].text in ",.;:—"), None
        )
        if (
            end is None
            or end - b < 4
            or any(tokens[n].lower in RELATIVE | {"and", "or"} for n in range(b + 1, end))
        ):
            continue
        if any(
            {"past", "third"} & set(forms(tokens[n].lower)) for n in range(b + 1, min(b + 5, end))
        ):
            continue
        found = [one.text for one in tokens[a:b]]
        if a and tokens[a - 1].text.endswith(("'s", "’s")):
            continue  # `Tyndale's English Bible`
        if is_person(found, tokens[a - 1].lower if a else "", source.people) and len(found) > 1:
            yield Fact(
                f"Who is {' '.join(found)}?",
                source.raw(b + 1, end),
                "definition",
                " ".join(found),
                deep=True,
            ).at(source)
