"""How an English question is put together from the parts of a clause."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.testset.offline.english.clauses import Clause
from ragstone.testset.offline.english.verbs import AUXILIARIES, forms
from ragstone.testset.offline.english.words import DET, PREP, RELATIVE, adverb
from ragstone.testset.offline.facts import Fact
from ragstone.testset.vocabulary import CUT_SHORT, UNCLEAR, word_set

PERIODS = word_set(
    "seconds minutes hours days nights weeks months years decades centuries hour day week "
    "month year minute night"
)


LONGEST = 22
"""Words of a question; longer ones read like a form."""


def clean(question: str) -> bool:
    """Whether the question stands on its own and its quotation marks pair."""
    if question.count('"') % 2 or question.count("“") != question.count("”") or ",," in question:
        return False
    words = re.findall(r"[a-z']+", question.lower())
    if re.search(
        r"\b(?:next|on|of|this|that|without|to|another|second|for|new|old) ones?\b", question
    ):
        return False
    if re.search(r"\b(?:of|for|in|on|to|with|from|at) that\b", question):
        return False
    if any(word in ("therefore", "thus", "hence", "however", "thereafter") for word in words):
        return False
    pointing = UNCLEAR["en"] - {"its", "their", "his", "her", "it", "i", "my", "other", "others"}
    if any(word in pointing for word in words):
        return False
    if re.search(r"\b(?:it|their|his|her)\b", question) and not re.search(
        r"\b(?:I|[A-Z]\w+|the \w+s?)\b.*\b(?:it|their|his|her)\b", question[4:]
    ):
        return False
    if re.search(r"\b(?:a|an|and the) (?:single|[a-z]+(?:ical|ible|able|ous|ive))\?$", question):
        return False  # an adjective without its noun
    return not re.search(
        r"\b(?:and|or|the|a|an|than|which|who|that|such as|(?:number|part|most|some|one|lot|set) of|[a-z]+,)\?$",
        question,
    )


_ADJECTIVE = re.compile(r"(?:oader|eater|arger|aller|igher|ower|ible|able|ous|ful|less)$")


def whole(answer: str) -> bool:
    """Whether an answer is a phrase, not a torso."""
    if not answer.strip() or answer.count('"') % 2 or answer.count("(") != answer.count(")"):
        return False
    first, last = answer.split()[0].lower(), answer.split()[-1].lower()
    if last in CUT_SHORT:
        return False
    if len(answer.split()) == 2 and first in ("a", "an", "the") and _ADJECTIVE.search(last):
        return False
    if (
        first
        in (
            "no",
            "not",
            "such",
            "and",
            "or",
            "its",
            "their",
            "his",
            "her",
            "this",
            "these",
            "those",
            "it",
            "them",
            "him",
        )
        and len(answer) < 60
    ):
        return False
    return last not in PREP | DET and last not in ("and", "or", "of", "is", "was", "that", "not")


class Form:
    """Questions over one clause, put together from its parts."""

    def __init__(self, clause: Clause) -> None:
        self.clause = clause
        self.you = clause.words == ["you"]
        self.we = clause.words == ["we"]

    def ask(
        self, what: str, rest: str, *, subject: str | None = None, lead: str | None = None
    ) -> str:
        """`what` + auxiliary + subject + verb + rest, the phrase before the subject kept in front."""
        clause = self.clause
        said = clause.subject if subject is None else subject
        helper = clause.auxiliary or clause.do
        if self.you:
            said, helper = "I", {"are": "am", "were": "was"}.get(helper, helper)
        if self.we:
            said = "you"
        verb = f"not {clause.tail}".strip() if clause.negated else clause.tail
        rest = re.sub(r"^(?:also|only|just|even) (?!of\b|to\b)", "", rest.strip())
        return self.put(what, f"{helper} {said} {verb} {rest}", lead)

    def who(self, what: str, rest: str) -> str:
        """The question for the subject, in the order of the statement."""
        clause = self.clause
        verb = clause.source.say(clause.verb, clause.rest)
        if what in ("Who", "What"):
            first = clause.source.tokens[clause.verb].lower
            verb = re.sub(
                r"^\w+", {"are": "is", "have": "has", "were": "was"}.get(first, first), verb
            )
            if clause.do == "do" and first != "have":
                verb = next(
                    (
                        word
                        for word in (f"{clause.base}s", f"{clause.base}es")
                        if "third" in forms(word)
                    ),
                    verb,
                )
        return self.put(what, f"{verb} {rest}", None)

    def put(self, what: str, body: str, lead: str | None) -> str:
        """The question with what stands before it."""
        front = self.clause.lead if lead is None else lead
        body = re.sub(r"\s+", " ", body).strip(" ,.;:")
        if self.we:
            body = re.sub(
                r"\b(you|your)\b(?=.*)", lambda m: {"you": "me", "your": "my"}[m.group()], body
            )
            body = re.sub(
                r"\b(our|us|ours)\b",
                lambda m: {"our": "your", "us": "you", "ours": "yours"}[m.group()],
                body,
            )
            body = re.sub(r"^(\w+) me\b", r"\1 you", body)  # the subject itself
        elif self.you or (front and re.search(r"\byour?\b", front)):
            body, front = to_me(body), to_me(front)
        if front:
            return f"{front[:1].upper()}{front[1:]}, {what[:1].lower()}{what[1:]} {body}?"
        return f"{what} {body}?"

    def again(self, what: str, rest: str) -> str:
        """The same asked as a second turn."""
        said = self.clause.subject.split()
        maybe = len(said) == 2 and all(word[:1].isupper() for word in said)
        if self.you or self.we or self.clause.person or maybe or self.clause.lead:
            return ""  # nobody knows whether `it` fits
        text = self.ask(what, rest, subject="they" if self.clause.many else "it")
        return f"And {text[:1].lower()}{text[1:]}"

    def why(self, before: str, after: str) -> str:
        """The statement as a why-question with a gap for the answer."""
        return "" if self.clause.negated else self.ask("Why", f"{before} {{}} {after}")


_YOU = re.compile(r"\b(you are|you were|you|your|yours|yourself)\b(?= *(\w*))")


def to_me(text: str) -> str:
    """What is said to a reader as that reader says it: you have → I have, towards you → towards me."""
    table = {
        "your": "my",
        "yours": "mine",
        "yourself": "myself",
        "you are": "I am",
        "you were": "I was",
    }

    def turned(found: re.Match[str]) -> str:
        if found.group(1) != "you":
            return table[found.group(1)]
        after = found.group(2).lower()
        acts = (
            after in AUXILIARIES
            or "base" in forms(after)
            or after in ("want", "also", "only", "still", "really")
        )
        return "I" if acts and after not in ("set", "back", "open") else "me"

    return _YOU.sub(turned, text)


def inner(clause: Clause, first: int, last: int) -> tuple[str, str, bool] | None:
    """What stands before and after an answer in the rest; None when taking it out would leave a torso."""
    source, tokens = clause.source, clause.source.tokens
    if first < clause.rest or last > clause.end:
        return None
    if any(tokens[n].lower in RELATIVE for n in range(clause.rest, first)):
        return None
    after = tokens[last] if last < clause.end else None
    fits = ("a", "an", "each", "every", "per", "if", "when", "once", "to", "until", "unless")
    if after is not None and not (after.lower in PREP or after.lower in fits or adverb(after)):
        return None
    if first > clause.rest + 1 and "participle" in forms(tokens[first - 1].lower):
        return None  # `a constitution enacted in 1975` is no date of the verb
    before = source.say(clause.rest, first).strip(" ,")
    behind = source.say(last, clause.end).strip(" ,") if last < clause.end else ""
    if re.search(r"\b(?:of|and|or|the|a|an|than|its|their|his|her)$", before):
        return None
    return before, behind, last < clause.end


def answer_at(
    clause: Clause,
    form: Form,
    what: str,
    first: int,
    last: int,
    sort: str,
    *,
    answer: int | None = None,
) -> Iterator[Fact]:
    """The fact whose answer is tokens first..last of the rest."""
    parts = inner(clause, first, last)
    if parts is None or clause.words[0] == "no":
        return
    before, behind, deep = parts
    gap = clause.source.say(first, answer) if answer is not None and answer > first else ""
    why = form.why(f"{before} {gap}", behind)
    before = re.sub(r"(?:^| )(?:only|also|just|at|about)$", "", before)
    rest = f"{before} {behind}"
    yield Fact(
        form.ask(what, rest), clause.source.raw(first if answer is None else answer, last), sort, clause.subject,
        form.again(what, rest), why, clause.negated, deep and bool(before),
    )  # fmt: skip


TIMES = PERIODS | word_set(
    "time morning evening afternoon monday tuesday wednesday thursday friday saturday sunday "
    "landfall way place part it them"
)
