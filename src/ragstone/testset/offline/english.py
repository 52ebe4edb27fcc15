"""Questions over English clauses: who, when, how many, what it is, why, what happens if."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragstone.testset.offline.english_clauses import (
    AROUND,
    DET,
    PREP,
    PRONOUNS,
    RELATIVE,
    Clause,
    adverb,
    clauses,
    end_of,
)
from ragstone.testset.offline.english_verbs import AUXILIARIES, BE, MODALS, forms
from ragstone.testset.offline.facts import Fact, Source
from ragstone.testset.spans import Span, is_number, is_person, names, plural
from ragstone.testset.vocabulary import MONTHS_AND_DAYS, ROLES, UNCLEAR

__all__ = ["clauses", "facts"]

_PERIODS = frozenset(
    ["seconds", "minutes", "hours", "days", "nights", "weeks", "months", "years", "decades", "centuries", "hour", "day", "week", "month", "year", "minute", "night"]
)
_LONGEST = 22
"""Words of a question; longer ones read like a form."""


def facts(source: Source, found: Sequence[Clause]) -> Iterator[Fact]:
    """What the sentence tells, one fact for each thing that can be asked for."""
    yield from _outcome(source)
    yield from _initials(source)
    yield from _apposition(source)
    for number, clause in enumerate(found):
        for fact in _from(clause):
            if (
                len(fact.question.split()) <= _LONGEST
                and _clean(fact.question)
                and _whole(fact.answer)
            ):
                yield Fact(
                    fact.question, fact.answer, fact.sort, fact.subject, fact.again, fact.why,
                    fact.negated, fact.deep or number > 0,
                ).at(source)  # fmt: skip


def _clean(question: str) -> bool:
    """Whether the question stands on its own and its quotation marks pair."""
    if question.count('"') % 2 or question.count("“") != question.count("”") or ",," in question:
        return False
    words = re.findall(r"[a-z']+", question.lower())
    pointing = UNCLEAR["en"] - {"its", "their", "his", "her", "it", "i", "my", "other", "others"}
    if any(word in pointing for word in words):
        return False
    if re.search(r"\b(?:it|their|his|her)\b", question) and not re.search(
        r"\b(?:I|[A-Z]\w+|the \w+s?)\b.*\b(?:it|their|his|her)\b", question[4:]
    ):
        return False
    return not re.search(r"\b(?:and|or|of|the|a|an|as|than|which|who|that|[a-z]+,)\?$", question)


def _whole(answer: str) -> bool:
    """Whether an answer is a phrase, not a torso."""
    if not answer.strip() or answer.count('"') % 2 or answer.count("(") != answer.count(")"):
        return False
    first, last = answer.split()[0].lower(), answer.split()[-1].lower()
    if (
        first
        in (
            "no",
            "not",
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


class _Form:
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
        body = re.sub(r"\s+", " ", body).strip(" ,.")
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
            body, front = _to_me(body), _to_me(front)
        if front:
            return f"{front[:1].upper()}{front[1:]}, {what[:1].lower()}{what[1:]} {body}?"
        return f"{what} {body}?"

    def again(self, what: str, rest: str) -> str:
        """The same asked as a second turn."""
        if self.you or self.we or self.clause.person or self.clause.lead:
            return ""
        text = self.ask(what, rest, subject="they" if self.clause.many else "it")
        return f"And {text[:1].lower()}{text[1:]}"

    def why(self, before: str, after: str) -> str:
        """The statement as a why-question with a gap for the answer."""
        return "" if self.clause.negated else self.ask("Why", f"{before} {{}} {after}")


_YOU = re.compile(r"\b(you are|you were|you|your|yours|yourself)\b(?= *(\w*))")


def _to_me(text: str) -> str:
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


def _from(clause: Clause) -> Iterator[Fact]:
    if clause.lead == "?":
        return
    source, tokens = clause.source, clause.source.tokens
    form = _Form(clause)
    body = [one.lower for one in tokens[clause.rest : clause.end]]
    yield from _denied(clause, form)
    ours = any(word in ("we", "us", "our", "ours") for word in body)
    if (ours and not form.we) or (not form.you and not form.we and {"your", "you"} & set(body)):
        return
    if not clause.relative:
        yield from _spans(clause, form)
        yield from _dated_lead(clause, form)
        yield from _places(clause, form)
        yield from _agent(clause, form)
        yield from _definition(clause, form)
        yield from _object(clause, form)
        yield from _complement(clause, form)
        yield from _claim(clause, form)
        yield from _purpose(clause, form)
        yield from _reason(clause, form)
        yield from _counted_subject(clause, form)
    yield from _subject(clause, form)


def _inner(clause: Clause, first: int, last: int) -> tuple[str, str, bool] | None:
    """What stands before and after an answer in the rest; None when taking it out would leave a torso."""
    source, tokens = clause.source, clause.source.tokens
    if first < clause.rest or last > clause.end:
        return None
    if any(tokens[n].lower in RELATIVE for n in range(clause.rest, first)):
        return None
    after = tokens[last] if last < clause.end else None
    fits = ("a", "an", "each", "every", "per", "if", "when", "once", "to")
    if after is not None and not (after.lower in PREP or after.lower in fits or adverb(after)):
        return None
    before = source.say(clause.rest, first).strip(" ,")
    behind = source.say(last, clause.end).strip(" ,") if last < clause.end else ""
    if re.search(r"\b(?:of|and|or|the|a|an|than|its|their|his|her)$", before):
        return None
    return before, behind, last < clause.end


def _spans(clause: Clause, form: _Form) -> Iterator[Fact]:
    tokens = clause.source.tokens
    clocks = sum(s.sort == "clock" for s in clause.spans if clause.rest <= s.first < clause.end)
    for span in clause.spans:
        if span.first < clause.rest or span.last > clause.end:
            continue
        first = span.first
        while first > clause.rest and tokens[first - 1].lower in AROUND:
            first -= 1
        prep = (
            tokens[first - 1].lower
            if first > clause.rest and tokens[first - 1].lower in PREP
            else ""
        )
        if span.sort == "money" and not prep and first == clause.rest:
            yield from _put(clause, form, "How much", first, span.last, "money")
        elif span.sort == "percent" and not prep and first == clause.rest:
            yield from _percent(clause, form, span, first)
        elif span.sort == "quantity":
            yield from _quantity(clause, form, span, first, prep)
        elif span.sort == "day" and clocks == 0:
            if prep in ("on", "at"):
                yield from _put(clause, form, "When", first - 1, span.last, "date")
            elif tokens[first].lower in ("every", "each") or tokens[first].capital:
                yield from _put(clause, form, "When", first, span.last, "date")
        elif span.sort in ("date", "clock") and prep and clocks <= 2:
            yield from _when(clause, form, span, first - 1)
    if (
        clause.base == "be"
        and not clause.tail
        and not clause.negated
        and clause.rest + 1 == clause.end
    ):
        if re.fullmatch(r"\d[\d.,]*", tokens[clause.rest].text) and len(clause.words) > 2:
            yield Fact(
                form.ask("What", ""),
                tokens[clause.rest].text,
                "number",
                clause.subject,
                "",
                form.why("", ""),
            )


def _percent(clause: Clause, form: _Form, span: Span, first: int) -> Iterator[Fact]:
    source, tokens = clause.source, clause.source.tokens
    if span.last < clause.end and tokens[span.last].lower == "of":
        end = next(
            (n for n in range(span.last + 1, clause.end) if tokens[n].lower in PREP), clause.end
        )
        what = f"What percentage {source.say(span.last, end)}"
        rest = source.say(end, clause.end) if end < clause.end else ""
        yield Fact(form.ask(what, rest), source.raw(first, span.last), "percent", clause.subject)


def _put(
    clause: Clause,
    form: _Form,
    what: str,
    first: int,
    last: int,
    sort: str,
    *,
    answer: int | None = None,
) -> Iterator[Fact]:
    """The fact whose answer is tokens first..last of the rest."""
    parts = _inner(clause, first, last)
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


def _quantity(clause: Clause, form: _Form, span: Span, first: int, prep: str) -> Iterator[Fact]:
    tokens = clause.source.tokens
    period = span.unit.split()[-1] in _PERIODS
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
            yield from _put(clause, form, "How long", first, span.last, "duration")
        elif clause.base not in ("be", "rise", "grow", "increase", "decline", "fall"):
            yield from _put(clause, form, f"How many {span.unit}", first, span.last, "number")
    elif prep == "for" and period:
        yield from _put(
            clause, form, "For how long", first - 1, span.last, "duration", answer=first
        )
    elif prep == "within" and period:
        yield from _put(clause, form, "How soon", first - 1, span.last, "duration")
    elif (
        prep in ("of", "into")
        and clause.base in ("consist", "divide", "compose")
        and first - 1 == clause.rest
    ):
        yield from _put(
            clause,
            form,
            f"{prep.capitalize()} how many {span.unit}",
            first - 1,
            span.last,
            "number",
            answer=first,
        )
    elif prep == "for" and first - 1 == clause.rest and not period:
        yield from _put(
            clause, form, f"For how many {span.unit}", first - 1, span.last, "number", answer=first
        )


def _when(clause: Clause, form: _Form, span: Span, first: int) -> Iterator[Fact]:
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
    yield from _put(clause, form, what, first, last, "date", answer=first + 1 if bare else first)


def _dated_lead(clause: Clause, form: _Form) -> Iterator[Fact]:
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


_PLACED = frozenset(
    ["bear", "locate", "situate", "find", "found", "establish", "hold", "build", "stand", "lie", "form", "settle", "meet", "base", "headquarter", "open", "live", "die", "bury", "sign", "exhibit", "house"]
)


def _places(clause: Clause, form: _Form) -> Iterator[Fact]:
    """`was born in Leipzig`: where, when the verb says that something is or happens there."""
    source, tokens = clause.source, clause.source.tokens
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
        yield from _put(clause, form, "Where", at, b, "place")
        return


def _agent(clause: Clause, form: _Form) -> Iterator[Fact]:
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
    parts = _inner(clause, at, end)
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
    what = "Who" if person or tokens[end - 1].lower in _PEOPLE else "What"
    yield Fact(
        form.ask(what, f"{before} by {behind}"), source.raw(at + 1, end), "person" if person else "thing", clause.subject,
        why=form.why(f"{before} by", behind), negated=clause.negated,
    )  # fmt: skip


_SINGLED_OUT = re.compile(
    r"\b(?:most|first|last|largest|biggest|smallest|highest|lowest|oldest|longest|main|only|best|earliest|greatest|latest|"
    r"name|purpose|goal|aim|role|term|cause|basic unit|official|average|chief|youngest)\b"
)


def _definition(clause: Clause, form: _Form) -> Iterator[Fact]:
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
    if start.lower not in ("a", "an", "the", "one") and not start.capital:
        return
    end = end_of(source, clause.rest, relatives=True)
    answer = source.raw(clause.rest, end).rstrip(" ,.;")
    subject, helper = clause.subject, clause.auxiliary
    bare = clause.words[0] not in DET | PRONOUNS
    pronoun = clause.words[0] in PRONOUNS and subject[:1].isupper()
    if start.lower in ("a", "an", "one"):
        if clause.person:
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
    elif _SINGLED_OUT.search(subject):
        person = is_person([one.text for one in tokens[clause.rest : end]], "", source.people)
        yield Fact(
            form.put("Who" if person else "What", f"{helper} {subject}", None),
            answer,
            "definition",
            subject,
        )


_NO_OBJECT = frozenset(
    ["be", "remain", "become", "appear", "last", "cost", "weigh", "take", "have", "say", "come", "go", "live", "die", "lie", "sit", "stand", "occur", "happen", "exist", "arrive", "result", "mean", "tend", "seem", "equal", "make", "rank", "number", "rise", "grow", "get", "give", "grant", "award", "send", "earn", "owe", "look", "stay", "feel", "sound", "decline", "increase", "let", "help", "keep", "continue", "begin", "start", "think", "believe", "know", "state", "argue", "claim", "suggest", "say", "report", "note", "find", "see", "call", "name", "enable", "allow", "cause", "force", "lead", "require", "ask", "encourage", "persuade", "appoint", "elect", "tell", "consider", "make", "want", "need", "end", "move", "total", "consist", "add", "put", "set", "date"]
)
_TIMES = _PERIODS | frozenset(
    ["time", "morning", "evening", "afternoon", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "landfall", "way", "place", "part", "it", "them"]
)
_HAVE = frozenset(["include", "contain", "carry", "need", "support", "have", "create", "cause", "require"])


def _object(clause: Clause, form: _Form) -> Iterator[Fact]:
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
    if (
        end <= clause.rest
        or ("participle" in forms(tokens[end - 1].lower)
        and end < clause.end
        and not tokens[end - 1].capital)
    ):
        return
    if end < clause.end and (
        tokens[end].lower in RELATIVE | {"to", "as"}
        or (end + 1 < clause.end and tokens[end + 1].lower in RELATIVE)
    ):
        end = clause.end  # what defines the object belongs to it
    if any(s.first < end and s.last > clause.rest for s in clause.spans) or end - clause.rest > 14:
        return
    if tokens[end - 1].lower in _TIMES:
        return
    parts = _inner(clause, clause.rest, end)
    if parts is None or (end - clause.rest == 1 and not start.capital):
        return
    person = tokens[end - 1].lower in _PEOPLE | ROLES or any(
        a >= clause.rest
        and b == end
        and is_person([one.text for one in tokens[a:b]], tokens[a - 1].lower, source.people)
        for a, b in clause.names()
    )
    listed = any(tokens[n].text == "," for n in range(clause.rest, end))
    what = "Who" if person else "What"
    yield Fact(
        form.ask(what, parts[1]), source.raw(clause.rest, end), "list" if listed else "person" if person else "thing",
        clause.subject, form.again(what, parts[1]), form.why("", parts[1]), clause.negated,
    )  # fmt: skip


_PAIRS = frozenset(
    ["consist of", "depend on", "focus on", "lead to", "belong to", "refer to", "result in", "rely on", "deal with", "stem from", "come from", "suffer from", "specialize in", "convert to", "apply to", "respond to", "compete with", "differ from", "account for", "participate in", "contribute to", "correspond to", "derive from", "originate in", "graduate from", "known for", "known as", "famous for", "based on", "used for", "used as", "used in", "made of", "made from", "made up", "composed of", "derived from", "named after", "responsible for", "lined with", "connected to", "connected with", "divided into", "associated with", "related to", "similar to", "replaced with", "described as", "referred to", "regarded as", "interpreted as", "considered as", "part of", "home to", "member of", "filled with", "covered with", "covered in", "defined as", "linked to", "attributed to", "opposed to", "subject to", "equivalent to", "surrounded with", "classified as", "marked in", "marked with", "due to", "capable of", "involved in", "characterized by", "written in", "printed in"]
)


def _complement(clause: Clause, form: _Form) -> Iterator[Fact]:
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


_CLASSES = {
    "university": "university", "river": "river", "party": "party", "war": "war", "company": "company", "act": "law",
    "treaty": "treaty", "church": "church", "empire": "empire", "dynasty": "dynasty", "museum": "museum", "council": "council",
    "committee": "committee", "commission": "commission", "court": "court", "parliament": "parliament", "institute": "institute",
    "society": "society", "association": "association", "academy": "academy", "battle": "battle",
}  # fmt: skip
_PEOPLE = frozenset(
    ["adults", "children", "visitors", "members", "students", "relatives", "patients", "subscribers", "riders", "owners", "parents", "people", "men", "women", "readers", "workers", "teachers", "guests", "walkers", "scientists", "engineers", "economists", "historians", "scholars", "pharmacists", "physicians", "settlers", "colonists", "citizens", "residents", "missionaries", "critics", "researchers"]
)
_DOES = frozenset(
    ["write", "say", "argue", "marry", "invent", "discover", "paint", "compose", "design", "publish", "study", "teach", "propose", "claim", "found", "direct", "lead", "win", "serve", "believe", "suggest"]
)


def _subject(clause: Clause, form: _Form) -> Iterator[Fact]:
    """Who or what does it: asked in the order of the statement."""
    source, tokens = clause.source, clause.source.tokens
    if form.you or tokens[clause.first].lower in PRONOUNS or clause.rest >= clause.end:
        return
    rest = source.say(clause.rest, clause.end).strip(" ,")
    content = [
        one
        for one in tokens[clause.rest : clause.end]
        if (one.word and len(one.text) > 3) or one.text[0].isdigit()
    ]
    if len(content) < 2 or re.search(r"\b(?:its|their|his|her|it|they|you)\b", rest):
        return
    counted = any(s.first <= clause.rest + 1 < s.last for s in clause.spans)
    if counted and len(content) < 5:  # `what costs 29 euros`: nobody starts from the sum
        return
    answer = source.raw(clause.first, clause.close)
    last = tokens[clause.close - 1]
    what, sort = "", "thing"
    if tokens[clause.rest].lower in ("that", "how", "what", "whether"):
        return
    if clause.person or _by_who(clause):
        what, sort = "Who", "person"
    elif last.capital and clause.named:
        word = _CLASSES.get(last.lower)
        what, sort = (f"Which {word}", "name") if word else ("", "name")
    elif last.lower in _PEOPLE and (clause.auxiliary in MODALS or clause.do == "did"):
        what, sort = "Who", "person"
    elif (
        clause.words[0] in ("the", "a", "an")
        and _informative(clause)
        and (clause.base != "be" or clause.tail)
    ):
        what = "What" if not clause.many or clause.auxiliary in MODALS or clause.do == "did" else ""
    elif (
        clause.negated
        and clause.auxiliary in MODALS | BE
        and not any(one.capital for one in tokens[clause.first + 1 : clause.close])
    ):
        what = "Who" if last.lower in _PEOPLE else "What"
    if what:
        yield Fact(form.who(what, rest), answer, sort, clause.subject, negated=clause.negated)


def _by_who(clause: Clause) -> bool:
    """Whether a relative `who` stands behind the name."""
    tokens = clause.source.tokens
    return (
        clause.close + 1 < len(tokens)
        and tokens[clause.close].text == ","
        and tokens[clause.close + 1].lower == "who"
    )


def _informative(clause: Clause) -> bool:
    """Two words of content or more: `the hospital` as an answer tells nobody anything."""
    return sum(
        len(word) > 3 and word not in PREP for word in clause.words
    ) >= 2 and "'" not in "".join(clause.words[:1])


def _reason(clause: Clause, form: _Form) -> Iterator[Fact]:
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


def _denied(clause: Clause, form: _Form) -> Iterator[Fact]:
    """`The fee is not refunded`: is the fee refunded."""
    source, tokens = clause.source, clause.source.tokens
    rest = source.say(clause.rest, clause.end).strip(" ,.")
    none = clause.rest < clause.end and tokens[clause.rest].lower == "no"
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


_SAYS = frozenset(
    ["say", "state", "argue", "claim", "suggest", "show", "find", "report", "announce", "note", "believe", "propose", "explain", "demonstrate", "conclude", "predict", "indicate", "reveal", "declare", "estimate", "insist", "assert", "confirm", "rule", "hold", "recommend"]
)


def _claim(clause: Clause, form: _Form) -> Iterator[Fact]:
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
    if (
        clause.auxiliary in BE
        or (clause.words[0] in ("it", "he", "she", "they")
        and not clause.subject)
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


_NO_PURPOSE = frozenset(
    ["expect", "require", "allow", "force", "incline", "estimate", "suspect", "understand", "say", "know", "think", "believe", "suppose", "ask", "order", "tell", "compel", "consider", "find", "permit", "need", "obligate", "oblige", "able", "likely", "report", "intend", "tend", "show", "prove", "assume", "appear", "seem", "lead"]
)


def _purpose(clause: Clause, form: _Form) -> Iterator[Fact]:
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


def _counted_subject(clause: Clause, form: _Form) -> Iterator[Fact]:
    """A number in the subject: `Eight study rooms are booked …`."""
    source = clause.source
    for span in clause.spans:
        start = clause.first + (source.tokens[clause.first].lower in AROUND)
        if span.first != start or span.last > clause.close:
            continue
        rest = source.say(clause.rest, clause.end).strip(" ,")
        behind = source.say(span.last, clause.close)
        verb = source.say(clause.verb, clause.rest)
        if span.sort == "quantity" and len(rest.split()) >= 2 and clause.close > span.last - 1:
            what = f"How many {span.unit} {behind}".strip()
            yield Fact(
                form.put(what, f"{verb} {rest}", None),
                source.raw(span.first, span.last),
                "number",
                span.unit,
            )
        elif span.sort == "percent" and behind.startswith("of "):
            what = f"What percentage {behind}"
            yield Fact(
                form.put(what, f"{verb} {rest}", None),
                source.raw(span.first, span.last),
                "percent",
                behind,
            )


def _outcome(source: Source) -> Iterator[Fact]:
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
    condition = _to_me(source.say(0, comma))
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


def _initials(source: Source) -> Iterator[Fact]:
    for letters, name in initials(source.text):
        yield Fact(f"What does {letters} stand for?", name, "initials", letters, deep=True).at(
            source
        )


def _apposition(source: Source) -> Iterator[Fact]:
    """`Joseph Shea, a champion of LOR,`: who is he."""
    tokens = source.tokens
    for a, b in names(tokens, "en", source.names):
        if (
            b + 3 >= len(tokens)
            or tokens[b].text != ","
            or tokens[b + 1].lower not in ("a", "an", "the")
        ):
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
        if is_person(found, tokens[a - 1].lower if a else "", source.people) and len(found) > 1:
            yield Fact(
                f"Who is {' '.join(found)}?",
                source.raw(b + 1, end),
                "definition",
                " ".join(found),
                deep=True,
            ).at(source)
