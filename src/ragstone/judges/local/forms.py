"""Forms of published grounding models: how sources and claim are written, and where the number is read.

| judge | model | written | read |
| --- | --- | --- | --- |
| `minicheck:` seq2seq | MiniCheck-Flan-T5 | `predict: SOURCES</s>CLAIM` | first token of the decoder: `1` against `0` |
| `minicheck:` classifier | MiniCheck-RoBERTa, -DeBERTa | `SOURCES</s>CLAIM` (DeBERTa: `[SEP]`) as one text | class 1 |
| `hhem:` | HHEM-2.1-Open | its prompt, after a `<pad>` | class 1 at that first token, by an encoder's token head |
| `lettucedetect:` | LettuceDetect | its prompt for summaries, and the claim as the second text | 1 − the most likely hallucinated token of the claim |

Nothing of a model's own code is executed. MiniCheck: arxiv.org/abs/2404.10774 and github.com/Liyan06/MiniCheck; HHEM: the model card of
vectara/hallucination_evaluation_model; LettuceDetect: arxiv.org/abs/2502.17125 and github.com/KRLabsOrg/LettuceDetect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ragstone.judges.local.weights import ModelNotFound

Head = Literal["classes", "first_token", "first_position", "tokens"]


class Form(NamedTuple):
    """How a kind of model is asked."""

    head: Head
    """Where the number is: classes of the text, the decoder's first token, the classes of the first position, or of each token."""
    write: Callable[[Sequence[str], str, str], tuple[str, ...]]
    """From passages, claim and the tokenizer's end mark to one text, or to the two of a pair."""
    max_tokens: int | None = None
    """Longest input; None: as config and tokenizer say."""


def _write_minicheck(passages: Sequence[str], claim: str, end: str) -> tuple[str, ...]:
    return (f"{_join(passages)}{end}{claim}",)


def _write_minicheck_t5(passages: Sequence[str], claim: str, end: str) -> tuple[str, ...]:
    return (f"predict: {_join(passages)}{end}{claim}",)


def _write_hhem(passages: Sequence[str], claim: str, end: str) -> tuple[str, ...]:
    question = "Determine if the hypothesis is true given the premise?"
    return (f"<pad> {question}\n\nPremise: {_join(passages)}\n\nHypothesis: {claim}",)


def _write_lettucedetect(passages: Sequence[str], claim: str, end: str) -> tuple[str, ...]:
    numbered = "\n".join(f"passage {n}: {text}" for n, text in enumerate(passages, 1))
    return f"Summarize the following text:\n{numbered}\noutput:", claim


def _join(passages: Sequence[str]) -> str:
    return "\n".join(passages)


FORMS: Mapping[str, Mapping[str, Form]] = {
    "minicheck": {
        "ForConditionalGeneration": Form("first_token", _write_minicheck_t5, 2048),
        "ForSequenceClassification": Form("classes", _write_minicheck),
    },
    "hhem": {"HHEMv2ForSequenceClassification": Form("first_position", _write_hhem, 2048)},
    "lettucedetect": {"ForTokenClassification": Form("tokens", _write_lettucedetect, 4096)},
}
"""Prefix of the judge → end of the architecture's name → form."""


def find_form(kind: str, name: str, config: Mapping[str, Any]) -> Form:
    """Return the form of a model by the architecture in its config; ModelNotFound for one that this kind does not know."""
    architectures = list(map(str, config.get("architectures") or ["no architecture"]))
    for ending, form in FORMS[kind].items():
        if any(architecture.endswith(ending) for architecture in architectures):
            return form
    raise ModelNotFound(
        f"{name!r} is no {kind} model: its config names {', '.join(architectures)}; "
        f"{kind}: takes {' or '.join(FORMS[kind])}"
    )
