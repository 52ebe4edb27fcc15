"""Text metrics: lexical comparison of answer and reference, and whether the system abstains when it should."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from ragstone.asks import Asking, ask, questions
from ragstone.errors import MissingExtra, MissingField, NotApplicable
from ragstone.metrics.refusal import REFUSAL_LABELS, find_refusal, has_no_answer
from ragstone.registry import metric
from ragstone.text.language import ABSTENTIONS, identify_language, is_in_language
from ragstone.text.words import fold_text, split_bare_words, split_words, strip_final_punctuation
from ragstone.types import Score, to_score

Normalize = Literal["none", "squad"]
"""`none` folds case and white space; `squad` also drops punctuation and the language's articles."""


@metric(binary=True)
def exact_match(
    answer: str, reference: str, language: str | None, *, normalize: Normalize = "none"
) -> Score:
    """1 if answer and reference are equal after case folding and collapsing white space; `normalize=squad` also drops punctuation and the language's articles."""
    is_equal = _tokens(answer, normalize, language) == _tokens(reference, normalize, language)
    return SCORE_ONE if is_equal else SCORE_ZERO


@metric
def token_f1(
    answer: str, reference: str, language: str | None, *, normalize: Normalize = "none"
) -> Score:
    """F1 of the two bags of tokens, folded as in exact_match; 1 when both are empty, 0 when one is."""
    answer_tokens = _tokens(answer, normalize, language)
    reference_tokens = _tokens(reference, normalize, language)
    if not answer_tokens or not reference_tokens:
        return SCORE_ONE if answer_tokens == reference_tokens else SCORE_ZERO
    return to_score(
        2
        * _count_shared(answer_tokens, reference_tokens)
        / (len(answer_tokens) + len(reference_tokens))
    )


@metric(binary=True)
def answer_language(question: str, answer: str, language: str | None) -> Score:
    """1 if the answer is in the language of the question (or in the one that the sample or the plan names), else 0.

    An answer that is too short to tell, as a name or a number, is not applicable."""
    wanted = language or identify_language(question)
    is_same = is_in_language(answer, wanted)
    if is_same is None:
        raise NotApplicable("language_unclear", field="answer")
    return SCORE_ONE if is_same else SCORE_ZERO


SCORE_ONE, SCORE_ZERO = Score(1.0), Score(0.0)


@metric(binary=True, labels=REFUSAL_LABELS, judged_with={"detect": "judge"})
def abstention_accuracy(
    answer: str,
    reference: str | None,
    meta: Mapping[str, Any],
    language: str | None,
    question: str | None = None,
    *,
    texts: str | Sequence[str] = ABSTENTIONS,
    detect: Literal["embedded", "text", "judge"] = "embedded",
) -> Score | Asking[Score]:
    """Share of the unanswerable questions on which the system abstained; every sample is counted as correct refusal, missed refusal, false refusal or answered.

    A question is unanswerable when its reference abstains as well, when `meta` says `type: impossible` or
    `unanswerable`, or `answerable: false`. An answer abstains when it equals an abstention text (case, white space and
    final punctuation aside) or when the embedded recogniser says that it declines as a whole (English and Spanish);
    `detect=text` uses the texts alone, `detect=judge` also asks the judge whether it is evasive. An empty answer is an
    answer unless "" is among the texts."""
    abstentions = _normalize_texts((texts,) if isinstance(texts, str) else tuple(texts))
    if detect == "judge":
        return _judge_abstention(answer, reference, meta, language, abstentions)
    abstains = _normalize(answer) in abstentions
    unanswerable = _is_unanswerable(reference, meta, abstentions)
    if detect == "embedded":
        abstains = abstains or find_refusal(answer, question, reference, meta, language) is not None
        unanswerable = unanswerable or has_no_answer(reference, meta, language)
    return _score_abstention(abstains, unanswerable)


@metric(extra="text")
def rouge_l(answer: str, reference: str) -> Score:
    """F1 of the longest common subsequence of words (ROUGE-L, from rouge-score)."""
    return _clip(_build_rouge().score(reference, answer)["rougeL"].fmeasure)


@metric(extra="text")
def bleu(
    answer: str, reference: str, *, tokenize: Literal["13a", "intl", "char", "zh", "none"] = "13a"
) -> Score:
    """BLEU of the answer as one sentence, exponentially smoothed with effective order (sacrebleu), on a scale of 0 to 1."""
    return _clip(_build_bleu(tokenize).sentence_score(answer, [reference]).score / 100)


@metric(extra="text")
def chrf(answer: str, reference: str, *, word_order: Literal[0, 1, 2] = 0) -> Score:
    """F2 of the character n-grams (chrF, from sacrebleu), on a scale of 0 to 1; `word_order=2` is chrF++."""
    return _clip(_build_chrf(word_order).sentence_score(answer, [reference]).score / 100)


@lru_cache(maxsize=8)  # answer and reference of one sample, as its metrics compare them
def _tokens(text: str, normalize: Normalize, language: str | None) -> list[str]:
    """Cut a text into words; callers share the list and must not change it."""
    return split_words(text) if normalize == "none" else split_bare_words(text, language)


def _count_shared(answer_tokens: list[str], reference_tokens: list[str]) -> int:
    """Count the tokens in the intersection of two bags."""
    answer_set, reference_set = set(answer_tokens), set(reference_tokens)
    if len(answer_set) == len(answer_tokens) or len(reference_set) == len(reference_tokens):
        return len(answer_set & reference_set)  # a word that one side has once is shared once
    remaining: dict[str, int] = {}
    for word in reference_tokens:
        remaining[word] = remaining.get(word, 0) + 1
    shared = 0
    for word in answer_tokens:
        if word in remaining:
            count = remaining[word]
            if count:
                remaining[word] = count - 1
                shared += 1
    return shared


@lru_cache(maxsize=8)
def _normalize_texts(texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(_normalize, texts))


def _normalize(text: str) -> str:
    """Normalize a text for the comparison with abstentions: folded, without final punctuation."""
    return strip_final_punctuation(" ".join(_tokens(text, "none", None)))


def _judge_abstention(
    answer: str,
    reference: str | None,
    meta: Mapping[str, Any],
    language: str | None,
    abstentions: frozenset[str],
) -> Asking[Score]:
    unanswerable = _is_unanswerable(reference, meta, abstentions)
    abstains = _normalize(answer) in abstentions
    if not abstains:
        abstains = (yield from ask(questions(answer, language=language)))["evasive"]
    return _score_abstention(abstains, unanswerable)


def _is_unanswerable(
    reference: str | None, meta: Mapping[str, Any], abstentions: Iterable[str]
) -> bool:
    """Whether the question has no answer, by its metadata or because its reference is an abstention."""
    if meta:
        if meta.get("type") in ("impossible", "unanswerable") or meta.get("answerable") is False:
            return True
        if reference is None and meta.get("answerable") is True:
            return False
    if reference is None:
        raise MissingField("answerable_unknown")
    return _normalize(reference) in abstentions


def _score_abstention(abstains: bool, unanswerable: bool) -> Score:
    if unanswerable:
        label = "correct_refusal" if abstains else "missed_refusal"
        return Score(1.0 if abstains else 0.0, label=label)
    raise NotApplicable("question_answerable", label="false_refusal" if abstains else "answered")


def _clip(value: float) -> Score:
    """Convert the result of a library to a score; rounding may have pushed it past 1."""
    return Score(min(1.0, max(0.0, float(value))))


class _RougeTokenizer:
    """A tokenizer for rouge-score, whose default one treats every accented letter as a space."""

    @staticmethod
    def tokenize(text: str) -> list[str]:
        return _WORD.findall(fold_text(text))


_WORD = re.compile(r"[^\W_]+")


@lru_cache(maxsize=1)
def _build_rouge() -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        raise MissingExtra("rouge_l", "text") from None
    return RougeScorer(["rougeL"], tokenizer=_RougeTokenizer)


@lru_cache(maxsize=8)
def _build_bleu(tokenize: str) -> Any:
    try:
        from sacrebleu.metrics import BLEU
    except ImportError:
        raise MissingExtra("bleu", "text") from None
    return BLEU(effective_order=True, tokenize=tokenize)


@lru_cache(maxsize=4)
def _build_chrf(word_order: int) -> Any:
    try:
        from sacrebleu.metrics import CHRF
    except ImportError:
        raise MissingExtra("chrf", "text") from None
    return CHRF(word_order=word_order)
