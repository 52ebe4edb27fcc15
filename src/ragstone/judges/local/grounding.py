"""Published grounding models (MiniCheck, HHEM-2.1-Open, LettuceDetect) in transformers, each asked in its own form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ragstone.judges.choices import PairLabel
from ragstone.judges.huggingface import hide_progress
from ragstone.judges.local.classifiers import find_max_tokens, pad
from ragstone.judges.local.forms import Form, find_form
from ragstone.judges.local.weights import ModelNotFound, read_json
from ragstone.judges.local.windows import TokenWindow

LABELS: tuple[PairLabel, PairLabel] = ("not_found", "supported")
"""What the two numbers of every form mean; LettuceDetect's own classes are the other way round."""
SPAN_CHANCE = 0.5
"""Chance from which a token is part of an unsupported span, as published for LettuceDetect."""


class GroundingRuntime:
    """A loaded model with its form."""

    def __init__(self, kind: str, name: str, device: str | None, threads: int | None) -> None:
        import torch
        import transformers

        if threads is not None:
            torch.set_num_threads(threads)
        config = read_json(_find_file(name, "config.json"))
        self.form: Form = find_form(kind, name, config)
        with hide_progress() if Path(name).exists() else nullcontext():
            if self.form.head == "first_position":
                model, tokenizer = _load_hhem(name, config)
            else:
                model = _load_model(name, self.form)
                tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device).eval()
        if self.device == "cpu":
            self.model.float()  # half precision is slow there, or lacks operations
        self.tokenizer = tokenizer.backend_tokenizer
        self.end = tokenizer.eos_token or tokenizer.sep_token or ""
        known = find_max_tokens(model.config.to_dict(), tokenizer.model_max_length)
        self.max_tokens = self.form.max_tokens or known
        # as published: no form tells the model which tokens are the claim's
        self.inputs = {"input_ids", "attention_mask"}
        self.labels = list(LABELS)
        # `0` is one token or begins with a blank one, as in T5: what tells the answers apart is the first
        self._answers = [self.tokenizer.encode(t, add_special_tokens=False).ids[0] for t in "01"]
        if self.form.head == "first_token" and len(set(self._answers)) < 2:
            raise ModelNotFound(f"the tokenizer of {name!r} does not tell 0 from 1; get it again")

    def run(self, windows: Sequence[TokenWindow]) -> list[list[float]]:
        """Return the logits of not supported and supported; of a token head, the chance that each token of the claim is unsupported."""
        import torch

        batch = pad(windows, self.model.config.pad_token_id or 0)
        inputs = {
            name: torch.tensor(rows, device=self.device)
            for name, rows in batch.items()
            if name in self.inputs
        }
        if self.form.head == "first_token":
            start = self.model.config.decoder_start_token_id or 0
            shape = (len(windows), 1)
            inputs["decoder_input_ids"] = torch.full(shape, start, device=self.device)
        with torch.inference_mode():
            logits = self.model(**inputs).logits.float()
            if self.form.head == "first_token":
                logits = logits[:, 0, self._answers]
            elif self.form.head == "first_position":
                logits = logits[:, 0, :]
            elif self.form.head == "tokens":
                chances = torch.softmax(logits, dim=-1)[:, :, 1]
                return [
                    [float(row[n]) for n, _, _ in window.claim_tokens]
                    for row, window in zip(chances, windows, strict=True)
                ]
        rows: list[list[float]] = logits.tolist()
        return rows


def weigh_tokens(chances: Sequence[float]) -> Mapping[PairLabel, float] | None:
    """Return the classes of a claim from the chance of each of its tokens to be unsupported: the worst token decides."""
    if not chances or not all(0 <= chance <= 1 for chance in chances):
        return None
    worst = max(chances)
    return {"not_found": worst, "supported": 1 - worst}


def find_spans(chances: Sequence[float], window: TokenWindow, claim: str) -> tuple[str, ...]:
    """Return the parts of a claim whose tokens are likely unsupported, neighbours as one."""
    spans: list[tuple[int, int]] = []
    is_open = False
    for chance, (_, start, end) in zip(chances, window.claim_tokens, strict=True):
        if chance < SPAN_CHANCE:
            is_open = False
        elif is_open:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
            is_open = True
    return tuple(claim[start:end].strip() for start, end in spans)


def _find_file(name: str, file: str) -> Path:
    """Return a model's file, in its folder or in the hub's cache."""
    if Path(name).expanduser().is_dir():
        path = Path(name).expanduser() / file
        if not path.exists():
            raise ModelNotFound(f"there is no {file} in {name!r}")
        return path
    from transformers.utils import cached_file

    return Path(str(cached_file(name, file)))


def _load_model(name: str, form: Form) -> Any:
    import transformers

    loader = {
        "first_token": transformers.AutoModelForSeq2SeqLM,
        "classes": transformers.AutoModelForSequenceClassification,
        "tokens": transformers.AutoModelForTokenClassification,
    }[form.head]
    model, report = loader.from_pretrained(name, dtype="auto", output_loading_info=True)
    if report["missing_keys"]:
        missing = sorted(report["missing_keys"])[0]
        raise ModelNotFound(f"the weights of {name!r} lack {missing!r}; it cannot classify")
    if form.head in ("classes", "tokens") and model.config.num_labels != len(LABELS):
        raise ModelNotFound(f"{name!r} has {model.config.num_labels} classes; this form has two")
    return model


def _load_hhem(name: str, config: Mapping[str, Any]) -> tuple[Any, Any]:
    """Load HHEM as the T5 encoder with a token head that it is; its sizes, which its config lacks, are those of its weights.

    Its repository has no tokenizer: that of the model it was made from is used, or one that lies in the folder."""
    import transformers
    from safetensors.torch import load_file

    weights = load_file(_find_file(name, "model.safetensors"))
    weights = {key.removeprefix("t5."): value for key, value in weights.items()}
    model = transformers.T5ForTokenClassification(_read_sizes(name, weights))
    report = model.load_state_dict(weights, strict=False)
    # the embeddings of the encoder are those that it shares
    missing = [key for key in report.missing_keys if not key.endswith("embed_tokens.weight")]
    if missing:
        raise ModelNotFound(f"the weights of {name!r} lack {missing[0]!r}; it cannot classify")
    is_here = (Path(name).expanduser() / "tokenizer_config.json").exists()
    foundation = name if is_here else str(config.get("foundation") or "google/flan-t5-base")
    return model, transformers.AutoTokenizer.from_pretrained(foundation)


def _read_sizes(name: str, weights: Mapping[str, Any]) -> Any:
    import transformers

    attention = "transformer.encoder.block.0.layer.0.SelfAttention."
    dense = "transformer.encoder.block.0.layer.1.DenseReluDense."
    try:
        vocabulary, width = weights["transformer.shared.weight"].shape
        inner = weights[f"{attention}q.weight"].shape[0]
        buckets, heads = weights[f"{attention}relative_attention_bias.weight"].shape
        is_gated = f"{dense}wi_0.weight" in weights
        hidden = weights[f"{dense}{'wi_0' if is_gated else 'wi'}.weight"].shape[0]
        classes = weights["classifier.weight"].shape[0]
    except KeyError as missing:
        raise ModelNotFound(
            f"the weights of {name!r} lack {missing}; is it HHEM-2.1-Open?"
        ) from None
    layers = {key.split(".")[3] for key in weights if key.startswith("transformer.encoder.block.")}
    return transformers.T5Config(
        vocab_size=vocabulary, d_model=width, d_kv=inner // heads, d_ff=hidden, num_layers=len(layers),
        num_heads=heads, relative_attention_num_buckets=buckets, num_labels=classes,
        feed_forward_proj="gated-gelu" if is_gated else "relu",
    )  # fmt: skip
