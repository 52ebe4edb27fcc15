"""English questions for what a clause is about: who, what, what it is, what it consists of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.testset.offline.english.clauses import Clause
from ragstone.testset.offline.english.ends import end_of
from ragstone.testset.offline.english.forms import TIMES, Form, inner
from ragstone.testset.offline.english.people import is_people
from ragstone.testset.offline.english.verbs import BE, MODALS, forms
from ragstone.testset.offline.english.words import DET, PREP, PRONOUNS, RELATIVE, adverb, head
from ragstone.testset.offline.facts import Fact
from ragstone.testset.spans import is_number, is_person, plural
from ragstone.testset.vocabulary import ROLES, UNCLEAR, word_set


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
    elif _SINGLED_OUT.search(subject) or (clause.words[0] == "the" and _informative(clause)):
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


_CLASSES = {"act": "law", "bowl": "event", "ave": "street", "avenue": "street"} | {
    word: word
    for word in [
        "university",
        "river",
        "party",
        "war",
        "company",
        "treaty",
        "church",
        "empire",
        "dynasty",
        "museum",
        "council",
        "committee",
        "commission",
        "court",
        "parliament",
        "institute",
        "society",
        "association",
        "academy",
        "battle",
        "school",
        "college",
        "agency",
        "department",
        "ministry",
        "hospital",
        "station",
        "bridge",
        "network",
        "corporation",
        "bank",
        "band",
        "league",
        "tribe",
        "family",
        "lake",
        "forest",
        "theory",
        "law",
        "algorithm",
        "conference",
        "agreement",
        "directive",
        "convention",
        "constitution",
        "assembly",
        "city",
        "county",
        "district",
        "province",
        "kingdom",
        "republic",
        "park",
        "street",
        "library",
        "theatre",
        "castle",
        "building",
        "hotel",
        "magazine",
        "newspaper",
        "journal",
        "protocol",
        "mission",
        "army",
        "fleet",
        "movement",
        "synod",
        "board",
        "bureau",
        "office",
        "centre",
        "center",
        "foundation",
        "union",
        "club",
        "team",
        "boulevard",
        "branch",
        "tower",
        "airport",
        "port",
        "canal",
        "railway",
        "gallery",
        "desert",
        "valley",
        "region",
        "theorem",
        "conjecture",
        "test",
        "hypothesis",
        "principle",
        "mode",
        "system",
        "festival",
        "award",
        "prize",
    ]
}
"""Last word of a name → what a question calls it."""


_DOES = word_set(
    "write say argue marry invent discover paint compose design publish study teach propose "
    "claim found direct lead win serve believe suggest"
)


def subject(clause: Clause, form: Form) -> Iterator[Fact]:
    """Who or what does it: asked in the order of the statement."""
    source, tokens = clause.source, clause.source.tokens
    if form.you or tokens[clause.first].lower in PRONOUNS or clause.rest >= clause.end:
        return
    rest = source.say(clause.rest, clause.end).strip(" ,")
    content = [
        one
        for one in tokens[clause.rest : clause.end]
        if (one.word and (len(one.text) > 3 or one.text.isupper())) or one.text[0].isdigit()
    ]
    if len(content) < 2 or re.search(r"\b(?:its|their|his|her|it|they|you)\b", rest):
        return
    counted = any(s.first <= clause.rest + 1 < s.last for s in clause.spans)
    if counted and len(content) < 5:  # `what costs 29 euros`: nobody starts from the sum
        return
    if tokens[clause.rest].lower in ("that", "how", "what", "whether"):
        return
    what, sort = _asks_for(clause, len(content))
    if what:
        answer = source.raw(clause.first, clause.close)
        yield Fact(form.who(what, rest), answer, sort, clause.subject, negated=clause.negated)


_SOME = word_set("the a an some many any all most each several few both")


def _asks_for(clause: Clause, told: int) -> tuple[str, str]:
    """The word that asks for the subject, and the sort of the answer; empty when none fits."""
    tokens = clause.source.tokens
    last = tokens[clause.close - 1]
    bare = clause.base == "be" and clause.tail in ("", "be")
    many = clause.many and clause.auxiliary not in MODALS and clause.do != "did"
    inner = tokens[clause.first + (clause.first == 0) : clause.close - 1]
    named = any(one.capital for one in inner) or (clause.first == 0 and clause.named)
    of = any(word in PREP or word == "of" for word in clause.words)
    word = _CLASSES.get(last.lower) if named and not of else None
    if word and not clause.many and "and" not in clause.words:
        return f"Which {word}", "name"
    articled = clause.words[0] == "the" and not any(one in ROLES for one in clause.words)
    if (clause.person and not articled) or _by_who(clause) or _people(clause):
        return "Who", "person"
    if any(s.first < clause.close and s.last > clause.first for s in clause.spans):
        return "", "thing"  # a number in the subject is asked for as such
    if clause.base in _NO_SUBJECT:
        return "", "thing"
    if last.capital and clause.named:
        passive = clause.auxiliary in BE and clause.tail
        if clause.base in _DONE_TO_PEOPLE and passive:
            return "Who", "person"
        return ("What", "name") if passive and not clause.many and told >= 3 else ("", "name")
    if not bare and (
        is_people(last.lower) or is_people(head(clause.source, clause.first, clause.close))
    ):
        return "Who", "person"
    if bare:
        return "", "thing"
    if clause.words[0] in ("the", "a", "an") and _informative(clause) and not many:
        return "What", "thing"
    if (
        told >= 3
        and _informative(clause)
        and (clause.words[0] in _SOME or not many or _plain(clause))
    ):
        return "What", "thing"
    if (
        clause.negated
        and clause.auxiliary in MODALS | BE
        and not any(one.capital for one in tokens[clause.first + 1 : clause.close])
    ):
        return "What", "thing"
    return "", "thing"


_NO_SUBJECT = word_set("include comprise contain have consist mean involve date number total")
"""Verbs from whose object nobody asks back: `what includes cameras`."""


_DONE_TO_PEOPLE = word_set(
    "assassinate murder kill elect appoint crown bear exile bury educate arrest contract hire ordain "
    "nominate designate promote execute imprison succeed marry"
)


def _people(clause: Clause) -> bool:
    """Whether the subject is people joined by `and`, the last of them known as one."""
    source = clause.source
    if "and" not in clause.words or clause.words[0] == "the":
        return False
    found = [(a, b) for a, b in clause.names() if clause.first <= a and b <= clause.close]
    return len(found) > 1 and any(
        is_person([one.text for one in source.tokens[a:b]], "", source.people) for a, b in found
    )


def _plain(clause: Clause) -> bool:
    """Whether a subject without an article is a plain plural: `cytotoxic drugs`, no list and no gerund."""
    words = clause.words
    return "and" not in words and "or" not in words and not words[0].endswith("ing")


def _by_who(clause: Clause) -> bool:
    """Whether a relative `who` stands behind the name."""
    tokens = clause.source.tokens
    at = clause.close
    if at < len(tokens) and tokens[at].text == ",":
        at += 1
    return at < len(tokens) and tokens[at].lower == "who"


def _informative(clause: Clause) -> bool:
    """Two words of content or more: `the hospital` as an answer tells nobody anything."""
    return sum(
        len(word) > 3 and word not in PREP for word in clause.words
    ) >= 2 and "'" not in "".join(clause.words[:1])
