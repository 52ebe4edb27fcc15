"""Twenty faults, each planted into some samples of a healthy run: what a diagnosis must then name first is known."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bench.planted.controls import (
    CLOSINGS,
    OPENINGS,
    REFUSALS,
    add_marker,
    build_refusals,
)
from bench.planted.corpus import (
    Fact,
    build_ranking,
    build_sample,
    find_nearest_sentence,
    list_distractors,
    list_sentences,
    load_documents,
    load_facts,
    to_contexts,
)
from ragstone.types import Ranked, Sample

Plant = Callable[[Fact, "Setting"], Sample | None]

CHATTER = {
    "en": [
        "That is a very good question, and many people ask themselves the same thing.",
        "It always depends a little on what one is looking for and how one sees it.",
        "In any case it is worth taking the time to think about it calmly.",
    ],
    "es": [
        "Es una pregunta muy buena, y mucha gente se pregunta lo mismo.",
        "Siempre depende un poco de lo que uno busca y de cómo lo mira.",
        "En todo caso merece la pena pensarlo con calma.",
    ],
}
INVENTED = {
    "en": [
        "This was decided in 1987 by the engineer Rosalind Harper.",
        "A surcharge of 72 euros applies at the counter in Westbrook.",
    ],
    "es": [
        "Lo decidió en 1987 la ingeniera Rosalinda Harpo.",
        "En la ventanilla de Villaseca se aplica un recargo de 72 euros.",
    ],
}
BOILERPLATE = {
    "en": "Skip to content. We use cookies to improve your visit. Accept all. Menu. Log in. Share this page.",
    "es": "Saltar al contenido. Usamos cookies para mejorar tu visita. Aceptar todo. Menú. Entrar. Compartir.",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What the retriever gave before the fault: how many chunks, and the right one at which rank."""

    chunks: int = 4
    rank: int = 1

    def rank_documents(self, fact: Fact) -> list[str]:
        return build_ranking(fact, chunks=self.chunks, rank=self.rank)

    def build_contexts(self, fact: Fact) -> Ranked:
        return to_contexts(self.rank_documents(fact))


@dataclass(frozen=True, slots=True)
class Fault:
    """A way to spoil a sample, and the class that it makes."""

    name: str
    cause: str
    plant: Plant
    slices: tuple[str, ...] = ("domain", "topic", "long question", "language")
    is_cited: bool = False
    metrics: tuple[str, ...] = ()
    """Metrics that the run needs besides the usual ones."""


def _miss_document(fact: Fact, setting: Setting) -> Sample:
    return build_sample(
        fact, REFUSALS[fact.language], to_contexts(list_distractors(fact, setting.chunks))
    )


def _retrieve_nothing(fact: Fact, setting: Setting) -> Sample:
    return build_sample(fact, INVENTED[fact.language][1], Ranked())


def _retrieve_other(fact: Fact, setting: Setting) -> Sample:
    """Documents of something else, and an answer that is faithful to them."""
    names = list_distractors(fact, 30)[-setting.chunks :]
    return build_sample(fact, find_nearest_sentence(names[0], fact), to_contexts(names))


def _repeat_chunk(fact: Fact, setting: Setting) -> Sample:
    """One chunk many times, which crowds out the right one."""
    names = list_distractors(fact, 1) * setting.chunks
    return build_sample(fact, find_nearest_sentence(names[0], fact), to_contexts(names))


def _truncate(fact: Fact, setting: Setting) -> Sample:
    text = load_documents()[fact.document]
    cut = {fact.document: text[: text.index(fact.evidence)].strip() or text[:40]}
    return build_sample(
        fact, REFUSALS[fact.language], to_contexts(setting.rank_documents(fact), cut)
    )


def _go_stale(fact: Fact, setting: Setting) -> Sample | None:
    old = change_numbers(fact)
    if old is None:
        return None
    text = {fact.document: load_documents()[fact.document].replace(fact.evidence, old)}
    return build_sample(fact, old, to_contexts(setting.rank_documents(fact), text))


def _garble(fact: Fact, setting: Setting) -> Sample:
    text = {fact.document: BOILERPLATE[fact.language]}
    return build_sample(
        fact, REFUSALS[fact.language], to_contexts(setting.rank_documents(fact), text)
    )


def _bury(fact: Fact, setting: Setting) -> Sample:
    """The right document comes last, and the answer is taken from the first."""
    names = build_ranking(fact, chunks=6, rank=6)
    return build_sample(fact, find_nearest_sentence(names[0], fact), to_contexts(names))


def _change_number(fact: Fact, setting: Setting) -> Sample | None:
    wrong = change_numbers(fact)
    return None if wrong is None else build_sample(fact, wrong, setting.build_contexts(fact))


def _embellish(fact: Fact, setting: Setting) -> Sample:
    answer = " ".join([fact.evidence, *INVENTED[fact.language]])
    return build_sample(fact, answer, setting.build_contexts(fact))


def _refuse(fact: Fact, setting: Setting) -> Sample:
    return build_sample(fact, REFUSALS[fact.language], setting.build_contexts(fact))


def _translate(fact: Fact, setting: Setting) -> Sample | None:
    if fact.other_language is None:
        return None
    return build_sample(fact, fact.other_language, setting.build_contexts(fact))


def _answer_other_question(fact: Fact, setting: Setting) -> Sample:
    others = [other for other in load_facts(fact.language) if other.domain != fact.domain]
    return build_sample(
        fact, random.Random(fact.id).choice(others).evidence, setting.build_contexts(fact)
    )


def _chat(fact: Fact, setting: Setting) -> Sample:
    return build_sample(fact, " ".join(CHATTER[fact.language]), setting.build_contexts(fact))


def _answer_half(fact: Fact, setting: Setting) -> Sample:
    """Two questions in one, of which the first is answered."""
    return ask_two(fact, setting, is_whole=False)


def _ramble(fact: Fact, setting: Setting) -> Sample:
    """The right answer among sentences on other things from the retrieved documents."""
    contexts = setting.build_contexts(fact)
    names = [name for name in contexts.ids if name != fact.document] or list_distractors(fact, 2)
    beside = [s for name in names[:2] for s in list_sentences(name, fact.language)[-3:]]
    answer = " ".join([CHATTER[fact.language][0], *beside, fact.evidence])
    return build_sample(fact, answer, contexts)


def _follow_near(fact: Fact, setting: Setting) -> Sample | None:
    """The answer that a near document gives to the question, although the right one was there."""
    if not fact.near:
        return None
    names = [fact.document, *list_distractors(fact, max(setting.chunks - 1, 2))]
    return build_sample(fact, find_nearest_sentence(fact.near[0], fact), to_contexts(names))


def _cite_wrongly(fact: Fact, setting: Setting) -> Sample:
    names = [fact.document, *list_distractors(fact, 30)[-3:]]
    return build_sample(fact, add_marker(fact.evidence, 3), to_contexts(names))


def _fail(fact: Fact, setting: Setting) -> Sample:
    return build_sample(fact, None, Ranked(), error="the model did not answer within 30 s")


WHOLE = ("domain", "topic", "long question", "language", "many chunks", "low rank")
"""Slices of a fault that retrieval may bring about."""

FAULTS: tuple[Fault, ...] = (
    Fault("document missed", "retrieval_failure", _miss_document),
    Fault("nothing retrieved", "retrieval_failure", _retrieve_nothing),
    Fault("other documents", "retrieval_failure", _retrieve_other),
    Fault("one chunk repeated", "retrieval_failure", _repeat_chunk),
    Fault("chunk truncated", "faulty_evidence", _truncate),
    Fault("chunk stale", "faulty_evidence", _go_stale),
    Fault("chunk garbled", "faulty_evidence", _garble),
    Fault("evidence last", "ranking_failure", _bury),
    Fault("number changed", "hallucination", _change_number, WHOLE),
    Fault("details invented", "hallucination", _embellish, WHOLE),
    Fault("refused", "false_refusal", _refuse, WHOLE),
    Fault("not refused", "missed_refusal", lambda fact, setting: None, ("type",)),
    Fault("other language", "wrong_language", _translate, WHOLE),
    Fault("other question", "off_topic", _answer_other_question, WHOLE),
    Fault("chatter", "off_topic", _chat, WHOLE),
    Fault("half answered", "incomplete", _answer_half, WHOLE),
    Fault("rambling", "verbose", _ramble, WHOLE),
    Fault("near document followed", "generation_failure", _follow_near, ("type",)),
    Fault("wrong citations", "citation_failure", _cite_wrongly, WHOLE, True, ("citation_precision",)),
    Fault("system error", "system_failure", _fail),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PlantedRun:
    """Samples of which some have a fault."""

    samples: tuple[Sample, ...]
    planted: frozenset[str]
    """Ids of those with the fault."""
    slice: str | None
    members: frozenset[str]
    """Ids of the samples of the slice that the fault was planted in."""


MILD_SHARE, SLICE_SHARE = 0.2, 0.9
"""Share of all samples with a mild fault, and of a slice with a severe one."""


def build_faulty(fault: Fault, language: str, slice: str | None, seed: int = 0) -> PlantedRun:
    """Return a run with the fault in a fifth of all samples, or in nearly all of a slice."""
    dice = random.Random(f"{fault.name}:{language}:{slice}:{seed}")
    facts = [
        f
        for code in ("en", "es")
        if slice == "language" or code == language
        for f in load_facts(code)
    ]
    where = "type" if fault.slices == ("type",) else slice
    members = choose_members(facts, where, language, dice)
    # few samples can carry a fault of one type of question: a fifth of them would be no fault to find
    mild = 0.5 if fault.slices == ("type",) else MILD_SHARE
    share = mild if slice is None else SLICE_SHARE
    samples, planted = [], set()
    for number, fact in enumerate(facts):
        setting = choose_setting(slice, fact.id in members)
        spoiled = (
            fault.plant(fact, setting) if fact.id in members and dice.random() < share else None
        )
        sample = spoiled or build_healthy(fault, fact, setting, number)
        if spoiled is not None:
            planted.add(fact.id)
        samples.append(_untag(sample) if slice == "topic" else sample)
    if fault.name == "not refused":
        refusals = build_refusals(language, declined=slice is None)
        spoiled_ids = {s.id for s in refusals if slice is not None or dice.random() < 0.5}
        answered = {s.id: s for s in build_refusals(language, declined=False)}
        samples += [answered[s.id] if s.id in spoiled_ids else s for s in refusals]
        planted, members = spoiled_ids, {s.id for s in refusals}
    # whatever its severity, only questions of one type can have such a fault
    return PlantedRun(tuple(samples), frozenset(planted), where, frozenset(members))


def build_healthy(fault: Fault, fact: Fact, setting: Setting, number: int) -> Sample:
    """Return the sample as it is without the fault: short answers and sentences by turns."""
    if fault.name == "half answered":
        return ask_two(fact, setting, is_whole=True)
    answer = fact.evidence if fault.is_cited or number % 2 else fact.reference
    contexts = setting.build_contexts(fact)
    if fault.is_cited:
        answer = add_marker(answer, 1 + contexts.ids.index(fact.document))
    if number % 5 == 0 and not fault.is_cited:
        answer = f"{OPENINGS[fact.language]} {fact.evidence} {CLOSINGS[fact.language]}"
    return build_sample(fact, answer, contexts)


def ask_two(fact: Fact, setting: Setting, *, is_whole: bool) -> Sample:
    """Return a sample that asks two things, answered in whole or by half."""
    facts = [
        f
        for f in load_facts(fact.language)
        if f.domain == fact.domain and f.document != fact.document
    ]
    second = random.Random(fact.id).choice(facts)
    names = [fact.document, second.document, *list_distractors(fact, setting.chunks)]
    names = list(dict.fromkeys(names))[: max(setting.chunks, 3)]
    both = f"{fact.evidence} {second.evidence}"
    sample = build_sample(fact, both if is_whole else fact.evidence, to_contexts(names))
    link = "Also: " if fact.language == "en" else "Y además: "
    return replace(
        sample, question=f"{fact.question} {link}{second.question}", reference=both,
        relevant={fact.document: 1.0, second.document: 1.0},
    )  # fmt: skip


def choose_members(
    facts: Sequence[Fact], slice: str | None, language: str, dice: random.Random
) -> set[str]:
    """Return the ids of the samples that a fault may be planted in."""
    if slice == "domain":
        chosen = dice.choice(sorted({fact.domain for fact in facts}))
        return {fact.id for fact in facts if fact.domain == chosen}
    if slice == "topic":
        chosen = dice.choice(list_names(facts))
        return {fact.id for fact in facts if chosen in fact.question}
    if slice == "long question":
        return {fact.id for fact in facts if len(fact.question.split()) > 13}
    if slice == "language":
        return {fact.id for fact in facts if fact.language == language}
    if slice == "type":
        return {fact.id for fact in facts if fact.near}
    if slice in ("many chunks", "low rank"):
        return {fact.id for fact in facts if dice.random() < 0.4}
    return {fact.id for fact in facts}


def list_names(facts: Sequence[Fact]) -> list[str]:
    """Return the names that at least eight questions mention."""
    words = Counter(
        w for f in facts for w in set(re.findall(r"(?<=[a-zé,] )[A-ZÁ]\w+", f.question))
    )
    return sorted(word for word, count in words.items() if count >= 8)


def choose_setting(slice: str | None, is_member: bool) -> Setting:
    """Return what was retrieved for members of a slice and for the rest."""
    if slice == "many chunks":
        return Setting(chunks=9 if is_member else 3)
    if slice == "low rank":
        return Setting(rank=4 if is_member else 1)
    return Setting()


def change_numbers(fact: Fact) -> str | None:
    """Return the sentence that tells the fact with another number; None where the reference has none."""
    match = re.search(r"\d+", fact.reference)
    if match is None:
        return None
    other = str(int(match[0]) + 7 + len(fact.id) % 3)
    start = fact.evidence.find(fact.reference)
    if start < 0:
        return None
    at = start + match.start()
    return fact.evidence[:at] + other + fact.evidence[at + len(match[0]) :]


def _untag(sample: Sample) -> Sample:
    return replace(sample, meta={})
