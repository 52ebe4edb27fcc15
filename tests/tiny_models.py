"""Tiny models that tests make and save: classifiers of pairs and causal models, with random or hand-made weights."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WORDS = (
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "A", "B", "C", "the", "sky", "is", "blue", "red", "green", "grass", "sea",
    "not", "yes", "no", "claim", "source", "and", "it", "was", "word", "x", "y", "z", "one", "two", "three",
)  # fmt: skip
PAIR_TEMPLATES = {
    "bert": ("[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1"),
    "t5": ("$A:0 [SEP]:0", "$A:0 [SEP]:0 $B:0 [SEP]:0"),
    "roberta": ("[CLS]:0 $A:0 [SEP]:0", "[CLS]:0 $A:0 [SEP]:0 [SEP]:0 $B:0 [SEP]:0"),
}
"""How a pair becomes one input, with the type of each token."""


FORM_WORDS = (
    *WORDS, "0", "1", "predict:", "<pad>", "</s>", "Determine", "if", "hypothesis", "true", "given", "premise?",
    "Premise:", "Hypothesis:", "Summarize", "following", "text:", "passage", "1:", "2:", "output:",
)  # fmt: skip
"""What the forms of grounding models are written with besides."""


def make_tokenizer(style: str = "bert", words: Sequence[str] = WORDS) -> Any:
    """A tokenizer of whole words; only these are known."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(
        models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    single, pair = PAIR_TEMPLATES[style]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def save_onnx_classifier(
    folder: Path,
    weights: Mapping[str, Sequence[float]],
    labels: Sequence[str],
    max_tokens: int = 32,
) -> Path:
    """Save a classifier whose logits are the sums of its words' weights, one number a class; padding counts 1000."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    folder.mkdir(parents=True, exist_ok=True)
    table = np.zeros((len(WORDS), len(labels)), dtype=np.float32)
    table[0] = 1000.0  # a model that does not respect the mask would show it
    for word, row in weights.items():
        table[WORDS.index(word)] = row
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["floats", "last"], ["mask"]),
        helper.make_node("Mul", ["rows", "mask"], ["masked"]),
        helper.make_node("ReduceSum", ["masked", "middle"], ["logits"], keepdims=0),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", len(labels)])]
    constants = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([2]), "last"),
        numpy_helper.from_array(np.array([1]), "middle"),
    ]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, folder / "model.onnx")
    make_tokenizer().save(str(folder / "tokenizer.json"))
    config = {
        "architectures": ["BertForSequenceClassification"],
        "id2label": dict(enumerate(labels)),
        "max_position_embeddings": 512,
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": max_tokens}))
    return folder


SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}


def save_classifier(
    folder: Path, architecture: str, labels: Sequence[str], max_tokens: int = 32
) -> Path:
    """Save a classifier of transformers with random weights, the same every time."""
    import torch
    import transformers as tf

    names = dict(enumerate(labels))
    common = {
        "vocab_size": len(WORDS), "pad_token_id": 0, "id2label": names,
        "label2id": {name: n for n, name in names.items()}, "max_position_embeddings": max_tokens + 2,
    }  # fmt: skip
    configs = {
        "bert": lambda: tf.BertConfig(**common, **SIZES),
        "distilbert": lambda: tf.DistilBertConfig(
            **common, dim=16, n_layers=2, n_heads=2, hidden_dim=32
        ),
        "roberta": lambda: tf.RobertaConfig(**common, **SIZES, type_vocab_size=1),
        "deberta-v2": lambda: tf.DebertaV2Config(**common, **SIZES, relative_attention=True, pos_att_type=["c2p", "p2c"], position_biased_input=False, type_vocab_size=0),
    }  # fmt: skip
    torch.manual_seed(1)
    model = tf.AutoModelForSequenceClassification.from_config(configs[architecture]())
    for parameter in model.parameters():  # sharper than the initial weights, so that texts differ
        parameter.data.mul_(4.0)
    model.save_pretrained(folder)
    _save_tokenizer(folder, "roberta" if architecture == "roberta" else "bert", max_tokens)
    return folder


def save_causal(folder: Path, architecture: str, max_tokens: int = 128) -> Path:
    """Save a causal model of transformers with random weights, the same every time, sure of its next word."""
    import torch
    import transformers as tf

    sizes = {"vocab_size": len(WORDS), "bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
    config: Any
    if architecture == "gpt2":
        config = tf.GPT2Config(**sizes, n_embd=16, n_layer=2, n_head=2, n_positions=max_tokens, tie_word_embeddings=False)  # fmt: skip
    else:
        config = tf.LlamaConfig(**sizes, **SIZES, max_position_embeddings=max_tokens)
    torch.manual_seed(2)
    model = tf.AutoModelForCausalLM.from_config(config)
    for parameter in model.parameters():
        parameter.data.mul_(8.0)
    model.save_pretrained(folder)
    template = "{% for m in messages %}{{ m.role }} {{ m.content }} {% endfor %}it"
    _save_tokenizer(folder, "bert", max_tokens, template)
    return folder


def save_grounding(folder: Path, kind: str, max_tokens: int = 64) -> Any:
    """Save a tiny model of a published grounding form with random weights, and return it."""
    import torch
    import transformers as tf
    from safetensors.torch import save_file

    t5 = {"vocab_size": len(FORM_WORDS), "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2,
          "feed_forward_proj": "gated-gelu", "pad_token_id": 0, "decoder_start_token_id": 0, "eos_token_id": 3}  # fmt: skip
    bert = {**SIZES, "vocab_size": len(FORM_WORDS), "pad_token_id": 0, "max_position_embeddings": max_tokens + 2, "num_labels": 2}  # fmt: skip
    torch.manual_seed(3)
    model: Any
    if kind == "minicheck-t5":
        model = tf.T5ForConditionalGeneration(tf.T5Config(**t5))
    elif kind == "hhem":
        model = tf.T5ForTokenClassification(tf.T5Config(**t5, num_labels=2))
    elif kind == "minicheck":
        model = tf.RobertaForSequenceClassification(tf.RobertaConfig(**bert, type_vocab_size=1))
    else:
        model = tf.BertForTokenClassification(tf.BertConfig(**bert))
    for parameter in model.parameters():
        parameter.data.mul_(0.5 if "t5" in type(model).__name__.lower() else 4.0)
    style = {"lettucedetect": "bert", "minicheck": "roberta"}.get(kind, "t5")
    if (
        kind == "hhem"
    ):  # as it is published: no sizes, no tokenizer of its own, code that must not run
        folder.mkdir(parents=True, exist_ok=True)
        save_file(
            {f"t5.{key}": value.clone() for key, value in model.state_dict().items() if "embed_tokens" not in key},
            folder / "model.safetensors",
        )  # fmt: skip
        config = {"architectures": ["HHEMv2ForSequenceClassification"], "model_type": "HHEMv2Config",
                  "auto_map": {"AutoModelForSequenceClassification": "modeling_hhem_v2.HHEMv2"}}  # fmt: skip
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "modeling_hhem_v2.py").write_text("raise SystemExit('remote code was executed')")
    else:
        model.save_pretrained(folder)
    _save_tokenizer(folder, style, max_tokens, words=FORM_WORDS)
    return model.eval()


def _save_tokenizer(
    folder: Path,
    style: str,
    max_tokens: int,
    chat_template: str | None = None,
    words: Sequence[str] = WORDS,
) -> None:
    import transformers as tf

    tokenizer = tf.PreTrainedTokenizerFast(
        tokenizer_object=make_tokenizer(style, words), unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]",
        sep_token="[SEP]", eos_token="[SEP]", model_max_length=max_tokens, chat_template=chat_template,
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
