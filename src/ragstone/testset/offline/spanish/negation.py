"""Spanish clauses that say no, or only nearly yes: as a plain question they would claim the opposite."""

from __future__ import annotations

from ragstone.testset.offline.spanish.clauses import Clause
from ragstone.testset.offline.spanish.words import PREP, RELATIVE, adverb
from ragstone.testset.spans import Token, is_number
from ragstone.testset.vocabulary import word_set

_NEVER = word_set("nunca jamás tampoco no apenas casi difícilmente raramente escasamente")
_NOBODY = word_set(
    "nada nadie ninguno ninguna ningún ni pocos pocas poco poca nunca jamás tampoco no"
)
"""Words that turn a subject around: `Pocos socios`, `Nada`, `No todos los socios`."""
_OWN = word_set("un una unos unas los las el la estos estas esos esas sus su")
"""Before `pocos` these make it plain: `unos pocos`."""


def doubtful(clause: Clause) -> bool:
    """Whether the clause is denied by more than `no`, or holds only of nobody, of few, or almost: nothing plain can be asked of it."""
    tokens = clause.source.tokens
    if any(word in _NOBODY for word in clause.lead.lower().split()) or _nobody(clause):
        return True
    start = clause.verb
    while start > clause.first and (
        adverb(tokens[start - 1]) or tokens[start - 1].lower in _NEVER or _seldom(tokens, start - 2)
    ):
        start -= 2 if _seldom(tokens, start - 2) else 1
    before = tokens[start : clause.verb]
    inside = tokens[clause.finite + 1 : clause.rest]
    if any(one.lower in _NEVER or one.lower == "rara" for one in (*before, *inside)):
        return True
    for n in range(clause.rest, clause.end - 1):
        low, after = tokens[n].lower, tokens[n + 1]
        if low == "sin" and after.lower == "que":
            return True
        if low in RELATIVE:
            return False
        if low in ("nunca", "jamás", "tampoco") or _seldom(tokens, n):
            return True
        if n < clause.rest + 2 and low in ("casi", "apenas") and not _counts(after):
            return True
    return False


def _seldom(tokens: tuple[Token, ...], at: int) -> bool:
    """`rara vez`, `pocas veces`."""
    return (
        0 <= at < len(tokens) - 1
        and tokens[at].lower in ("rara", "raras", "pocas")
        and tokens[at + 1].lower in ("vez", "veces")
    )


def _nobody(clause: Clause) -> bool:
    """Whether the subject is nobody, or too few to be asked for."""
    tokens = clause.source.tokens[clause.first : clause.close]
    for n, token in enumerate(tokens[:4]):
        if token.lower in PREP or token.lower in RELATIVE:
            return False
        if token.lower in _NOBODY and not (n > 0 and tokens[n - 1].lower in _OWN):
            return True
    return False


def _counts(token: Token) -> bool:
    """Whether `casi` belongs to an amount: `casi 300 personas`, `casi todos`."""
    return (
        is_number(token, "es")
        or token.text[0] in "$€£"
        or token.lower
        in ("todo", "toda", "todos", "todas", "un", "una", "medio", "media", "el", "la")
    )
