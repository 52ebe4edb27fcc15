"""`ragstone metrics`: every registered metric, explained."""

from __future__ import annotations

import json

from ragstone.metrics import REGISTERED


def test_every_metric_is_listed_on_one_line(call):
    lines = call("metrics").out.splitlines()
    names = [line.split("\t")[0].removesuffix("[@k]") for line in lines]
    assert sorted(names) == sorted(REGISTERED)
    recall = next(line for line in lines if line.startswith("recall[@k]"))
    assert recall.split("\t")[1:3] == ["contexts, relevant", "higher"]


def test_json_has_needs_direction_options_and_extra(call):
    listed = {metric["name"]: metric for metric in json.loads(call("metrics", "--json").out)}
    assert set(listed) == set(REGISTERED)
    assert listed["hallucination_rate"]["higher_is_better"] is False
    assert listed["bleu"]["extra"] == "text"
    assert listed["ndcg"]["options"]["gain"] == {"value": "linear", "accepts": "linear or exp2"}


def test_one_metric_is_explained_in_full(call):
    shown = call("metrics", "abstention_accuracy").out
    assert "detect=judge" in shown
    assert "correct_refusal" in shown
    assert "needs        answer" in shown
    assert "k=7" in call("metrics", "recall@7").out


def test_ones_own_metric_is_explained_too(call, write):
    write(
        "mine.py",
        'def own_answer_length(answer: str) -> float:\n    """How long it is."""\n    return 1.0\n',
    )
    try:
        assert "How long it is." in call("metrics", "mine.py:own_answer_length").out
    finally:
        REGISTERED.pop("own_answer_length", None)


def test_an_unknown_metric_names_the_nearest(call):
    result = call("metrics", "presicion")
    assert result.code == 2
    assert "did you mean 'precision'?" in result.err
