"""English questions for what a verb goes with: consists of, is famous for."""

from __future__ import annotations

from collections.abc import Iterator

from ragstone.testset.offline.english.clauses import Clause
from ragstone.testset.offline.english.ends import end_of
from ragstone.testset.offline.english.forms import Form
from ragstone.testset.offline.english.words import RELATIVE, adverb
from ragstone.testset.offline.facts import Fact
from ragstone.testset.vocabulary import UNCLEAR

_PAIRS = frozenset(
    [
        "consist of",
        "depend on",
        "focus on",
        "lead to",
        "belong to",
        "refer to",
        "result in",
        "rely on",
        "deal with",
        "stem from",
        "come from",
        "suffer from",
        "specialize in",
        "convert to",
        "apply to",
        "respond to",
        "compete with",
        "differ from",
        "account for",
        "participate in",
        "contribute to",
        "correspond to",
        "derive from",
        "originate in",
        "graduate from",
        "known for",
        "known as",
        "famous for",
        "based on",
        "used for",
        "used as",
        "used in",
        "made of",
        "made from",
        "made up",
        "composed of",
        "derived from",
        "named after",
        "responsible for",
        "lined with",
        "connected to",
        "connected with",
        "divided into",
        "associated with",
        "related to",
        "similar to",
        "replaced with",
        "described as",
        "referred to",
        "regarded as",
        "interpreted as",
        "considered as",
        "part of",
        "home to",
        "member of",
        "filled with",
        "covered with",
        "covered in",
        "defined as",
        "linked to",
        "attributed to",
        "opposed to",
        "subject to",
        "equivalent to",
        "surrounded with",
        "classified as",
        "marked in",
        "marked with",
        "due to",
        "capable of",
        "involved in",
        "characterized by",
        "written in",
        "printed in",
    ]
)


def complement(clause: Clause, form: Form) -> Iterator[Fact]:
    """`consists of six quadrangles`, `is famous for its bridges`: what it consists of, is famous for."""
    source, tokens = clause.source, clause.source.tokens
    at = clause.rest
    while at < clause.end and adverb(tokens[at]):
        at += 1
    if at >= clause.end - 1 or clause.negated:
        return
    word = clause.base if clause.do else tokens[clause.rest - 1].lower
    adjective = ""
    if clause.base == "be" and not clause.tail:
        adjective, word, at = tokens[at].text, tokens[at].lower, at + 1
    if at >= clause.end - 1 or f"{word} {tokens[at].lower}" not in _PAIRS:
        return
    prep = tokens[at].lower
    if prep == "up" and tokens[at + 1].lower == "of":
        prep, at = "up of", at + 1
    if prep == "to" and word == "referred" and tokens[at + 1].lower == "as":
        prep, at = "to as", at + 1
    end = end_of(source, at + 1, relatives=True)
    stop = next(
        (
            n
            for n in range(at + 2, end)
            if tokens[n].lower in ("by", "during", "in")
            and any(s.first == n + 1 for s in clause.spans)
        ),
        end,
    )
    if (
        any(s.first <= at + 1 < s.last for s in clause.spans if s.sort in ("date", "clock"))
        or stop - at < 2
        or stop - at > 20
    ):
        return
    if (
        tokens[at + 1].lower in RELATIVE
        or tokens[at + 1].lower.endswith("ing")
        or tokens[at + 1].lower in UNCLEAR["en"] - {"its", "their", "other", "another"}
    ):
        return
    rest = f"{adjective} {prep} {source.say(stop, end) if stop < end else ''}"
    yield Fact(
        form.ask("What", rest), source.raw(at + 1, stop).rstrip(" ,."), "thing", clause.subject,
        form.again("What", rest), form.why(f"{adjective} {prep}", ""), clause.negated,
    )  # fmt: skip
