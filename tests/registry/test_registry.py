"""Metrics by name: options, errors, and a user's own."""

from __future__ import annotations

import sys

import pytest

from ragstone.errors import UnknownMetric
from ragstone.metrics import resolve
from ragstone.registry import REGISTERED, metric, parse_spec, split_specs
from ragstone.registry.plugins import LoadError
from ragstone.types import Score

OWN = '''
"""A user's own metric."""

from ragstone import Score, metric


@metric
def {name}(answer: str, *, least: int = 3) -> Score:
    """1 if the answer has at least so many words."""
    return Score(float(len(answer.split()) >= least))
'''


@pytest.fixture(autouse=True)
def registered_as_before():
    """A metric that a test registers is gone after it."""
    before = dict(REGISTERED)
    yield
    REGISTERED.clear()
    REGISTERED.update(before)


@pytest.mark.parametrize(
    ("text", "printed", "options"),
    [
        ("recall@5", "recall@5", {"k": 5}),
        (" ndcg@10(gain=exp2) ", "ndcg@10(gain=exp2)", {"k": 10, "gain": "exp2"}),
        ("ndcg(gain='linear')", "ndcg", {"k": None, "gain": "linear"}),
        ("ndcg(k=4)", "ndcg@4", {"k": 4, "gain": "linear"}),
        ("exact_match(normalize=squad)", "exact_match(normalize=squad)", {"normalize": "squad"}),
        ({"exact_match": {"normalize": "squad"}}, "exact_match(normalize=squad)", None),
        ("exact_match(normalize=none)", "exact_match", {"normalize": "none"}),
        ("bleu(tokenize=none)", 'bleu(tokenize="none")', {"tokenize": "none"}),
        ({"recall@5": None}, "recall@5", {"k": 5}),
        ({"recall": {"k": 5}}, "recall@5", {"k": 5}),
    ],
)
def test_a_spec_binds_options_and_prints_as_typed(text, printed, options):
    found = resolve(text)
    assert str(found) == printed
    assert options is None or found.options == options


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("recal@5", "no metric 'recal'; did you mean 'recall'"),
        ("recall@0", "the cut-off starts at 1"),
        ("recall@x", "is not a metric; write name"),
        ("token_f1@5", "'token_f1' has no cut-off @k"),
        ("ndcg(gian=exp2)", "no option 'gian'; did you mean 'gain'"),
        ("ndcg(gain=log)", "gain is 'log'; give linear or exp2"),
        ("recall(k=true)", "k is True; give a whole number or none"),
        ("recall(5)", "cannot read the options"),
        ("recall(k=", "is not a metric"),
        ("recall(k=open('x'))", "cannot read the options"),
        ({"recall": {"k": 5}, "mrr": None}, "does not name one metric"),
        ({"recall": 5}, "the options of 'recall' are 5"),
        (3, "3 is not a metric"),
    ],
)
def test_a_wrong_spec_is_one_sentence_with_a_remedy(spec, says):
    with pytest.raises(UnknownMetric, match=says.replace("(", r"\(")) as refused:
        resolve(spec)
    assert "\n" not in str(refused.value)


def test_commas_inside_brackets_belong_to_a_spec():
    assert split_specs("recall@5, ndcg(k=3, gain=exp2),mrr,") == [
        "recall@5",
        "ndcg(k=3, gain=exp2)",
        "mrr",
    ]


def test_parsing_runs_no_code():
    with pytest.raises(UnknownMetric):
        parse_spec("recall(k=__import__('os').getpid())")


def test_a_function_of_the_user_is_a_metric():
    @metric(higher_is_better=False, bounds=(0.0, 10.0))
    def shortness(answer: str, reference: str | None, *, unit: str = "word") -> Score:
        """How short it is."""
        return Score(1.0)

    found = resolve("shortness(unit=char)")
    assert (found.takes, found.needs) == (("answer", "reference"), ("answer",))
    assert (found.higher_is_better, found.bounds, found.judged) == (False, (0.0, 10.0), False)
    assert found.meaning == "How short it is."
    assert resolve(shortness).name == "shortness"


def test_a_metric_from_a_file_is_found_by_its_path(tmp_path):
    (tmp_path / "own.py").write_text(OWN.format(name="long_enough"))
    found = resolve(f"{tmp_path / 'own.py'}:long_enough")
    assert found.function("a b", **found.options).value == 0.0
    assert str(resolve("long_enough(least=2)")) == "long_enough(least=2)"


@pytest.mark.parametrize("spec", ["own_words:wordy", "own_words.wordy", "own_words:wordy(least=3)"])
def test_a_metric_from_a_module_beside_the_config_is_found(spec, tmp_path, monkeypatch):
    (tmp_path / "own_words.py").write_text(OWN.format(name="wordy"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_words", raising=False)
    assert resolve(spec).function("a b c").value == 1.0
    monkeypatch.delitem(sys.modules, "own_words")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("nowhere_at_all:f", "cannot import 'nowhere_at_all'"),
        ("nowhere.py:f", "there is no file 'nowhere.py'"),
        ("math:f", "'math' has no 'f'"),
    ],
)
def test_code_that_is_not_there_is_said(spec, says):
    with pytest.raises(LoadError, match=says):
        resolve(spec)


def test_two_metrics_of_one_name_are_refused():
    def recall(answer: str) -> Score:
        """Another one."""
        return Score(1.0)

    with pytest.raises(UnknownMetric, match="two metrics are called 'recall'"):
        metric(recall)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda text: 1.0, "asks for 'text', which is not a field of a Sample"),
        (lambda *answer: 1.0, "name the Sample fields"),
    ],
)
def test_a_signature_that_names_no_field_is_refused(wrong, says):
    with pytest.raises(UnknownMetric, match=says):
        metric(wrong)


def test_an_option_needs_a_default():
    def bad(answer: str, *, least: int) -> Score:
        return Score(1.0)

    with pytest.raises(UnknownMetric, match=r"option 'least' of .* has no default"):
        metric(bad)


def test_a_metric_may_ask_a_judge_with_one_option_only():
    @metric(judged_with={"how": "judge"})
    def sometimes(answer: str, *, how: str = "text") -> Score:
        """Asks now and then."""
        return Score(1.0)

    assert [resolve(s).judged for s in ("sometimes", "sometimes(how=judge)")] == [False, True]
