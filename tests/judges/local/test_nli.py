"""Classifiers of pairs: label order from the config, batches, long inputs in windows and never cut in silence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragstone import evaluate
from ragstone.errors import JudgeFailed, MissingExtra, OutOfBudget, RagstoneError
from ragstone.judges.choices import PairClasses, PairOutcome, PairRequest
from ragstone.judges.limits import Budget
from ragstone.judges.local import classifiers
from ragstone.judges.local.nli import NliClassifier, weigh_classes
from ragstone.judges.local.windows import build_windows
from tiny_models import make_tokenizer, save_classifier, save_onnx_classifier

pytest.importorskip("onnxruntime", reason="the extra `onnx` is not installed")
pytest.importorskip("onnx", reason="requirements-dev.txt is not installed")

WEIGHTS = {"yes": (4.0, 0.0, 0.0), "no": (0.0, 4.0, 0.0), "x": (0.0, 0.0, 0.5)}
"""`yes` speaks for the first class, `no` for the second, `x` a little for the third."""


def classify(model: NliClassifier, *pairs: tuple[Sequence[str], str]) -> list[Any]:
    async def put() -> list[PairOutcome]:
        try:
            return await model.classify(
                [PairRequest(tuple(texts), claim) for texts, claim in pairs]
            )
        finally:
            await model.close()

    return asyncio.run(put())


def save(folder: Path, *labels: str, **options: Any) -> Path:
    weights = {word: row[: len(labels)] for word, row in WEIGHTS.items()}
    return save_onnx_classifier(folder, weights, labels, **options)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("entailment", "contradiction", "neutral"), "supported"),
        (("CONTRADICTION", "Entailment", "Neutral"), "contradicted"),
        (("neutral", "entailment", "contradiction"), "not_found"),
        (("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), "supported"),
        (("supported", "unsupported"), "supported"),
        (("not_entailment", "entailment"), "not_found"),
    ],
)
def test_the_config_says_what_an_output_means(
    labels: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    model = NliClassifier(str(save(tmp_path, *labels)))
    (classes,) = classify(model, (["yes"], "sky"))
    assert max(classes.probabilities, key=classes.probabilities.get) == expected
    assert sum(classes.probabilities.values()) == pytest.approx(1.0)
    assert len(classes.probabilities) == len(labels)


@pytest.mark.parametrize(
    "labels",
    [
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("LABEL_0", "LABEL_1"),
        ("entailment", "neutral", "LABEL_2"),
        ("entailment", "supported"),
        ("neutral", "contradiction"),
    ],
)
def test_an_order_of_classes_is_never_guessed(labels: tuple[str, ...], tmp_path: Path) -> None:
    save(tmp_path, *labels)
    with pytest.raises(RagstoneError, match=r"calls its classes .* give the judge labels: \["):
        NliClassifier(str(tmp_path))


@pytest.mark.parametrize("labels", [("positive",), tuple("abcd")])
def test_other_numbers_of_classes_are_refused(labels: tuple[str, ...], tmp_path: Path) -> None:
    save_onnx_classifier(tmp_path, {}, labels)
    with pytest.raises(RagstoneError, match=f"has {len(labels)} classes"):
        NliClassifier(str(tmp_path))


@pytest.mark.parametrize(
    "given",
    [
        ["contradiction", "entailment", "neutral"],
        {"LABEL_0": "contradiction", "LABEL_1": "entailment", "LABEL_2": "neutral"},
    ],
)
def test_the_user_can_say_what_the_outputs_mean(given: Any, tmp_path: Path) -> None:
    save(tmp_path, "LABEL_0", "LABEL_1", "LABEL_2")
    (classes,) = classify(NliClassifier(str(tmp_path), labels=given), (["no"], "sky"))
    assert classes.probabilities["supported"] > 0.9


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (["entailment", "neutral"], "has 3 classes and labels: names 2"),
        ({"LABEL_7": "entailment"}, "has no class 'LABEL_7'"),
        ("entailment", "give a list"),
    ],
)
def test_labels_that_do_not_fit_are_refused(given: Any, complaint: str, tmp_path: Path) -> None:
    save(tmp_path, "LABEL_0", "LABEL_1", "LABEL_2")
    with pytest.raises(RagstoneError, match=complaint):
        NliClassifier(str(tmp_path), labels=given)


def test_pairs_of_any_length_share_batches_and_padding_counts_for_nothing(tmp_path: Path) -> None:
    save(tmp_path, "entailment", "contradiction", "neutral")
    pairs = [(["x " * n + word], "sky") for n, word in enumerate(["yes", "no", "the", "yes", "no"])]
    together = classify(NliClassifier(str(tmp_path), batch=3), *pairs)
    alone = [classify(NliClassifier(str(tmp_path)), pair)[0] for pair in pairs]
    for batched, single in zip(together, alone, strict=True):
        assert batched.probabilities == pytest.approx(single.probabilities)
    assert together[0].probabilities["supported"] > 0.9
    assert together[1].probabilities["contradicted"] > 0.9


def test_passages_that_do_not_fit_are_read_in_windows_and_the_telling_one_decides(
    tmp_path: Path,
) -> None:
    save(tmp_path, "entailment", "contradiction", "neutral", max_tokens=16)
    filler = "x x x x x x x x"
    (short, late, long) = classify(
        NliClassifier(str(tmp_path)),
        ([filler], "sky"),
        ([filler, filler, "yes yes"], "sky"),
        (["the " * 40 + "yes " + "the " * 40], "sky"),
    )
    assert (short.windows, late.windows) == (1, 2)
    assert long.windows > 5
    assert short.probabilities["supported"] < 0.1
    assert late.probabilities["supported"] > 0.9
    assert long.probabilities["supported"] > 0.9


def test_no_token_of_a_passage_is_left_out() -> None:
    tokenizer = make_tokenizer()
    words = ["one", "two", "three", "x", "y", "z", "the", "sky"] * 9
    windows = build_windows(tokenizer, [" ".join(words), "grass"], "is it", 16)
    tokens = [[tokenizer.id_to_token(n) for n in window.ids] for window in windows]
    assert all(len(row) <= 16 for row in tokens)
    assert all(row[-3:] == ["is", "it", "[SEP]"] and row[0] == "[CLS]" for row in tokens)
    rest = words
    for row in tokens[:-1]:  # each window goes on where the one before ended, or earlier
        read = row[1:-4]
        start = next(n for n in range(len(read) + 1) if rest[: len(read) - n] == read[n:])
        rest = rest[len(read) - start :]
    assert rest == []
    assert tokens[-1][1] == "grass"


def test_a_claim_that_leaves_no_room_is_a_failure_of_its_own(tmp_path: Path) -> None:
    save(tmp_path, "entailment", "contradiction", "neutral", max_tokens=16)
    failed, classes = classify(
        NliClassifier(str(tmp_path)), (["yes"], "sky " * 20), (["yes"], "sky")
    )
    assert isinstance(failed, JudgeFailed)
    assert "20 tokens" in failed.reason
    assert isinstance(classes, PairClasses)


def test_an_input_may_be_made_shorter_and_never_longer_than_the_model_allows(
    tmp_path: Path,
) -> None:
    save(tmp_path, "entailment", "contradiction", "neutral", max_tokens=16)
    pair = (["x x x x x x"], "sky")
    assert classify(NliClassifier(str(tmp_path), context=8), pair)[0].windows > 1
    assert classify(NliClassifier(str(tmp_path), context=4096), (["x " * 40], "sky"))[0].windows > 1


@pytest.mark.parametrize(
    ("positions", "tokenizer_limit", "expected"),
    [
        (512, 512, 512),  # BERT
        (514, 512, 512),  # RoBERTa
        (514, int(1e30), 512),  # RoBERTa whose tokenizer does not say
        (512, 4096, 512),
        (None, 256, 256),
        (None, None, 512),
    ],
)
def test_no_input_is_longer_than_the_model_was_made_for(
    positions: int | None, tokenizer_limit: int | None, expected: int
) -> None:
    config = {"max_position_embeddings": positions}
    assert classifiers.find_max_tokens(config, tokenizer_limit) == expected


def test_weights_in_a_second_file_are_part_of_the_identity(tmp_path: Path) -> None:
    save(tmp_path, "entailment", "contradiction", "neutral")
    data = tmp_path / "model.onnx_data"
    data.write_bytes(b"1")
    first = NliClassifier(str(tmp_path)).identity()
    data.write_bytes(b"2")
    assert NliClassifier(str(tmp_path)).identity() != first


@pytest.mark.parametrize("logits", [[float("nan"), 0.0], [float("inf"), 0.0], [0.0, 1.0, 2.0]])
def test_numbers_that_are_no_logits_become_no_probability(logits: list[float]) -> None:
    assert weigh_classes(logits, ("supported", "not_found")) is None


def test_logits_that_are_not_finite_are_a_typed_failure(tmp_path: Path) -> None:
    save_onnx_classifier(tmp_path, {"yes": (float("nan"), 0.0)}, ("entailment", "not_entailment"))
    failed, classes = classify(NliClassifier(str(tmp_path)), (["yes"], "sky"), (["no"], "sky"))
    assert isinstance(failed, JudgeFailed)
    assert (failed.kind, failed.usage.calls) == ("unparseable", 1)
    assert isinstance(classes, PairClasses)


def test_a_budget_of_calls_counts_pairs(tmp_path: Path) -> None:
    save(tmp_path, "entailment", "contradiction", "neutral")
    model = NliClassifier(str(tmp_path), budget=Budget(max_calls=1))
    first, second = classify(model, (["yes"], "sky"), (["no"], "sky"))
    assert isinstance(first, PairClasses)
    assert isinstance(second, OutOfBudget)
    assert first.usage.input_tokens > 0


def test_it_is_loaded_again_after_it_was_closed(tmp_path: Path) -> None:
    save(tmp_path, "entailment", "contradiction", "neutral")
    model = NliClassifier(str(tmp_path))
    assert classify(model, (["yes"], "sky")) == classify(model, (["yes"], "sky"))


def test_the_identity_is_that_of_the_files_wherever_they_lie(tmp_path: Path) -> None:
    names = ("entailment", "contradiction", "neutral")
    first = NliClassifier(str(save(tmp_path / "a", *names))).identity()
    assert NliClassifier(str(save(tmp_path / "b", *names))).identity() == first
    assert NliClassifier(str(tmp_path / "a"), labels=list(names)).identity() != first
    other = save_onnx_classifier(tmp_path / "c", {"sky": (1.0, 0.0, 0.0)}, names)
    assert NliClassifier(str(other)).identity() != first


def test_an_onnx_file_may_be_named_and_lie_in_a_folder_of_its_own(tmp_path: Path) -> None:
    save(tmp_path, "entailment", "contradiction", "neutral")
    (tmp_path / "onnx").mkdir()
    (tmp_path / "model.onnx").rename(tmp_path / "onnx" / "model.onnx")
    for name in (tmp_path, tmp_path / "onnx" / "model.onnx"):
        (classes,) = classify(NliClassifier(str(name)), (["yes"], "sky"))
        assert classes.probabilities["supported"] > 0.9


def test_what_is_no_classifier_is_named(tmp_path: Path) -> None:
    folder = save(tmp_path / "a", "entailment", "contradiction", "neutral")
    config = folder / "config.json"
    config.write_text(
        config.read_text().replace("BertForSequenceClassification", "BertForMaskedLM")
    )
    for name, complaint in [
        (str(folder), "is no classifier of pairs: its config names BertForMaskedLM"),
        (str(tmp_path), "there is no config.json"),
        ("./nowhere", "there is no model at './nowhere'"),
        ("nowhere", "or a hub name: ORGANISATION/NAME"),
        (str(config), "is no .onnx file and no folder"),
    ]:
        with pytest.raises(RagstoneError, match=complaint):
            NliClassifier(name)


def test_a_file_that_onnxruntime_cannot_read_fails_every_question_once(tmp_path: Path) -> None:
    save(tmp_path, "entailment", "contradiction", "neutral")
    (tmp_path / "model.onnx").write_bytes(b"no model")
    failures = classify(NliClassifier(str(tmp_path)), (["yes"], "sky"), (["no"], "sky"))
    assert [type(failure) for failure in failures] == [JudgeFailed, JudgeFailed]
    assert failures[0] is not failures[1]
    assert "the local model failed" in failures[0].reason


def test_without_the_packages_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, "entailment", "contradiction", "neutral")
    monkeypatch.setattr(classifiers, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'ragstone\[onnx\]'"):
        NliClassifier(str(tmp_path))
    with pytest.raises(MissingExtra, match=r"pip install 'ragstone\[hf\]'"):
        NliClassifier("organisation/model")


@pytest.mark.slow
@pytest.mark.timeout(600)  # transformers is slow to import
@pytest.mark.parametrize("architecture", ["bert", "distilbert", "roberta", "deberta-v2"])
def test_every_architecture_runs_in_batches_and_windows(architecture: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the extra `hf` is not installed")
    names = ["entailment", "neutral", "contradiction"]
    save_classifier(tmp_path / "a", architecture, names, max_tokens=24)
    save_classifier(tmp_path / "b", architecture, names[::-1], max_tokens=24)
    pairs = [
        (["the sky is blue"], "the sky is red"),
        (["grass is green", "the sea is blue"], "it was one"),
        (["the sky is blue and the grass is green and the sea is not red " * 4], "x"),
    ]
    model = NliClassifier(str(tmp_path / "a"), batch=2, device="cpu", threads=1)
    together = classify(model, *pairs)
    assert [classes.windows for classes in together[:2]] == [1, 1]
    assert together[2].windows > 2
    alone = [classify(model, pair)[0] for pair in pairs]
    for batched, single in zip(together, alone, strict=True):
        assert batched.probabilities == pytest.approx(single.probabilities, abs=1e-5)
    swapped = classify(NliClassifier(str(tmp_path / "b"), device="cpu"), pairs[0])[0].probabilities
    straight = together[0].probabilities
    assert swapped["supported"] == pytest.approx(straight["contradicted"], abs=1e-5)
    assert swapped["contradicted"] == pytest.approx(straight["supported"], abs=1e-5)
    assert straight["supported"] != pytest.approx(straight["contradicted"], abs=1e-3)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_weights_without_a_classifying_head_are_refused(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="the extra `hf` is not installed")
    save_classifier(tmp_path, "bert", ["entailment", "not_entailment"])
    body = transformers.AutoModel.from_pretrained(tmp_path)
    config = (tmp_path / "config.json").read_text()
    body.save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(config)
    (failed,) = classify(NliClassifier(str(tmp_path), device="cpu"), (["yes"], "sky"))
    assert isinstance(failed, JudgeFailed)
    assert "it cannot classify" in failed.reason


SPEC_LABELS = ("entailment", "contradiction", "neutral")
SKY = {
    "id": "1",
    "question": "Is the sky blue?",
    "answer": "The sky is blue in summer.",
    "contexts": ["In summer the sky is blue, yes it is.", "yes , grass is green ."],
}


def judge_sample(folder: Path, metrics: list[str], **settings: Any) -> dict[str, Any]:
    run = evaluate(
        [SKY],
        metrics,
        judge={"model": f"nli:{folder}", **settings},
        store=":memory:",
        language="en",
    )
    return dict(run.scores()["1"])


def test_a_classifier_judges_claims_and_says_who_answered_the_rest(tmp_path: Path) -> None:
    save(tmp_path, *SPEC_LABELS)
    scores = judge_sample(tmp_path, ["faithfulness", "context_relevance"])
    assert scores["faithfulness"].value == scores["faithfulness"].probability > 0.99
    assert scores["faithfulness"].usage.calls == 1
    assert scores["faithfulness"].findings[0].probability > 0.9
    note = f"nli:{tmp_path} decides claims only; the embedded judge answered"
    assert note in scores["context_relevance"].warnings
    assert note not in scores["faithfulness"].warnings
    assert not any("read in parts" in note for note in scores["faithfulness"].warnings)


def test_a_note_says_that_passages_were_read_in_parts(tmp_path: Path) -> None:
    save(tmp_path, *SPEC_LABELS, max_tokens=12)
    score = judge_sample(tmp_path, ["faithfulness"])["faithfulness"]
    assert score.usage.calls >= 1
    assert any("were read in parts" in note for note in score.warnings), score
