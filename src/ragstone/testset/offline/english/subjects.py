"""English questions for who or what does it, asked in the order of the statement."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.testset.offline.english.clauses import Clause
from ragstone.testset.offline.english.forms import Form
from ragstone.testset.offline.english.people import is_people
from ragstone.testset.offline.english.verbs import BE, MODALS
from ragstone.testset.offline.english.words import PREP, PRONOUNS, head
from ragstone.testset.offline.facts import Fact
from ragstone.testset.spans import is_person
from ragstone.testset.vocabulary import ROLES, word_set

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
    if any(letter.isupper() for letter in last.text):
        passive = clause.auxiliary in BE and clause.tail
        if clause.base in _DONE_BY_PEOPLE and not passive:
            return "Who", "person"
        if clause.base in _DONE_TO_PEOPLE and passive:
            return "Who", "person"
        return ("What", "name") if passive and not clause.many and told >= 3 else ("", "name")
    if not bare and (
        is_people(last.lower) or is_people(head(clause.source, clause.first, clause.close))
    ):
        return "Who", "person"
    if bare:
        return "", "thing"
    if clause.words[0] in ("the", "a", "an") and informative(clause) and not many:
        return "What", "thing"
    if (
        told >= 3
        and informative(clause)
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

_DONE_BY_PEOPLE = word_set(
    "write argue marry invent discover paint compose design propose pioneer formulate teach believe "
    "found publish say claim order appoint invite lead rule reign translate"
)
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


def informative(clause: Clause) -> bool:
    """Two words of content or more: `the hospital` as an answer tells nobody anything."""
    return sum(
        len(word) > 3 and word not in PREP for word in clause.words
    ) >= 2 and "'" not in "".join(clause.words[:1])
