"""The one-token form of each kind of Ask: support, usefulness, aspects, evasion and relevance, rubrics.

Each is a generator that yields ChoiceRequests, is sent the choices and returns the value of the reply. What the
embedded judge makes (the parts of a question, the quote of an answer) comes from its reply."""

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
    name_options,
    read_chance,
)
from ragstone.judges.hybrid.support import ClaimOpinion, ClaimQuestion, decide_support
from ragstone.judges.traps import make_trap
from ragstone.locale.messages import compose

VERDICTS: dict[str, PairLabel] = {"A": "supported", "B": "contradicted", "C": "not_found"}
"""Letter of the prompt of `support` → verdict."""
GRADES = {"A": 2, "B": 1, "C": 0}
"""Letter of the prompts of usefulness → grade."""
MAX_LEVELS = 26


def decide_claims(ask: Ask, embedded: Mapping[str, Any], load: LoadPrompt) -> Deciding:
    """Put the claims of a `support` Ask as one-token questions."""
    prompt = load("choose_support")

    def build(question: ClaimQuestion) -> ChoiceRequest:
        sources, claim = fence_texts(*question.passages), fence_texts(question.claim)
        return build_request(prompt, {"sources": sources, "claim": claim}, tuple(VERDICTS))

    decision = decide_support(ask, embedded)
    try:
        questions = next(decision)
        while True:
            choices = yield tuple(map(build, questions))
            questions = decision.send(tuple(map(_to_opinion, choices)))
    except StopIteration as end:
        return end.value


def decide_useful(ask: Ask, embedded: Mapping[str, Any], load: LoadPrompt) -> Deciding:
    """Grade each passage for each target; a model that lifts a passage must deny an invented one."""
    values = ask.values
    known = {(row["id"], row["target"]): row for row in embedded["grades"]}
    rows = []
    for target, text in values["targets"].items():
        wording = "choose_useful_2" if values.get("wording") == 2 else "choose_useful"
        prompt = load("choose_reaches" if text is not None else wording)
        fixed = {"question": fence_texts(values["question"]), "target": fence_texts(text or "")}

        def build(passage: str, prompt: Any = prompt, fixed: Any = fixed) -> Any:
            return build_request(prompt, fixed | {"passage": fence_texts(passage)}, tuple(GRADES))

        passages = [_shorten(c["text"], text or values["question"], ask) for c in values["chunks"]]
        choices = yield tuple(map(build, passages))
        graded = [
            _grade(known[chunk["id"], target], choice)
            for chunk, choice in zip(values["chunks"], choices, strict=True)
        ]
        if any(row["grade"] > known[row["id"], target]["grade"] == 0 for row in graded):
            trap = make_trap(f"{ask.key}:{target}", ask.language, passages)
            (control,) = yield (build(trap),)
            if GRADES[control.option]:
                raise JudgeFailed("compromised", "useful_trap_taken")
        rows += graded
    return {"grades": rows}


def decide_aspects(ask: Ask, embedded: Mapping[str, Any], load: LoadPrompt) -> Deciding:
    """Decide which aspects the answer covers; a covered one is quoted with the sentence closest to it."""
    names = [row["aspect"] for row in embedded["aspects"]]
    choices = yield _ask_covered(ask, names, load)
    rows = []
    for row, choice in zip(embedded["aspects"], choices, strict=True):
        covered = choice.option == "A"
        quote = row["quote"] or _find_closest(row["aspect"], ask) if covered else ""
        rows.append(
            {"aspect": row["aspect"], "covered": covered and bool(quote), "quote": quote}
            | _to_probability(read_chance(choice, "A"))
        )
    return {"aspects": rows}


def decide_questions(ask: Ask, embedded: Mapping[str, Any], load: LoadPrompt) -> Deciding:
    """Decide whether the answer is evasive, and if not, which parts of the question it addresses."""
    if embedded["evasive"]:  # a rule saw that it declines
        return embedded
    values = {"answer": fence_texts(ask.values["answer"])}
    (choice,) = yield (build_request(load("choose_evasive"), values, ("A", "B")),)
    if choice.option == "B":
        return {"evasive": True, "questions": [], "addresses": []}
    if "question" not in ask.values:
        return embedded
    parts = embedded.get("addresses") or [{"part": ask.values["question"].strip()}]
    choices = yield _ask_covered(ask, [part["part"] for part in parts], load)
    rows = [
        {"part": part["part"], "probability": _read_addressed(choice, part.get("probability"))}
        for part, choice in zip(parts, choices, strict=True)
    ]
    return {"evasive": False, "addresses": rows}


def decide_rate(ask: Ask, embedded: Mapping[str, Any], load: LoadPrompt) -> Deciding:
    """Place the texts on the scale: one letter for each level."""
    values = ask.values
    levels = values["levels"]
    if len(levels) > MAX_LEVELS:
        raise JudgeFailed("refusal", "too_many_levels", n=len(levels), most=MAX_LEVELS)
    options = name_options(len(levels))
    lines = [f"{o}: {to_one_line(level)}" for o, level in zip(options, levels, strict=True)]
    texts = [f"{to_one_line(name)}:\n{fence_texts(text)}" for name, text in values["texts"].items()]
    filled = {
        "texts": "\n".join(texts),
        "name": to_one_line(values["name"]),
        "question": neutralize(values["question"]),
        "levels": "\n".join(lines),
        "options": ", ".join(options),
    }
    (choice,) = yield (build_request(load("choose_rate"), filled, options),)
    level = options.index(choice.option)
    chance = read_chance(choice, choice.option)
    return {"level": level, "reason": _explain(levels[level], chance)} | _to_probability(chance)


DECIDERS: dict[str, Callable[[Ask, Mapping[str, Any], LoadPrompt], Deciding]] = {
    "support": decide_claims,
    "useful": decide_useful,
    "aspects": decide_aspects,
    "questions": decide_questions,
    "rate": decide_rate,
}


def _to_opinion(choice: Choice) -> ClaimOpinion:
    chances = choice.probabilities
    by_verdict = None if chances is None else {VERDICTS[o]: p for o, p in chances.items()}
    return ClaimOpinion(VERDICTS[choice.option], by_verdict)


def _grade(row: Mapping[str, Any], choice: Choice) -> dict[str, Any]:
    """Return the grade of one passage; useful is what is more likely so than not."""
    chance = read_chance(choice, "A", "B")
    if chance is None:
        grade = GRADES[choice.option]
        return {**row, "grade": grade, "reason": compose("model_graded", grade=grade)}
    chance = combine(chance, row.get("probability"))
    full = read_chance(choice, "A") or 0.0
    partly = read_chance(choice, "B") or 0.0
    grade = 0 if chance < 0.5 else 2 if full >= partly else 1
    reason = compose("model_graded_with_chance", grade=grade, p=round(chance, 2))
    return {**row, "grade": grade, "reason": reason, "probability": round(chance, 4)}


def _ask_covered(ask: Ask, aspects: Sequence[str], load: LoadPrompt) -> Any:
    fixed = {
        "question": fence_texts(ask.values["question"]),
        "answer": fence_texts(ask.values["answer"]),
    }
    prompt = load("choose_covered")
    return tuple(
        build_request(prompt, fixed | {"aspect": fence_texts(aspect)}, ("A", "B"))
        for aspect in aspects
    )


def _read_addressed(choice: Choice, embedded: float | None) -> float:
    """Return the chance that a part is addressed; a model without probabilities says yes or no."""
    chance = read_chance(choice, "A")
    if chance is None:
        return 1.0 if choice.option == "A" else 0.0
    return round(combine(chance, embedded), 4)


def _shorten(passage: str, wanted: str, ask: Ask) -> str:
    """Return the passage, of a long one what is closest to the question or the wanted text."""
    (shown,) = find_passages([wanted], [passage], ask.language)
    return "\n".join(shown.texts)


def _find_closest(aspect: str, ask: Ask) -> str:
    """Return the sentence of the answer that is closest to an aspect."""
    answer = ask.values["answer"]
    (shown,) = find_passages([aspect], [answer], ask.language)
    return shown.sentence


def _explain(level: str, chance: float | None) -> str:
    text = " ".join(level.split())
    if chance is None:
        return compose("model_rated", level=text)
    return compose("model_rated_with_chance", level=text, p=round(chance, 2))


def _to_probability(chance: float | None) -> dict[str, float]:
    return {} if chance is None else {"probability": round(chance, 4)}
