"""The one-token form of each kind of Ask: support, usefulness, aspects, evasion and relevance, rubrics.

Each is a generator that yields ChoiceRequests, is sent the choices and returns the value of the reply. What the
embedded judge makes (the parts of a question, the quote of an answer) comes from its reply. The options of a question
stand in its prompt file, in the order that the constants here name. Versioned by ROUTE_VERSION in judges/hybrid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragstone.asks import Ask
from ragstone.errors import JudgeFailed
from ragstone.judges.choices import Choice, ChoiceRequest, PairLabel
from ragstone.judges.fences import neutralize, to_one_line
from ragstone.judges.hybrid.odds import combine
from ragstone.judges.hybrid.passages import find_passages
from ragstone.judges.hybrid.prompting import (
    Deciding,
    LoadPrompt,
    build_request,
    fence_texts,
    read_chances,
    read_number,
)
from ragstone.judges.hybrid.support import ClaimOpinion, ClaimQuestion, decide_support
from ragstone.judges.traps import make_trap
from ragstone.locale.messages import compose
from ragstone.prompts import Prompt

VERDICTS: tuple[PairLabel, ...] = ("supported", "not_found")
"""What the options of `choose_support` mean."""
GRADES = (2, 1, 0)
"""What the options of `choose_useful`, `choose_useful_2` and `choose_reaches` mean."""
MAX_CLAIMS = 8
"""Claims of a text that a model is asked about: more would cost much, and change little in what the embedded judge is sure of."""
YES = 0
"""The option that says yes, in `choose_covered`, `choose_evasive` and `choose_told`."""
PREFERENCES = ("A", "B", "tie")
"""What the options of `choose_prefer` mean."""
MAX_LEVELS = 9
"""Levels of a rubric are the digits from 1 on."""


def decide_claims(ask: Ask, embedded: Mapping[str, Any], load: LoadPrompt) -> Deciding:
    """Put the claims of a `support` Ask as one-token questions."""
    prompt = load("choose_support")

    def build(question: ClaimQuestion) -> ChoiceRequest:
        texts = {"sources": fence_texts(*question.passages), "claim": fence_texts(question.claim)}
        return build_request(prompt, texts)

    decision = decide_support(ask, embedded, MAX_CLAIMS)
    try:
        questions = next(decision)
        while True:
            requests = tuple(map(build, questions))
            choices = yield requests
            opinions = tuple(map(_to_opinion, choices, requests))
            questions = decision.send(opinions)
    except StopIteration as end:
        return end.value


def decide_useful(ask: Ask, embedded: Mapping[str, Any], load: LoadPrompt) -> Deciding:
    """Grade each passage for each target; a model that lifts a passage must deny an invented one."""
    values = ask.values
    known = {(row["id"], row["target"]): row for row in embedded["grades"]}
    rows = []
    for target, text in values["targets"].items():
        prompt = load(_name_useful_prompt(text, values.get("wording")))
        wanted = text or values["question"]
        passages = [_shorten(chunk["text"], wanted, ask) for chunk in values["chunks"]]
        requests = tuple(_ask_useful(prompt, values["question"], text, p) for p in passages)
        choices = yield requests
        graded = [
            _grade(known[chunk["id"], target], choice, request)
            for chunk, choice, request in zip(values["chunks"], choices, requests, strict=True)
        ]
        # lifted: from 0 by the embedded judge to more
        if any(row["grade"] > known[row["id"], target]["grade"] == 0 for row in graded):
            trap = make_trap(f"{ask.key}:{target}", ask.language, passages)
            request = _ask_useful(prompt, values["question"], text, trap)
            (control,) = yield (request,)
            if GRADES[read_number(control, request)]:
                raise JudgeFailed("compromised", "useful_trap_taken")
        rows += graded
    return {"grades": rows}


def decide_aspects(ask: Ask, embedded: Mapping[str, Any], load: LoadPrompt) -> Deciding:
    """Decide which aspects the answer covers; a covered one is quoted with the sentence closest to it."""
    requests = _ask_covered(ask, [row["aspect"] for row in embedded["aspects"]], load)
    choices = yield requests
    rows = []
    for row, choice, request in zip(embedded["aspects"], choices, requests, strict=True):
        is_covered = read_number(choice, request) == YES
        quote = (row["quote"] or _find_closest(row["aspect"], ask)) if is_covered else ""
        chances = read_chances(choice, request)
        rows.append(
            {"aspect": row["aspect"], "covered": bool(quote), "quote": quote}
            | _to_probability(None if chances is None else chances[YES])
        )
    return {"aspects": rows}


def decide_questions(ask: Ask, embedded: Mapping[str, Any], load: LoadPrompt) -> Deciding:
    """Decide whether the answer is evasive, and if not, which parts of the question it addresses."""
    if embedded["evasive"]:  # a rule saw that it declines
        return embedded
    request = build_request(load("choose_evasive"), {"answer": fence_texts(ask.values["answer"])})
    (choice,) = yield (request,)
    if read_number(choice, request) == YES:
        return {"evasive": True, "questions": [], "addresses": []}
    if "question" not in ask.values:
        return embedded
    parts = embedded.get("addresses") or [{"part": ask.values["question"].strip()}]
    requests = _ask_covered(ask, [part["part"] for part in parts], load)
    choices = yield requests
    rows = [
        {"part": part["part"], "probability": _read_addressed(choice, request, part)}
        for part, choice, request in zip(parts, choices, requests, strict=True)
    ]
    return {"evasive": False, "addresses": rows}


def decide_rate(ask: Ask, embedded: Mapping[str, Any], load: LoadPrompt) -> Deciding:
    """Place the texts on the scale: one digit for each level."""
    values = ask.values
    levels = values["levels"]
    if len(levels) > MAX_LEVELS:
        raise JudgeFailed("refusal", "too_many_levels", n=len(levels), most=MAX_LEVELS)
    lines = [f"{n}: {to_one_line(level)}" for n, level in enumerate(levels, 1)]
    texts = [f"{to_one_line(name)}:\n{fence_texts(text)}" for name, text in values["texts"].items()]
    filled = {
        "texts": "\n".join(texts),
        "name": to_one_line(values["name"]),
        "question": neutralize(values["question"]),
        "levels": "\n".join(lines),
        "options": ", ".join(str(n) for n in range(1, len(levels) + 1)),
    }
    request = build_request(load("choose_rate"), filled)
    (choice,) = yield (request,)
    level = read_number(choice, request)
    chances = read_chances(choice, request)
    chance = None if chances is None else chances[level]
    return {"level": level, "reason": _explain(levels[level], chance)} | _to_probability(chance)


def decide_prefer(ask: Ask, embedded: Mapping[str, Any], load: LoadPrompt) -> Deciding:
    """Choose the better of two answers, or neither."""
    values = ask.values
    given = [fence_texts(values[name]) for name in ("reference",) if name in values]
    given += [fence_texts(*(source["text"] for source in values.get("sources", ())))] * (
        "sources" in values
    )
    texts = {
        "question": fence_texts(values["question"]),
        "given": "\n".join(given) or "–",
        "first": fence_texts(values["A"]),
        "second": fence_texts(values["B"]),
    }
    request = build_request(load("choose_prefer"), texts)
    (choice,) = yield (request,)
    chances = read_chances(choice, request)
    number = read_number(choice, request)
    chance = None if chances is None else chances[number]
    reason = "" if chance is None else compose("model_preferred", p=round(chance, 2))
    return {"better": PREFERENCES[number], "reason": reason} | _to_probability(chance)


def decide_told(ask: Ask, embedded: Mapping[str, Any], load: LoadPrompt) -> Deciding:
    """Say yes or no of whether a passage answers a question."""
    values = {
        "passage": fence_texts(ask.values["passage"]),
        "question": to_one_line(ask.values["question"]),
    }
    request = build_request(load("choose_told"), values)
    return (yield from _choose_yes(request))


def _choose_yes(request: ChoiceRequest) -> Deciding:
    (choice,) = yield (request,)
    chances = read_chances(choice, request)
    yes = {"yes": read_number(choice, request) == YES}
    return yes | _to_probability(None if chances is None else chances[YES])


DECIDERS: dict[str, Callable[[Ask, Mapping[str, Any], LoadPrompt], Deciding]] = {
    "support": decide_claims,
    "useful": decide_useful,
    "aspects": decide_aspects,
    "questions": decide_questions,
    "rate": decide_rate,
    "prefer": decide_prefer,
    "told": decide_told,
}


def _to_opinion(choice: Choice, request: ChoiceRequest) -> ClaimOpinion:
    chances = read_chances(choice, request)
    by_verdict = None if chances is None else dict(zip(VERDICTS, chances, strict=True))
    return ClaimOpinion(VERDICTS[read_number(choice, request)], by_verdict)


def _name_useful_prompt(target: str | None, wording: Any) -> str:
    if target is not None:
        return "choose_reaches"
    return "choose_useful_2" if wording == 2 else "choose_useful"


def _ask_useful(prompt: Prompt, question: str, target: str | None, passage: str) -> ChoiceRequest:
    texts = {"question": question, "target": target or "", "passage": passage}
    return build_request(prompt, {name: fence_texts(text) for name, text in texts.items()})


def _ask_covered(ask: Ask, aspects: Sequence[str], load: LoadPrompt) -> tuple[ChoiceRequest, ...]:
    fixed = {name: fence_texts(ask.values[name]) for name in ("question", "answer")}
    prompt = load("choose_covered")
    return tuple(build_request(prompt, fixed | {"aspect": fence_texts(a)}) for a in aspects)


def _grade(row: Mapping[str, Any], choice: Choice, request: ChoiceRequest) -> dict[str, Any]:
    """Return the grade of one passage; useful is what is more likely so than not."""
    chances = read_chances(choice, request)
    if chances is None:
        grade = GRADES[read_number(choice, request)]
        return {**row, "grade": grade, "reason": compose("model_graded", grade=grade)}
    fully, partly, _ = chances  # in the order of GRADES
    chance = combine(fully + partly, row.get("probability"))
    grade = 0 if chance < 0.5 else 2 if fully >= partly else 1
    reason = compose("model_graded_with_chance", grade=grade, p=round(chance, 2))
    return {**row, "grade": grade, "reason": reason, "probability": round(chance, 4)}


def _read_addressed(choice: Choice, request: ChoiceRequest, part: Mapping[str, Any]) -> float:
    """Return the chance that a part is addressed; a model without probabilities says yes or no."""
    chances = read_chances(choice, request)
    if chances is None:
        return 1.0 if read_number(choice, request) == YES else 0.0
    return round(combine(chances[YES], part.get("probability")), 4)


def _shorten(passage: str, wanted: str, ask: Ask) -> str:
    """Return the passage, of a long one what is closest to the question or the wanted text."""
    (shown,) = find_passages([wanted], [passage], ask.language)
    return "\n".join(shown.texts)


def _find_closest(aspect: str, ask: Ask) -> str:
    """Return the sentence of the answer that is closest to an aspect."""
    (shown,) = find_passages([aspect], [ask.values["answer"]], ask.language)
    return shown.sentence


def _explain(level: str, chance: float | None) -> str:
    text = " ".join(level.split())
    if chance is None:
        return compose("model_rated", level=text)
    return compose("model_rated_with_chance", level=text, p=round(chance, 2))


def _to_probability(chance: float | None) -> dict[str, float]:
    return {} if chance is None else {"probability": round(chance, 4)}
