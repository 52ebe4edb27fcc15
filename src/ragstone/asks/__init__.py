"""Asks: the questions that metrics put to a judge, and its replies.

A metric that needs a judge is a generator. It yields a tuple of Asks (through `ask` or `ask_all`) and is sent one
Reply or JudgeFailed for each. Every kind of Ask has one constructor, which fixes its values and the JSON schema of
its reply; every judge answers these kinds and no others.

Replies, by kind (`id`s are those given in the values, each covered exactly once):
    claims     {"claims": [{"text_id", "sentence", "claim"}]}      sentence = index into that text's sentences
    support    {"verdicts": [{"id", "verdict", "evidence": [{"source", "quote"}], "reason"}]}
               A judge that knows probabilities adds "probability" to a verdict (chance that the claim is supported),
               "certain": true where a rule saw the verdict for sure, and "case_probabilities": for each case the
               chance that all its claims are supported; "share" of a claim that only names something and that the
               sources hold in part. These keys are not in the schema that a model is asked for. A case may have a
               "question" that its claims and sources answer: then a bare name states that it is the answer.
               A cascade adds "cascade" to a row of `support` and `useful`: {"first", "second", "chance", "probability"}.
    useful     {"grades": [{"id", "target", "grade", "reason"}]}   grade 0, 1 or 2, for each chunk × target
    aspects    {"aspects": [{"aspect", "covered", "quote"}]}       quote = verbatim part of the answer, "" if missing
    questions  {"evasive": bool, "questions": [text]}
               A judge that writes no questions replies {"evasive": bool, "addresses": [{"part", "probability"}]}: for
               each part of the question that was asked (or the whole as one) the chance that the answer addresses it;
               [] for an evasive answer.
    standalone {"question": text}
    turns      {"turns": [{"id", "addresses": bool, "contradicts", "quote", "reason"}]}   contradicts = id of an earlier
               turn or "", quote = verbatim part of its answer. A judge that cannot tell replies null.
    goal       {"turn", "reason"}                                  turn = id of the turn that reaches the goal, or ""
    rate       {"level", "reason"}                                 level = index into the rubric's levels
    prefer     {"reason", "better"}                                better = A, B or tie
    embed      {"vectors": [[float]]}                              one for each text
    write      {"items": [{"id", "question", "answer", "evidence": [{"source", "quote"}], "difficulty"}]}
    told       {"yes", "probability"?}                             whether one passage answers a question, by small models
    solve      {"answers": [{"id", "told": bool, "answer", "quote"}]}   told = whether the sources answer the question
"""

from __future__ import annotations

from ragstone.asks.generators import Asking, ask, ask_all, together
from ragstone.asks.kinds import (
    Case,
    Exchange,
    Order,
    Problem,
    aspects,
    check_passage,
    claims,
    embed,
    goal,
    prefer,
    questions,
    rate,
    solve,
    standalone,
    support,
    turns,
    useful,
    write,
)
from ragstone.asks.types import Answered, Ask, Reply, canonical, canonical_once, digest

PROBABILITY_KEYS = ("probability", "case_probabilities")
"""Keys of a reply that hold probabilities."""

__all__ = [
    "PROBABILITY_KEYS",
    "Answered",
    "Ask",
    "Asking",
    "Case",
    "Exchange",
    "Order",
    "Problem",
    "Reply",
    "ask",
    "ask_all",
    "aspects",
    "canonical",
    "canonical_once",
    "check_passage",
    "claims",
    "digest",
    "embed",
    "goal",
    "prefer",
    "questions",
    "rate",
    "solve",
    "standalone",
    "support",
    "together",
    "turns",
    "useful",
    "write",
]  # fmt: skip
