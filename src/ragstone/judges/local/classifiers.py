"""Where a classifier of pairs runs: in transformers, or in onnxruntime from an .onnx file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from ragstone.errors import MissingExtra
from ragstone.judges.huggingface import hide_progress
from ragstone.judges.local.forms import FORMS, find_form
from ragstone.judges.local.labels import list_names
from ragstone.judges.local.weights import ModelNotFound, is_classifier, list_parts, read_json
from ragstone.judges.local.windows import TokenWindow

UNKNOWN_LENGTH = 10**6
"""Limits on the input above this are how tokenizers say that they know none."""
DEFAULT_TOKENS = 512


class Runtime(Protocol):
    """A loaded classifier."""

    tokenizer: Any
    """Of the package tokenizers."""
    max_tokens: int
    """Longest input."""
    labels: list[str]
    """Names of the classes in the order of the outputs."""

    def run(self, windows: Sequence[TokenWindow]) -> list[list[float]]:
        """Return the logits of each input, run as one batch."""
        ...


@dataclass(frozen=True, slots=True)
class ClassifierFiles:
    """Files of a classifier on this machine; `onnx` is None for weights that transformers loads."""

    folder: Path
    onnx: Path | None
    config: Mapping[str, Any]

    @property
    def labels(self) -> list[str]:
        """Names of the classes, from the config."""
        return list_names(self.config.get("id2label") or {})

    @property
    def parts(self) -> list[Path]:
        """The files that can change what the model says."""
        parts = list_parts(self.folder)
        if self.onnx is None:
            return parts
        # large models keep their weights in a second file: model.onnx_data
        files = sorted(self.onnx.parent.glob(f"{self.onnx.name}*"))
        return [*files, *(part for part in parts if part.suffix == ".json")]


def find_files(name: str, path: Path, kind: str = "nli") -> ClassifierFiles:
    """Return the files of a classifier: an .onnx file with its config beside or above it, or a folder.

    A folder's weights go to transformers where that is installed, else its .onnx file to onnxruntime."""
    if kind in FORMS:
        if not path.is_dir():
            raise ModelNotFound(f"{name!r} is no folder; write {kind}: and the folder of the model")
        config = read_json(path / "config.json")
        find_form(kind, name, config)
        return ClassifierFiles(path, None, config)
    if path.is_file() and path.suffix != ".onnx":
        raise ModelNotFound(f"{name!r} is no .onnx file and no folder; write nli: and one of them")
    if path.is_file():
        is_beside = (path.parent / "config.json").exists()
        folder = path.parent if is_beside else path.parent.parent
    else:
        folder = path
    onnx = path if path.is_file() else _find_onnx(name, path)
    config = read_json(folder / "config.json")
    if not is_classifier(config):
        architectures = ", ".join(map(str, config.get("architectures") or ["no architecture"]))
        raise ModelNotFound(
            f"{name!r} is no classifier of pairs: its config names {architectures}; language models are hf: or gguf:"
        )
    return ClassifierFiles(folder, onnx, config)


def load_runtime(
    name: str, files: ClassifierFiles | None, device: str | None, threads: int | None
) -> Runtime:
    """Load a classifier from its files, or a hub model when there are none."""
    if files is not None and files.onnx is not None:
        return OnnxRuntime(files, device, threads)
    return TorchRuntime(name if files is None else str(files.folder), device, threads)


def check_packages(name: str, files: ClassifierFiles | None, kind: str = "nli") -> None:
    """Raise MissingExtra when the packages that a classifier needs are not installed."""
    is_onnx = files is not None and files.onnx is not None
    needed = ("onnxruntime", "tokenizers") if is_onnx else ("torch", "transformers")
    if not all(map(find_spec, needed)):
        raise MissingExtra(f"{kind}:{name}", "onnx" if is_onnx else "hf")


class TorchRuntime:
    """A classifier in transformers, on the GPU if there is one."""

    def __init__(self, name: str, device: str | None, threads: int | None) -> None:
        import torch
        import transformers

        if threads is not None:
            torch.set_num_threads(threads)
        with hide_progress() if Path(name).exists() else nullcontext():
            tokenizer = transformers.AutoTokenizer.from_pretrained(name)
            model, report = transformers.AutoModelForSequenceClassification.from_pretrained(
                name, dtype="auto", output_loading_info=True
            )
        if report["missing_keys"]:
            raise ModelNotFound(
                f"the weights of {name!r} lack {sorted(report['missing_keys'])[0]!r}; it cannot classify"
            )
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device).eval()
        if self.device == "cpu":
            self.model.float()  # half precision is slow there, or lacks operations
        self.tokenizer = tokenizer.backend_tokenizer
        self.labels = list_names(model.config.id2label)
        self.max_tokens = find_max_tokens(model.config.to_dict(), tokenizer.model_max_length)
        self.inputs = set(tokenizer.model_input_names)

    def run(self, windows: Sequence[TokenWindow]) -> list[list[float]]:
        """Return the logits of each input."""
        import torch

        batch = pad(windows, self.model.config.pad_token_id or 0)
        inputs = {
            name: torch.tensor(rows, device=self.device)
            for name, rows in batch.items()
            if name in self.inputs
        }
        with torch.inference_mode():
            logits: list[list[float]] = self.model(**inputs).logits.float().tolist()
        return logits


class OnnxRuntime:
    """A classifier in onnxruntime, on the GPU if that build of onnxruntime has one."""

    def __init__(self, files: ClassifierFiles, device: str | None, threads: int | None) -> None:
        import onnxruntime
        import tokenizers

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors only
        if threads is not None:
            options.intra_op_num_threads = threads
        has_gpu = (
            "CUDAExecutionProvider" in onnxruntime.get_available_providers() and device != "cpu"
        )
        providers = [*(["CUDAExecutionProvider"] if has_gpu else []), "CPUExecutionProvider"]
        self.session = onnxruntime.InferenceSession(str(files.onnx), options, providers=providers)
        self.inputs = [node.name for node in self.session.get_inputs()]
        outputs = [node.name for node in self.session.get_outputs()]
        self.output = "logits" if "logits" in outputs else outputs[0]
        vocabulary = files.folder / "tokenizer.json"
        if not vocabulary.exists():
            raise ModelNotFound(
                f"there is no tokenizer.json in {str(files.folder)!r}, which onnxruntime needs"
            )
        self.tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
        settings = files.folder / "tokenizer_config.json"
        limit = read_json(settings).get("model_max_length") if settings.exists() else None
        self.labels = files.labels
        self.max_tokens = find_max_tokens(files.config, limit)
        self.pad_id = files.config.get("pad_token_id") or 0

    def run(self, windows: Sequence[TokenWindow]) -> list[list[float]]:
        """Return the logits of each input."""
        import numpy as np

        batch = pad(windows, self.pad_id)
        inputs = {name: np.array(batch[name], dtype=np.int64) for name in self.inputs}
        logits: list[list[float]] = self.session.run([self.output], inputs)[0].tolist()
        return logits


def find_max_tokens(config: Mapping[str, Any], tokenizer_limit: Any) -> int:
    """Return the longest input that a model was made for."""
    positions = config.get("max_position_embeddings")
    made_for = positions if isinstance(positions, int) and positions > 2 else math.inf
    if isinstance(tokenizer_limit, int | float) and tokenizer_limit < UNKNOWN_LENGTH:
        return int(min(tokenizer_limit, made_for))
    # two less: models like RoBERTa number their positions from after the padding id
    return int(made_for) - 2 if made_for < math.inf else DEFAULT_TOKENS


def pad(windows: Sequence[TokenWindow], pad_id: int) -> dict[str, list[list[int]]]:
    """Return the inputs of a batch, all as long as the longest."""
    longest = max(len(window.ids) for window in windows)
    gaps = [longest - len(window.ids) for window in windows]
    return {
        "input_ids": [
            window.ids + [pad_id] * gap for window, gap in zip(windows, gaps, strict=True)
        ],
        "token_type_ids": [
            window.type_ids + [0] * gap for window, gap in zip(windows, gaps, strict=True)
        ],
        "attention_mask": [[1] * (longest - gap) + [0] * gap for gap in gaps],
    }


def _find_onnx(name: str, folder: Path) -> Path | None:
    """Return the .onnx file to run, None where transformers loads the folder's weights."""
    has_weights = any(folder.glob("*.safetensors")) or any(folder.glob("pytorch_model*.bin"))
    if has_weights and find_spec("torch") and find_spec("transformers"):
        return None
    files = [*folder.glob("*.onnx"), *folder.glob("onnx/*.onnx")]
    named = [file for file in files if file.name == "model.onnx"]
    if len(named or files) > 1:
        there = ", ".join(sorted(str(file.relative_to(folder)) for file in named or files))
        raise ModelNotFound(f"{name!r} holds several models; name one of them: {there}")
    return next(iter(named or files), None)
