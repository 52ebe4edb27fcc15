"""Asks: the questions that metrics put to a judge, and its replies.

A metric that needs a judge is a generator. It yields a tuple of Asks (through `ask` or `ask_all`) and is sent one
Reply or JudgeFailed for each. Each kind of Ask is one file: its constructor, the
schema of its reply, how a model is asked, how replies are checked, merged and voted on (`Kind`).

Replies, by kind (`id`s are those given in the values, each covered exactly once):
    claims     {"claims": [{"text_id", "sentence", "claim"}]}      sentence = index into that text's sentences
    support    {"verdicts": [{"id", "verdict", "evidence": [{"source", "quote"}], "reason"}]}
               A judge that knows probabilities adds "probability" to a verdict, the chance that the claim is supported;
               the key is not in the schema that a model is asked for. A case may have a "question" that its claims and
               sources answer: then a bare name states that it is the answer.
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
    write      {"text"}                                            one line: a question, its answer, its proof, a guess
    told       {"yes", "probability"?}                             whether one passage answers a question, by small models
    solve      {"answers": [{"id", "told": bool, "answer", "quote"}]}   told = whether the sources answer the question
"""

from __future__ import annotations

from ragstone.asks.aspects import aspects
from ragstone.asks.claims import claims
from ragstone.asks.embed import embed
from ragstone.asks.generators import Asking, ask, ask_all, together
from ragstone.asks.goal import goal
from ragstone.asks.kind import KINDS, Kind, list_example_asks
from ragstone.asks.prefer import prefer
from ragstone.asks.questions import questions
from ragstone.asks.rate import rate
from ragstone.asks.solve import Problem, solve
from ragstone.asks.standalone import standalone
from ragstone.asks.support import Case, support
from ragstone.asks.told import check_passage
from ragstone.asks.translate import translate
from ragstone.asks.turns import Exchange, turns
from ragstone.asks.types import Answered, Ask, Reply, canonical, canonical_once, digest
from ragstone.asks.useful import useful
from ragstone.asks.write import write

__all__ = [
    "KINDS",
    "Answered",
    "Ask",
    "Asking",
    "Case",
    "Exchange",
    "Kind",
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
    "list_example_asks",
    "prefer",
    "questions",
    "rate",
    "solve",
    "standalone",
    "support",
    "together",
    "translate",
    "turns",
    "useful",
    "write",
]
