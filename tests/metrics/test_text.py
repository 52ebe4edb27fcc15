"""Text metrics: the worked examples, the foldings, and equality with the SQuAD evaluation on plain text."""

from __future__ import annotations

import random
import re
import string
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.asks import Reply
from ragstone.errors import MissingExtra, MissingField, NotApplicable
from ragstone.metrics import resolve, text
from ragstone.metrics.text import abstention_accuracy, bleu, chrf, exact_match, rouge_l, token_f1
from ragstone.text.words import find_articles, fold_text, strip_final_punctuation

ABSTAINS = "It is not mentioned in the document."


def test_worked_example_of_token_f1():
    assert token_f1("SparseSwaps algorithm", "SparseSwaps", None).value == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("  The\tCAT ", "the cat"),
        ("STRASSE", "straße"),
        ("ﬁn", "fin"),
        ("İSTANBUL", "istanbul"),
        ("ISPARTA", "ısparta"),
        ("cafe\u0301", "café"),
        ("\ufeffzero\u200bwidth", "zerowidth"),
        ("１２", "12"),
    ],
)
def test_exact_match_folds_case_width_and_white_space(answer, reference):
    assert exact_match(answer, reference, None).value == 1.0
    assert token_f1(answer, reference, None).value == 1.0


@pytest.mark.parametrize(("answer", "reference"), [("año", "ano"), ("the cat.", "cat"), ("a", "b")])
def test_exact_match_keeps_accents_punctuation_and_articles(answer, reference):
    assert exact_match(answer, reference, None).value == 0.0


def test_squad_drops_punctuation_and_the_articles_of_the_language():
    assert exact_match("The cat!", "«cat»", None, normalize="squad").value == 1.0
    assert exact_match("El gato", "gato", "es", normalize="squad").value == 1.0
    assert exact_match("El gato", "gato", "es-MX", normalize="squad").value == 1.0
    assert exact_match("El gato", "gato", None, normalize="squad").value == 0.0
    assert exact_match("the Wagen", "Wagen", "de", normalize="squad").value == 0.0


def test_an_unknown_language_has_no_articles_and_none_means_english():
    assert find_articles("zz") == frozenset()
    assert find_articles(None) == find_articles("en-GB") == {"a", "an", "the"}


def test_an_empty_answer_is_an_answer():
    assert exact_match("", "x", None).value == 0.0
    assert token_f1("", "x", None).value == 0.0
    assert token_f1("x", "", None).value == 0.0
    assert exact_match("", " ", None).value == token_f1("", " ", None).value == 1.0


def test_repeated_tokens_count_as_often_as_both_have_them():
    assert token_f1("a a a b", "a a c", None).value == pytest.approx(4 / 7)


def squad(text: str) -> str:
    """The normalisation of the SQuAD evaluation."""
    kept = "".join(ch for ch in text.lower() if ch not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


plain = st.text(st.sampled_from(string.ascii_letters[:8] + "thenTHE  .,-'!$"), max_size=40)


@given(plain, plain)
def test_squad_normalisation_equals_the_squad_evaluation(answer, reference):
    given, wanted = squad(answer).split(), squad(reference).split()
    shared = sum((Counter(given) & Counter(wanted)).values())
    f1 = 2 * shared / (len(given) + len(wanted)) if given and wanted else float(given == wanted)
    assert exact_match(answer, reference, None, normalize="squad").value == (given == wanted)
    assert token_f1(answer, reference, None, normalize="squad").value == pytest.approx(f1)


@given(st.text())
def test_folding_twice_changes_nothing(drawn):
    assert fold_text(fold_text(drawn)) == fold_text(drawn)


@given(st.text())
def test_case_does_not_survive_folding(drawn):
    assert fold_text(drawn.upper().lower()) == fold_text(drawn.upper())


@pytest.mark.parametrize("step", [97, pytest.param(1, marks=pytest.mark.slow)])
def test_folding_every_character_twice_changes_nothing(step):
    every = [chr(code) for code in range(0, 0x110000, step) if not 0xD800 <= code < 0xE000]
    assert [ch for ch in every if fold_text(fold_text(ch)) != fold_text(ch)] == []


def test_only_the_end_is_stripped():
    assert strip_final_punctuation("¿no sé? …! ") == "¿no sé"
    assert strip_final_punctuation("...") == ""


@pytest.mark.parametrize(
    ("answer", "value", "label"),
    [
        (ABSTAINS, 1.0, "correct_refusal"),
        ("it is NOT mentioned\nin the document", 1.0, "correct_refusal"),
        ("No se menciona en el documento", 1.0, "correct_refusal"),
        ("Paris", 0.0, "missed_refusal"),
        ("", 0.0, "missed_refusal"),
        (f"{ABSTAINS} But it is Paris.", 0.0, "missed_refusal"),
    ],
)
def test_unanswerable_questions_are_scored(answer, value, label):
    for reference, meta in [
        (ABSTAINS, {}),
        (None, {"type": "impossible"}),
        ("Lyon", {"type": "unanswerable"}),
        (None, {"answerable": False}),
    ]:
        score = abstention_accuracy(answer, reference, meta, None)
        assert (score.value, score.label) == (value, label)


@pytest.mark.parametrize(("answer", "label"), [("Paris", "answered"), (ABSTAINS, "false_refusal")])
@pytest.mark.parametrize(
    ("reference", "meta"),
    [("Paris", {}), ("Paris", {"type": "fact"}), (None, {"answerable": True})],
)
def test_answerable_questions_are_only_counted(answer, label, reference, meta):
    with pytest.raises(NotApplicable) as outcome:
        abstention_accuracy(answer, reference, meta, None)
    assert outcome.value.label == label


def test_not_knowing_whether_it_can_be_answered_is_a_missing_field():
    with pytest.raises(MissingField, match="give `reference`"):
        abstention_accuracy("Paris", None, {"type": "fact"}, None)


def test_refusals_in_other_words_are_recognised_unless_texts_alone_decide():
    for answer in ("I could not find that in the sources.", "El texto no lo dice."):
        assert abstention_accuracy(answer, ABSTAINS, {}, None).value == 1.0
        assert abstention_accuracy(answer, ABSTAINS, {}, None, detect="text").value == 0.0


def test_an_empty_answer_is_no_abstention_unless_named():
    assert abstention_accuracy(" ", ABSTAINS, {}, None).value == 0.0


def test_abstention_texts_can_be_named():
    one = resolve("abstention_accuracy(texts='I do not know', detect=text)")
    several = resolve({"abstention_accuracy": {"texts": ["n/a", ""]}})
    unanswerable = {"answerable": False}
    assert one.function("i do not know!", None, unanswerable, None, **one.options).value == 1.0
    assert one.function(ABSTAINS, None, unanswerable, None, **one.options).value == 0.0
    assert several.function("", None, unanswerable, None, **several.options).value == 1.0


def test_a_judge_is_asked_only_with_that_option_and_only_when_the_text_does_not_tell():
    by_text = resolve("abstention_accuracy")
    by_judge = resolve("abstention_accuracy(detect=judge)")
    assert (by_text.judged, by_judge.judged) == (False, True)
    told = by_judge.function(ABSTAINS, ABSTAINS, {}, None, **by_judge.options)
    with pytest.raises(StopIteration) as end:
        next(told)
    assert end.value.value.label == "correct_refusal"


@pytest.mark.parametrize(
    ("evasive", "label"), [(True, "correct_refusal"), (False, "missed_refusal")]
)
def test_the_judge_says_whether_the_answer_declines(evasive, label):
    asking = abstention_accuracy("I'd rather not say.", ABSTAINS, {}, "en", detect="judge")
    (ask,) = next(asking)
    assert (ask.kind, ask.values["answer"]) == ("questions", "I'd rather not say.")
    with pytest.raises(StopIteration) as end:
        asking.send((Reply({"evasive": evasive, "questions": []}),))
    assert end.value.value.label == label


def test_rouge_l_is_the_longest_common_subsequence_with_accents_kept():
    pytest.importorskip("rouge_score")
    assert rouge_l("the cat sat down", "the cat lay down").value == pytest.approx(0.75)
    assert rouge_l("año", "ano").value == 0.0
    assert rouge_l("El AÑO", "el año").value == 1.0


@given(plain, plain)
def test_rouge_l_equals_the_library_on_plain_text(answer, reference):
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rougeL"])
    theirs = scorer.score(reference, answer)["rougeL"].fmeasure
    assert rouge_l(answer, reference).value == pytest.approx(theirs)


def test_bleu_and_chrf_are_those_of_sacrebleu_on_a_scale_of_one():
    sacrebleu = pytest.importorskip("sacrebleu")
    answer, reference = "The cat sat on the mat.", "The cat is on the mat."
    theirs = sacrebleu.sentence_bleu(answer, [reference]).score / 100
    assert bleu(answer, reference).value == pytest.approx(theirs)
    assert chrf(answer, reference).value == pytest.approx(
        sacrebleu.sentence_chrf(answer, [reference]).score / 100
    )
    plus = sacrebleu.sentence_chrf(answer, [reference], word_order=2).score / 100
    assert chrf(answer, reference, word_order=2).value == pytest.approx(plus)
    assert bleu(reference, reference).value == chrf(reference, reference).value == 1.0


@pytest.mark.parametrize("metric", [rouge_l, bleu, chrf])
def test_a_missing_package_names_the_extra(metric, monkeypatch):
    for module in ("rouge_score.rouge_scorer", "sacrebleu.metrics"):
        monkeypatch.setitem(sys.modules, module, None)
    for cached in (text._build_rouge, text._build_bleu, text._build_chrf):
        cached.cache_clear()
    with pytest.raises(MissingExtra, match=r"pip install 'ragstone\[text\]'"):
        metric("a", "a")


def test_token_f1_is_that_of_the_two_bags():
    dice = random.Random(5)
    for _ in range(300):
        answer, reference = (dice.choices("abcdefgh", k=dice.randrange(1, 12)) for _ in range(2))
        shared = sum((Counter(answer) & Counter(reference)).values())
        expected = 2 * shared / (len(answer) + len(reference))
        assert token_f1(" ".join(answer), " ".join(reference), None).value == expected
