"""Published grounding models, each asked in its own form: the number is read where the model states it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragstone.errors import RagstoneError
from ragstone.judges.choices import PairClasses, PairRequest
from ragstone.judges.factory import make_judge
from ragstone.judges.local.forms import FORMS
from ragstone.judges.local.nli import NliClassifier
from tiny_models import FORM_WORDS, save_classifier, save_grounding

torch: Any = pytest.importorskip("torch", reason="the extra `hf` is not installed")
pytest.importorskip("transformers", reason="the extra `hf` is not installed")

SOURCE, CLAIM = "the sky is blue and the sea is green", "the grass was red"


def classify(
    kind: str, folder: Path, passages: Sequence[str] = (SOURCE,), claim: str = CLAIM, **options: Any
) -> PairClasses:
    async def put() -> Any:
        model = NliClassifier(str(folder), kind=kind, **options)
        try:
            (found,) = await model.classify([PairRequest(tuple(passages), claim)])
            return found
        finally:
            await model.close()

    found = asyncio.run(put())
    assert isinstance(found, PairClasses), found
    return found


def number(text: str) -> list[int]:
    """The words of a text, by their place in the vocabulary."""
    return [FORM_WORDS.index(word) if word in FORM_WORDS else 1 for word in text.split()]


def run(model: Any, ids: list[int], **more: Any) -> Any:
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids]), **more).logits[0]


def test_minicheck_t5_says_it_with_the_first_token_of_its_decoder(tmp_path: Path) -> None:
    model = save_grounding(tmp_path, "minicheck-t5")
    # the end mark of the tokenizer stands between document and claim, as the second text begins
    ids = [*number(f"predict: {SOURCE}"), 3, *number(CLAIM), 3]
    logits = run(model, ids, decoder_input_ids=torch.tensor([[0]]))[0]
    answers = [FORM_WORDS.index("0"), FORM_WORDS.index("1")]
    expected = torch.softmax(logits[answers], dim=-1)[1].item()
    found = classify("minicheck", tmp_path)
    assert found.probabilities["supported"] == pytest.approx(expected, abs=1e-5)
    assert 0.01 < expected < 0.99  # a number that another place would not give


def test_a_minicheck_classifier_reads_document_and_claim_as_one_text(tmp_path: Path) -> None:
    model = save_grounding(tmp_path, "minicheck")
    ids = [2, *number(SOURCE), 3, *number(CLAIM), 3]
    expected = torch.softmax(run(model, ids), dim=-1)[1].item()
    found = classify("minicheck", tmp_path)
    assert found.probabilities["supported"] == pytest.approx(expected, abs=1e-5)


def test_hhem_is_read_at_the_first_position_and_runs_no_code_of_its_own(tmp_path: Path) -> None:
    model = save_grounding(tmp_path, "hhem")
    prompt = (
        "<pad> Determine if the hypothesis is true given the premise? "
        f"Premise: {SOURCE} Hypothesis: {CLAIM}"
    )
    expected = torch.softmax(run(model, [*number(prompt), 3])[0], dim=-1)[1].item()
    found = classify("hhem", tmp_path)
    assert found.probabilities["supported"] == pytest.approx(expected, abs=1e-5)
    assert 0.01 < expected < 0.99


def test_lettucedetect_is_decided_by_the_worst_token_of_the_claim(tmp_path: Path) -> None:
    model = save_grounding(tmp_path, "lettucedetect")
    prompt = number(f"Summarize the following text: passage 1: {SOURCE} output:")
    ids = [2, *prompt, 3, *number(CLAIM), 3]
    chances = torch.softmax(run(model, ids), dim=-1)[:, 1]
    of_claim = chances[len(prompt) + 2 : -1].tolist()
    found = classify("lettucedetect", tmp_path)
    assert found.probabilities["supported"] == pytest.approx(1 - max(of_claim), abs=1e-5)
    marked = [w for w, p in zip(CLAIM.split(), of_claim, strict=True) if p >= 0.5]
    assert " ".join(found.unsupported).split() == marked


@pytest.mark.parametrize("kind", ["minicheck-t5", "minicheck", "hhem", "lettucedetect"])
def test_a_long_source_is_read_in_windows_and_the_surest_decides(kind: str, tmp_path: Path) -> None:
    save_grounding(tmp_path, kind)
    judge = kind.partition("-")[0]
    passages = ["the sky is blue and it was red " * 8, SOURCE]
    whole = classify(judge, tmp_path, passages, context=36)
    assert whole.windows > 2
    assert whole.probabilities["supported"] >= (
        classify(judge, tmp_path, [SOURCE], context=36).probabilities["supported"] - 0.2
    )
    assert whole.usage.input_tokens > 60  # all of the first passage and its overlaps


def test_a_folder_alone_is_told_which_judge_it_is(tmp_path: Path) -> None:
    for kind in ("hhem", "lettucedetect"):
        save_grounding(tmp_path / kind, kind)
        with pytest.raises(RagstoneError, match=f"did you mean {kind}:"):
            make_judge(str(tmp_path / kind))


@pytest.mark.parametrize("kind", list(FORMS))
def test_a_model_of_another_architecture_is_refused_in_one_sentence(
    kind: str, tmp_path: Path
) -> None:
    save_classifier(tmp_path, "bert", ["entailment", "neutral", "contradiction"])
    if kind == "minicheck":  # a classifier of two classes would fit; three do not
        with pytest.raises(AssertionError, match="3 classes"):
            classify(kind, tmp_path)
    else:
        with pytest.raises(RagstoneError, match=f"is no {kind} model: its config names Bert"):
            NliClassifier(str(tmp_path), kind=kind)
