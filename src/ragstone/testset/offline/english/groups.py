"""Where an English subject ends, and the verb group that follows it."""

from __future__ import annotations

from ragstone.testset.offline.english.verbs import AUXILIARIES, BE, MODALS, forms
from ragstone.testset.offline.english.words import DET, PREP, RELATIVE, SIGNS, adverb, head
from ragstone.testset.offline.facts import Source
from ragstone.testset.spans import Token, is_number, plural
from ragstone.testset.vocabulary import word_set


def verb_of(source: Source, first: int) -> tuple[int, int] | None:
    """Where the subject ends and the finite verb stands: the first that nothing marks as a participle or a noun."""
    tokens = source.tokens
    n = first + 1
    inside = False
    while n < min(first + 18, len(tokens)):
        token = tokens[n]
        if token.lower in ("that", "which", "who") and n > first + 1 and not inside:
            # a relative clause inside the subject: its own verb is passed over
            inside = True
            n += 1
            while n < min(first + 14, len(tokens)) and not (
                tokens[n].lower in AUXILIARIES or _is_verb(source, n) or forms(tokens[n].lower)
            ):
                n += 1
            while (
                n + 1 < len(tokens)
                and (tokens[n].lower in AUXILIARIES or "participle" in forms(tokens[n].lower))
                and (
                    tokens[n + 1].lower in ("be", "been", "not")
                    or "participle" in forms(tokens[n + 1].lower)
                )
            ):
                n += 1
            n += 1
            continue
        if token.text == ",":
            after = _after_aside(source, n)
            if after is not None:
                return n, after
            listed = _list_end(source, n, first)
            if listed is None:
                return None
            n = listed
            continue
        if (
            token.text in SIGNS
            or (token.lower in RELATIVE and token.lower != "that")
            or token.lower == "that"
        ):
            return None
        if token.lower in AUXILIARIES:
            return (n - 1 if n > first + 1 and tokens[n - 1].lower in _BETWEEN else n), n
        if _is_verb(source, n):
            close = n
            while close > first + 1 and adverb(tokens[close - 1]):
                close -= 1
            if close > first + 2 and [one.lower for one in tokens[close - 2 : close]] == _NO_MORE:
                close -= 2
            return close, n
        n += 1
    return None


def _list_end(source: Source, comma: int, first: int) -> int | None:
    """`Sketches, notebooks, and other works are`: behind the last `and` of a list that is the subject."""
    tokens = source.tokens
    if any(one.lower in PREP for one in tokens[first:comma]):
        return None
    for n in range(comma + 1, min(comma + 10, first + 15, len(tokens) - 2)):
        low = tokens[n].lower
        if low in AUXILIARIES | RELATIVE | PREP or tokens[n].text in SIGNS or _is_verb(source, n):
            return None
        if low == "and":
            return n + 1
    return None


def _after_aside(source: Source, comma: int) -> int | None:
    """`Jared Allen, a pro bowler, was`: the verb right behind the second comma."""
    tokens = source.tokens
    for n in range(comma + 2, min(comma + 16, len(tokens) - 1)):
        if tokens[n].text in SIGNS:
            return None
        if tokens[n].text == ",":
            verb = n + 1
            while verb < len(tokens) - 1 and adverb(tokens[verb]):
                verb += 1
            low = tokens[verb].lower
            if low in AUXILIARIES or (
                not tokens[verb].capital and {"past", "third"} & set(forms(low))
            ):
                return verb
            return None
    return None


def _is_verb(source: Source, n: int) -> bool:
    tokens = source.tokens
    token, before = tokens[n], tokens[n - 1]
    at = n - 1
    while at > 0 and adverb(tokens[at]):
        at -= 1
    before = tokens[at]
    if not token.word or token.capital or before.lower in DET or before.lower in PREP:
        return False
    if before.lower in ("and", "or", "of", "to", "not") or not (
        before.word or before.text.isdigit()
    ):
        return False
    kinds = forms(token.lower)
    after = tokens[n + 1] if n + 1 < len(tokens) else token
    if kinds and not {"past", "base", "third"} & set(kinds) and token.lower.endswith("ed"):
        # a verb nobody listed: where an object or a place follows and no other verb, it is the one
        starts = after.lower in DET or after.capital or after.lower in PREP - {"by", "as"}
        return (
            starts
            and not _finite_soon(source, n + 1)
            and not _finite_soon(source, n + 1, only_auxiliary=True)
        )
    if "past" in kinds:
        takes = after.word and not adverb(after) and after.lower not in PREP | AUXILIARIES | _LOOSE
        if takes and token.lower not in _NAMING:
            return True  # what a participle names stands before it; an object follows a verb
        soft = "participle" in kinds and kinds["past"] == kinds["participle"]
        return not (after.lower == "by" or (soft and _finite_soon(source, n + 1)))
    numbered = before.text.isdigit() and at > 0 and tokens[at - 1].word and after.lower in DET
    if (
        "third" in kinds
        and (numbered or not is_number(before, "en"))
        and (before.capital or not plural(before.lower, "en"))
    ):
        if "third" in forms(after.lower) and not is_number(after, "en") and after.lower not in DET:
            return False  # of two in a row the first is a noun: `questions says`
        linking = kinds["third"] in ("remain", "become", "seem", "appear", "stay")
        if (
            after.lower in AUXILIARIES
            or ("past" in forms(after.lower) and not linking)
            or after.lower in ("and", "of", "or", "'")
        ):
            return False
        return not _finite_soon(source, n + 1, only_auxiliary=True)
    if "base" in kinds and plural(before.lower, "en") and not is_number(before, "en"):
        starts = (
            after.lower in DET
            or after.lower in PREP
            or after.capital
            or is_number(after, "en")
            or after.lower in ("home", "free", "no", "them", "back")
        )
        return starts or adverb(after) or plural(after.lower, "en") or after.lower == "to"
    return "base" in kinds and before.lower in ("you", "they", "we", "people")


_NO_MORE = ["no", "longer"]
_BETWEEN = word_set("also still now often always never seldom rarely hardly")
"""Adverbs that may stand between a subject and its auxiliary and are never its last word."""
_LOOSE = word_set("to as by and or that which who when where if of but")
_NAMING = word_set("called named known dubbed termed made considered given set left based born")


def _object_starts(token: Token) -> bool:
    """Whether a word is one that an object may start with; behind a noun and an -ed form it marks the verb."""
    return token.lower in DET or token.lower.endswith(("ible", "able", "ous", "ive", "ial"))


def _finite_soon(source: Source, start: int, *, only_auxiliary: bool = False) -> bool:
    """Whether another finite verb of the same clause follows, so that the one before was a participle."""
    tokens = source.tokens
    phrase = False
    for n in range(start, min(start + 10, len(tokens))):
        token = tokens[n]
        # behind an article a word in -s is a noun: `restored the prior patents`
        phrase = token.lower in DET or (phrase and token.lower not in PREP)
        if token.text in ",;:." or token.lower in RELATIVE or token.lower == "but":
            return False
        if token.lower == "to" and n + 1 < len(tokens) and "base" in forms(tokens[n + 1].lower):
            return False
        if token.lower == "and" and not (n + 1 < len(tokens) and is_number(tokens[n + 1], "en")):
            return False
        if token.lower in AUXILIARIES:
            return True
        if only_auxiliary or not token.word or token.capital or tokens[n - 1].lower in DET | PREP:
            continue
        kinds = forms(token.lower)
        clear = not is_number(tokens[n - 1], "en") and not adverb(tokens[n - 1])
        if (
            n > start
            and clear
            and not phrase
            and "third" in kinds
            and not plural(tokens[n - 1].lower, "en")
        ):
            return True
        if n > start and "past" in kinds and "participle" not in kinds:
            return True
        follows = tokens[n + 1] if n + 1 < len(tokens) else token
        last = follows.text in ".!;:" or follows is token
        if (
            n > start + 1
            and clear
            and last
            and kinds.get("base") == token.lower
            and tokens[n - 1].word
        ):
            return True  # `samples scored on both sides count.`
        if n > start + 1 and clear and "past" in kinds and _object_starts(follows):
            return True
    return False


def auxiliary_group(source: Source, verb: int) -> tuple[str, str, str, str, bool, int] | None:
    tokens = source.tokens
    word = tokens[verb].lower
    auxiliary, negated = ("can", True) if word == "cannot" else (word, False)
    n = verb + 1
    said: list[str] = []
    base = "be" if word in BE else ""
    while n < len(tokens) and (tokens[n].word and not tokens[n].capital):
        low = tokens[n].lower
        if low in ("not", "never"):
            negated = True
        elif adverb(tokens[n]) and n + 1 < len(tokens):
            nxt = tokens[n + 1].lower
            if (
                "participle" not in forms(nxt)
                and nxt not in ("be", "been")
                and "base" not in forms(nxt)
            ):
                break
            said.append(low)
        elif low in ("be", "been", "being"):
            said.append(low)
            base = "be"
        elif low == "have" and word in MODALS:
            said.append(low)
        elif _belongs(low, word, said):
            said.append(low)
            base = next(iter(forms(low).values()))
            n += 1
            break
        else:
            break
        n += 1
    while said and adverb(tokens[n - 1]):
        said.pop()
        n -= 1
    if said and all(one not in ("be", "been", "being", "have") and not forms(one) for one in said):
        return None
    if word in ("has", "have", "had") and not said:
        do = {"has": "does", "have": "do", "had": "did"}[word]
        return "", do, "have", "have", negated, n
    if not said and word not in BE:
        return None
    return auxiliary, "", " ".join(said), base, negated, n


def _belongs(low: str, auxiliary: str, said: list[str]) -> bool:
    """Whether a verb form can follow this auxiliary and what came since."""
    kinds = forms(low)
    modal = auxiliary in MODALS or auxiliary in ("do", "does", "did")
    if modal and not any(one in ("be", "been", "have") for one in said):
        return "base" in kinds
    return "participle" in kinds


def plain_group(
    source: Source, first: int, close: int, verb: int
) -> tuple[str, str, str, str, bool, int] | None:
    kinds = forms(source.tokens[verb].lower)
    noun = head(source, first, close)
    if "past" in kinds and not (kinds.get("base") == kinds["past"] and plural(noun, "en")):
        do, base = "did", kinds["past"]
    elif "third" in kinds:
        do, base = "does", kinds["third"]
    elif "base" in kinds:
        do, base = "do", kinds["base"]
    elif source.tokens[verb].lower.endswith("ed"):
        do, base = "did", ""  # nobody knows its base form: only the subject can be asked for
    else:
        return None
    return "", do, base, base, False, verb + 1
