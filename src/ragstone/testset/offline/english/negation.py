"""English clauses that say no, or only nearly yes: as a plain question they would claim the opposite."""

from __future__ import annotations

from ragstone.testset.offline.english.clauses import Clause
from ragstone.testset.offline.english.words import PREP, RELATIVE, adverb
from ragstone.testset.spans import Token, is_number
from ragstone.testset.vocabulary import word_set

_NEVER = word_set("never not")
_HARDLY = word_set("hardly barely scarcely rarely seldom almost nearly nor neither")
_NOBODY = word_set("no not neither none nothing nobody few little hardly barely scarcely")
"""Words that turn a subject around: `Few users`, `Nothing`, `Not every member`."""
_OWN = word_set("a the these those this that his her its their our your")
"""Before `few` and `little` these make them plain: `the few users`."""
_NO_OBJECT = word_set("nothing nobody neither none")


def denies(clause: Clause) -> bool:
    """Whether the verb is denied outright: the clause tells only that something is not so."""
    said = _around(clause)
    pairs = [one.lower for one in clause.source.tokens[max(clause.verb - 2, 0) : clause.verb]]
    return any(one.lower in _NEVER for one in said) or pairs == ["no", "longer"]


def doubtful(clause: Clause) -> bool:
    """Whether the clause holds only of nobody, of few, hardly or almost: nothing plain can be asked of it."""
    tokens = clause.source.tokens
    if any(word in _NOBODY for word in clause.lead.lower().split()) or _nobody(clause):
        return True
    if any(one.lower.endswith(("n't", "n’t")) for one in tokens[clause.first : clause.rest]):
        return True
    if any(one.lower in _HARDLY for one in _around(clause)):
        return True
    behind = tokens[clause.rest : clause.end]
    if behind and behind[0].lower in _NO_OBJECT:
        return True
    for n, token in enumerate(behind[:-1]):
        if token.lower in RELATIVE:
            return False
        after = behind[n + 1]
        if token.lower in ("never", "no") and (token.lower == "never" or after.lower == "longer"):
            return True
        if token.lower == "not" and after.lower in PREP - {"to"}:
            return True  # `opened not in 1990 but in 1991`
        if n < 2 and token.lower in _HARDLY and not _counts(after):
            return True
    return False


def _around(clause: Clause) -> list[Token]:
    """The words that colour the verb: adverbs before it and what stands inside its group."""
    tokens = clause.source.tokens
    start = clause.verb
    while start > clause.first + 1 and (
        adverb(tokens[start - 1]) or tokens[start - 1].lower in _HARDLY
    ):
        start -= 1
    inside = tokens[clause.verb + 1 : clause.rest]
    return [one for one in (*tokens[start : clause.verb], *inside) if one.word]


def _nobody(clause: Clause) -> bool:
    """Whether the subject is nobody, or too few to be asked for."""
    tokens = clause.source.tokens[clause.first : clause.close]
    for n, token in enumerate(tokens[:4]):
        if token.lower in PREP or token.lower in RELATIVE:
            return False
        if token.lower in _NOBODY:
            named = n + 1 < len(tokens) and tokens[n + 1].capital  # `Little Rock`
            plain = n > 0 and tokens[n - 1].lower in _OWN
            counts = n + 1 < len(tokens) and _counts(tokens[n + 1])
            if not (plain or counts or (named and token.lower == "little")):
                return True
    return False


def _counts(token: Token) -> bool:
    """Whether `nearly` belongs to an amount: `nearly 300 people`, `almost all`."""
    return (
        is_number(token, "en")
        or token.text[0] in "$€£"
        or token.lower in ("all", "every", "half", "one", "a", "twice", "everyone", "everything")
    )
