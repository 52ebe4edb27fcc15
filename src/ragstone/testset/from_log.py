"""A test set of what people asked: read from a log, cleaned, joined where they ask the same, and sampled over its
topics.

Nobody has answered them: an item has no reference, but the documents that may hold one, to be labelled."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ragstone.data import read
from ragstone.errors import DataError, RagstoneError
from ragstone.monitor.archive import Archive
from ragstone.monitor.ingest.redaction import RedactionHook, load_hook
from ragstone.store import Store
from ragstone.testset.answerability import find_answers
from ragstone.testset.baselines import Search
from ragstone.testset.items import UNLABELLED, Item, Outcome, make_item_id
from ragstone.testset.likeness import is_dangling
from ragstone.testset.plan import TestsetInputs, TestsetPlan
from ragstone.testset.question_terms import compute_question_key, extract_question_stems
from ragstone.testset.sampling import find_centres
from ragstone.testset.sources import Corpus
from ragstone.text.clause_words import to_word_set
from ragstone.text.encoder import Vectors, encode
from ragstone.text.language import detect_language
from ragstone.text.personal import remove_personal
from ragstone.text.quantities import find_quantities
from ragstone.text.sentences import split_sentences
from ragstone.text.words import fold_text

MIN_SAME = 0.72
"""Cosine of two questions from which they are one, measured on planted paraphrases: `python -m bench.asked_log`."""
MAX_COMPARED = 8_000
"""Different wordings that are compared by meaning, the commonest; rarer ones are joined by their words alone."""
MAX_NEAR = 8
"""Nearest questions that are looked at."""
MIN_COMMON, MIN_LEAD = 3, 8
"""Times that a word must stand in the log to be the right spelling of another, and how many times as often as
that."""
MAX_TOPICS = 40
MAX_WORDINGS = 5
"""Other wordings of a question that an item keeps."""
MAX_CANDIDATES, MIN_CANDIDATE_CHANCE = 3, 0.1
"""Documents that an item names, and the chance of an answer from which they are worth a look."""
MAX_QUESTION_CHARS = 1000
QUESTION_COLUMNS = (
    "question",
    "query",
    "search",
    "search_term",
    "search_query",
    "searchterm",
    "term",
    "keyword",
    "prompt",
    "text",
    "message",
    "utterance",
    "input",
    "pregunta",
    "consulta",
    "búsqueda",
    "busqueda",
    "mensaje",
    "texto",
)
COUNT_COLUMNS = (
    "count",
    "counts",
    "frequency",
    "freq",
    "times",
    "searches",
    "hits",
    "total",
    "n",
    "number",
    "volume",
    "impressions",
    "veces",
    "cuenta",
    "frecuencia",
    "búsquedas",
    "busquedas",
)

CHATTER = to_word_set(
    "hi hello hey hiya yo good morning afternoon evening night day there dear all team everyone bye "
    "goodbye cheers thx thanks thank you ty much very many so lot a "
    "ok okay k kk yes yep yeah no nope nah sure fine great perfect nice cool wow lol haha hmm um oh "
    "please pls plz sorry right alright got it understood test testing "
    "helpful help me hola buenas buenos días dias tardes noches qué que tal adiós adios chao gracias "
    "muchas mil vale sí si claro perfecto genial bien muy estupendo "
    "por favor porfa perdón perdon entendido de acuerdo nada ayuda prueba jaja un saludo saludos for "
    "your the that was is i see awesome how are doing bot anyone hear can"
)
"""Words that together ask nothing."""
_OPENING = re.compile(
    r"^(?:(?:hi|hello|hey|hiya|dear|good (?:morning|afternoon|evening)|hola|buenas(?: tardes| noches)?"
    r"|buenos d[ií]as|oye|perdona|disculpa)(?: (?:there|all|team|again|everyone|a todos|bot))?|(?:a "
    r")?quick question|one more thing|una (?:pregunta|duda)(?: rápida)?|please|pls|por favor|ok|okay|so"
    r"|well|bueno|pues|thanks|gracias)(?:\s*[,.:;!–-]+\s*|\s+(?=\S)|$)",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:[\s,.;!–-]+(?:(?:many |muchas |mil )?(?:thanks?(?: you)?(?: (?:in advance|so much|a lot))?|thx"
    r"|ty|cheers|gracias(?: de antemano)?)|please|pls|por favor|porfa|(?:kind |best )?regards|(?:un "
    r")?saludos?|thank you))+[\s.!]*$",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"^(?:(?:can|could|would) (?:you|someone|anybody) (?:please |kindly )?tell me(?: if| whether)?"
    r"|i(?:['’]d| would)? (?:want|like|need) to know(?: if| whether)?|i was wondering(?: if| whether)?|do "
    r"you know(?: if)?|me (?:puedes?|podr[ií]as?|pod[eé]is) decir(?: si)?|quer[ií]a saber(?: si)?|me "
    r"gustar[ií]a saber(?: si)?|quisiera saber(?: si)?)[\s,:]+",
    re.IGNORECASE,
)
_PERSONAL_MARK = re.compile(r"\[(?:email|link|account|card|id|address|phone|number|date|name)\]")
_INTRODUCTION = re.compile(
    r"^(?:my (?:full )?name(?:['’]s| is)|i am|i['’]m|this is|me llamo|soy|mi nombre es) "
    r"\[name\](?:[\s,.;:–-]+(?:and|y)\b)?[\s,.;:–-]*",
    re.IGNORECASE,
)
_CONTINUES = re.compile(
    r"^(?:and|but|or|also|what about|how about|y|pero|o|también|qué hay de)\b", re.IGNORECASE
)
_DENIES = re.compile(r"\b(?:not|no|never|without|cannot|nunca|sin)\b|n['’]t\b", re.IGNORECASE)


class LoggedQuestion(NamedTuple):
    """One row of a log."""

    text: str
    times: int = 1
    is_later: bool = False
    """Whether turns of a conversation stand before it."""
    is_search: bool = False
    """Whether it comes from a search box, where one word is a question."""


@dataclass(slots=True)
class AskedQuestion:
    """What people asked in one way or another."""

    text: str
    language: str
    count: int = 0
    wordings: Counter[str] = field(default_factory=Counter)
    topic: int = 0


def ask_log(
    plan: TestsetPlan, inputs: TestsetInputs, corpus: Corpus | None, wanted: int
) -> Outcome:
    """Items of the questions of a log; with documents, each with those that may answer it."""
    hook = inputs.redact or choose_hook(plan.redact)
    if plan.from_monitor:
        rows = read_monitor(inputs.store or Store.open(plan.store))
    else:
        rows = read_log(plan.log if plan.log is not None else inputs.log)
    asked, notes = clean_log(rows, hook)
    if plan.languages:
        wanted_languages = {language.split("-")[0].lower() for language in plan.languages}
        asked = [one for one in asked if one.language in wanted_languages]
    joined = join_questions(asked)
    group_topics(joined, plan.seed)
    chosen = sample_questions(joined, wanted)
    outcome = Outcome(there=len(joined), notes=notes)
    topics = len({one.topic for one in joined})
    outcome.notes.append(
        f"{sum(one.count for one in joined):,} times asked, {len(joined):,} questions in {topics:,} topics; "
        f"the sample has {len({one.topic for one in chosen}):,} of the topics"
    )
    names = _name_topics(joined)
    if corpus is None:
        outcome.items = [_build_item(one, names, []) for one in chosen]
        return outcome
    with Search(corpus) as search:
        outcome.visited = len(corpus)
        outcome.items = [_build_item(one, names, _find_candidates(one, search)) for one in chosen]
    found = sum(bool(item.asked.get("candidates")) for item in outcome.items)
    outcome.notes.append(
        f"documents that may answer are named for {found:,} of them, to be labelled: they are no truth"
    )
    return outcome


def choose_hook(name: str) -> RedactionHook | None:
    """The hook that `--redact` names: ours, none, or a function of the user's."""
    if name in ("on", "off"):
        return remove_personal if name == "on" else None
    return load_hook(name)


def read_monitor(store: Store) -> Iterator[LoggedQuestion]:
    """The questions that the monitor has logged, oldest first."""
    for interaction in Archive(store).interactions(order="oldest"):
        if interaction.question:
            yield LoggedQuestion(interaction.question)


def read_log(source: Any) -> Iterator[LoggedQuestion]:
    """The questions of a file that `ragstone.read` knows, of a text with one a line, or of Python objects."""
    if isinstance(source, str | Path) and Path(source).suffix.lower() == ".txt":
        try:
            text = Path(source).read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as bad:
            raise DataError(f"cannot read {str(source)!r}: {bad}") from None
        yield from (
            LoggedQuestion(line.strip(), is_search=True)
            for line in text.splitlines()
            if line.strip()
        )
        return
    if not isinstance(source, str | Path) and isinstance(source, Iterable):
        source = [{"question": row} if isinstance(row, str) else row for row in source]
    for record in _read_records(source):
        if not record.sample.question:
            continue
        row = json.loads(record.row) if isinstance(record.row, str) else {}
        lowered = (
            {str(key).lower().strip(): value for key, value in row.items()}
            if isinstance(row, dict)
            else {}
        )
        given = next((lowered[name] for name in COUNT_COLUMNS if name in lowered), None)
        count = _to_count(given)
        is_later = bool(record.sample.messages or record.sample.meta.get("history"))
        yield LoggedQuestion(record.sample.question, count or 1, is_later, count is not None)


def _read_records(source: Any) -> Iterable[Any]:
    """Rows in a format of ours, or with a column that is called as questions are."""
    try:
        dataset = read(source, skip_bad_rows=True)
        if any(record.sample.question for record in dataset.peek(20)):
            return dataset
    except RagstoneError as fault:
        reason: RagstoneError = fault
    else:
        reason = DataError(f"{source!r} holds no question; call its column question or query")
    for column in QUESTION_COLUMNS:
        for name in (
            column,
            column.capitalize(),
            column.upper(),
            column.replace("_", " ").capitalize(),
        ):
            try:
                dataset = read(source, fields={"question": name}, skip_bad_rows=True)
                dataset.peek(1)
            except RagstoneError:
                continue
            return dataset
    raise reason


def _to_count(value: Any) -> int | None:
    try:
        number = float(str(value).replace(",", ""))
    except (TypeError, ValueError):
        return None
    return max(1, int(number)) if math.isfinite(number) and number > 0 else None


def clean_log(
    rows: Iterable[LoggedQuestion], hook: RedactionHook | None
) -> tuple[list[AskedQuestion], list[str]]:
    """The questions in each wording once, and what was left out; texts pass through the hook first."""
    out: Counter[str] = Counter()
    total = redacted = 0
    by_text: dict[str, AskedQuestion] = {}
    for row in rows:
        total += 1
        text = row.text[:MAX_QUESTION_CHARS]
        if hook is not None:
            kept = hook(text, "question")
            redacted += kept != text
            text = kept
        text, reason = _clean_question(text, row)
        if reason:
            out[reason] += 1
            continue
        key = fold_text(text).strip("¿?¡!. ")
        if key not in by_text:
            by_text[key] = AskedQuestion(text, detect_language(text))
        by_text[key].count += row.times
        by_text[key].wordings[text] += row.times
    notes = [f"{total:,} rows of the log"]
    notes += [f"left out: {number:,} {reason}" for reason, number in out.most_common()]
    if hook is not None:
        notes.append(f"personal data taken out of {redacted:,} rows")
    return sorted(by_text.values(), key=lambda one: (-one.count, one.text)), notes


def _clean_question(text: str, row: LoggedQuestion) -> tuple[str, str]:
    """A question without what is said around it, or why the row is left out."""
    text = " ".join(text.split())
    sentences = [text[start:end] for start, end in split_sentences(text)] or [text]
    sentences = [_INTRODUCTION.sub("", sentence) for sentence in sentences]
    told = [sentence for sentence in sentences if sentence and not _is_beside(sentence)]
    text = " ".join(told)
    before = None
    while before != text:
        before = text
        text = _FRAME.sub("", _CLOSING.sub("", _OPENING.sub("", text))).strip(" ,;:-–")
    words = re.findall(r"\w+", fold_text(_PERSONAL_MARK.sub(" ", text)))
    if not words or CHATTER.issuperset(words):
        return "", "of chatter"
    language = detect_language(text)
    if not any(any(letter.isalpha() for letter in word) for word in words):
        return "", "without words"
    least = 1 if row.is_search else 2
    if len(words) < least or not extract_question_stems(text, language):
        return "", "of chatter"
    continues = row.is_later and len(words) < 7 and _CONTINUES.match(text)
    if continues or is_dangling(text, language):
        return "", "that cannot be understood alone"
    is_cased = text[0].islower() and not row.is_search
    return (text[0].upper() + text[1:] if is_cased else text), ""


def _is_beside(sentence: str) -> bool:
    """Whether a sentence only greets, thanks, or says who writes."""
    words = re.findall(r"\w+", fold_text(_PERSONAL_MARK.sub(" ", sentence)))
    is_introduction = (
        bool(_PERSONAL_MARK.search(sentence)) and len(words) <= 8 and "?" not in sentence
    )
    return is_introduction or CHATTER.issuperset(words)


def join_questions(asked: Sequence[AskedQuestion], bar: float = MIN_SAME) -> list[AskedQuestion]:
    """One question for all that ask the same: in the same words first, then of the same meaning; the commonest
    wording stands."""
    spelling = find_misspelt(asked)
    by_key: dict[str, AskedQuestion] = {}
    plain: dict[str, str] = {}
    for one in asked:
        text = _spell(one.text, spelling)
        key = compute_question_key(text, one.language)
        plain.setdefault(key, text)
        _merge(by_key.setdefault(key, AskedQuestion(one.text, one.language)), one)
    keys = sorted(by_key, key=lambda key: (-by_key[key].count, by_key[key].text))
    groups, texts = [by_key[key] for key in keys], [plain[key] for key in keys]
    compared = groups[:MAX_COMPARED]
    vectors = _encode(texts[:MAX_COMPARED])
    marks = [
        (one.language, _find_marks(text, one.language))
        for one, text in zip(compared, texts, strict=False)
    ]
    home = list(range(len(compared)))
    """Of each question the first that asks the same."""
    for at in range(1, len(compared)):
        cosines = vectors[:at] @ vectors[at]
        near = (int(other) for other in np.argsort(-cosines)[:MAX_NEAR] if cosines[other] >= bar)
        alike = (
            home[other]
            for other in near
            if marks[other] == marks[at] and _ask_alike(texts[other], texts[at])
        )
        home[at] = next(alike, at)
        if home[at] != at:
            _merge(compared[home[at]], compared[at])
    joined = [one for at, one in enumerate(compared) if home[at] == at] + groups[MAX_COMPARED:]
    return sorted(joined, key=lambda one: (-one.count, one.text))


def find_misspelt(asked: Sequence[AskedQuestion]) -> dict[str, str]:
    """Rare words of a log that are one slip from a common one (a letter more, less, other, or two swapped) → that
    word."""
    counts: Counter[str] = Counter()
    for one in asked:
        for word in set(re.findall(r"[^\W\d_]{5,}", one.text.lower())):
            counts[word] += one.count
    slips: dict[str, list[str]] = {}
    for word, count in counts.items():
        if count >= MIN_COMMON:
            for at in range(len(word)):
                slips.setdefault(word[:at] + word[at + 1 :], []).append(word)
    spelling = {}
    for word, count in counts.items():
        cuts = {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}
        near = {other for cut in cuts for other in slips.get(cut, ())} | {
            other for at in range(len(word)) if (other := word[:at] + word[at + 1 :]) in counts
        }
        right = [
            other
            for other in near
            if counts[other] >= max(MIN_COMMON, MIN_LEAD * count) and _is_one_slip(word, other)
        ]
        if right:
            spelling[word] = max(right, key=lambda other: (counts[other], other))
    return spelling


def _is_one_slip(word: str, other: str) -> bool:
    """Whether two words that share all but one letter differ by one slip, and not by an ending: `return`,
    `returns`."""
    if word.startswith(other) or other.startswith(word):
        return False
    if len(word) != len(other):
        return True
    places = [at for at in range(len(word)) if word[at] != other[at]]
    is_swap = (
        len(places) == 2
        and places[1] == places[0] + 1
        and word[places[0]] == other[places[1]]
        and word[places[1]] == other[places[0]]
    )
    return len(places) == 1 or is_swap


def _spell(text: str, spelling: Mapping[str, str]) -> str:
    return (
        re.sub(r"[^\W\d_]{5,}", lambda word: spelling.get(word[0].lower(), word[0]), text)
        if spelling
        else text
    )


def _merge(into: AskedQuestion, other: AskedQuestion) -> None:
    into.count += other.count
    into.wordings.update(other.wordings)
    into.text = _choose_wording(into.wordings)


def _choose_wording(wordings: Counter[str]) -> str:
    """The commonest wording; of those that are about as common the one that is written with most care."""
    most = max(wordings.values())

    def measure_care(text: str) -> tuple[bool, bool, int, str]:
        is_marked = text.endswith("?") and not text.endswith((" ?", "??"))
        return is_marked, text[:1].isupper() and not text.isupper(), wordings[text], text

    return max((text for text, count in wordings.items() if 2 * count >= most), key=measure_care)


def _encode(texts: Sequence[str]) -> Vectors:
    """Vectors of questions without what all have: their marks and capitals."""
    return encode([text.strip("¿?¡!. ").lower() for text in texts])


def _find_marks(text: str, language: str) -> tuple[Any, ...]:
    """What two wordings of one question share whatever their words: figures, and whether it is denied."""
    quantities = (one for one in find_quantities(text, language) if not one.indefinite)
    return (
        *sorted((one.kind, one.low, one.unit) for one in quantities),
        bool(_DENIES.search(text)),
    )


_MEASURES = (
    re.compile(
        r"\b(?:how much|costs?|prices?|fees?|cuánto (?:cuesta|cobran|vale)|precios?|coste|gastos)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:how long|how many (?:days|weeks)|how fast|when|until|deadline|period|cuánto (?:tiempo|tarda"
        r"|dura)|cuándo|plazo)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:how many(?! days| weeks)|maximum|limit|cuánt[oa]s(?! días)|máximo|límite)\b",
        re.IGNORECASE,
    ),
)
"""What is asked for: a price, a time, a number."""


def _ask_alike(first: str, second: str) -> bool:
    """Whether two questions want the same sort of thing, as far as they say which."""
    sorts = [
        {n for n, words in enumerate(_MEASURES) if words.search(text)} for text in (first, second)
    ]
    return not sorts[0] or not sorts[1] or not sorts[0].isdisjoint(sorts[1])


def group_topics(asked: Sequence[AskedQuestion], seed: int) -> None:
    """Give each question its topic: the nearest of a few centres of meaning."""
    count = min(MAX_TOPICS, math.isqrt(max(1, len(asked))))
    if count < 2:
        return
    learned = asked[:MAX_COMPARED]
    vectors = _encode([one.text for one in learned])
    centres = find_centres(vectors, count, random.Random(f"{seed}:topics"))
    for one, topic in zip(learned, np.argmax(vectors @ centres.T, axis=1), strict=True):
        one.topic = int(topic)
    for one in asked[MAX_COMPARED:]:
        one.topic = int(np.argmax(centres @ _encode([one.text])[0]))


def sample_questions(asked: Sequence[AskedQuestion], wanted: int) -> list[AskedQuestion]:
    """The commonest questions of each topic: a topic has its turns in proportion to the square root of how often
    it was asked."""
    topics: dict[int, list[AskedQuestion]] = {}
    for one in asked:
        topics.setdefault(one.topic, []).append(one)
    turns = []
    for topic, members in topics.items():
        weight = math.sqrt(sum(one.count for one in members))
        turns += [((n + 0.5) / weight, topic, n) for n in range(len(members))]
    chosen = [topics[topic][n] for _, topic, n in sorted(turns)[:wanted]]
    return sorted(chosen, key=lambda one: (-one.count, one.text))


def _name_topics(asked: Sequence[AskedQuestion]) -> dict[int, str]:
    """Topic → its commonest question."""
    names: dict[int, str] = {}
    for one in asked:
        names.setdefault(one.topic, one.text)
    return names


def _find_candidates(one: AskedQuestion, search: Search) -> list[Mapping[str, Any]]:
    """The documents that may answer a question, the likeliest first."""
    best: dict[str, Mapping[str, Any]] = {}
    for answer in find_answers(one.text, one.language, search):
        row = {
            "document": answer.source,
            "quote": " ".join(answer.quote.split()),
            "chance": round(answer.chance, 3),
        }
        if answer.chance >= MIN_CANDIDATE_CHANCE:
            best.setdefault(answer.source, row)
    return list(best.values())[:MAX_CANDIDATES]


def _build_item(
    one: AskedQuestion, names: Mapping[int, str], candidates: Sequence[Mapping[str, Any]]
) -> Item:
    wordings = [text for text, _ in one.wordings.most_common(MAX_WORDINGS + 1) if text != one.text]
    told: dict[str, Any] = {
        "count": one.count,
        "topic": names[one.topic],
        "wordings": wordings[:MAX_WORDINGS],
    }
    return Item(
        id=make_item_id(one.text, ()),
        question=one.text,
        reference=None,
        relevant={},
        evidence=(),
        kind=UNLABELLED,
        difficulty="medium",
        language=one.language,
        how="log",
        asked={**told, **({"candidates": list(candidates)} if candidates else {})},
    )
