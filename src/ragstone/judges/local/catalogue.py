"""Open models that we measured as judges, and the one that `ragstone judge get` has fetched for `judge: local`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from platformdirs import user_cache_path

from ragstone.errors import RagstoneError, suggest_nearest

MANIFEST = "fetched.json"
"""Beside a model's file once its size and hash were found right; a file without it is not used."""


class LocalModelMissing(RagstoneError):
    """`judge: local` and no model has been fetched."""


@dataclass(frozen=True, slots=True)
class RecommendedModel:
    """A model that can be fetched from the hub; only what we measured is recommended."""

    name: str
    repository: str
    file: str
    licence: str
    gigabytes: float
    """About; what counts is the size that the hub names."""
    languages: str
    measured: str
    """What we measured, in a few words; docs/judge-offline.md has the table."""
    sha256: str
    """Hash of the very file that we measured; the hub may serve another one."""


@dataclass(frozen=True, slots=True)
class FetchedModel:
    """A model on this machine whose size and hash were checked."""

    name: str
    repository: str
    revision: str
    file: str
    size: int
    sha256: str

    @property
    def path(self) -> Path:
        """Where its file is."""
        return find_folder(self.name) / self.file


MODELS = (
    RecommendedModel(
        name="qwen2.5-coder-1.5b",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        licence="Apache-2.0",
        gigabytes=1.12,
        languages="measured in English and Spanish",
        measured="plain question: AUROC 0.75 on 119 rows of six sets, one question about the whole answer 0.73",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
)


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A grounding model that others have published and measured; we have not."""

    judge: str
    """What to write: `minicheck:lytang/MiniCheck-Flan-T5-Large`."""
    licence: str
    size: str
    languages: str
    published: str
    """Figures of its authors."""
    source: str
    """Where they stand."""


PUBLISHED_MODELS = (
    PublishedModel(
        "minicheck:lytang/MiniCheck-Flan-T5-Large", "MIT", "0.8B", "English",
        "on par with GPT-4 on LLM-AggreFact, 11 sets", "its model card",
    ),
    PublishedModel(
        "minicheck:lytang/MiniCheck-RoBERTa-Large", "MIT", "0.4B", "English",
        "better on LLM-AggreFact than earlier fact-checkers of its size", "its model card",
    ),
    PublishedModel(
        "minicheck:lytang/MiniCheck-DeBERTa-v3-Large", "MIT", "0.4B", "English",
        "2 points of balanced accuracy below MiniCheck-Flan-T5-Large", "its model card",
    ),
    PublishedModel(
        "ollama:bespoke-minicheck", "CC BY-NC 4.0", "7B", "English",
        "balanced accuracy 77.4 % on LLM-AggreFact", "docs.bespokelabs.ai",
    ),
    PublishedModel(
        "hhem:vectara/hallucination_evaluation_model", "Apache-2.0", "0.1B", "English",
        "balanced accuracy 76.6 % on AggreFact-SOTA", "its model card",
    ),
    PublishedModel(
        "lettucedetect:KRLabsOrg/lettucedect-large-modernbert-en-v1", "MIT", "0.4B", "English",
        "example-level F1 79.2 % on RAGTruth, which it was trained on", "arxiv.org/abs/2502.17125",
    ),
)  # fmt: skip
"""Grounding models by name; the forms are in judges/local/forms.py. Their figures are not ours."""


def find_model(name: str) -> RecommendedModel:
    """Return the recommended model of this name."""
    for model in MODELS:
        if model.name == name:
            return model
    names = [model.name for model in MODELS]
    hint = suggest_nearest(name, names) or f"; there is {', '.join(names)}"
    raise RagstoneError(f"no recommended model {name!r}{hint}")


def find_folder(name: str) -> Path:
    """Return the folder of a model in the user's cache."""
    return user_cache_path("ragstone", appauthor=False) / "models" / name


def find_fetched(name: str) -> FetchedModel | None:
    """Return the model if it was fetched and its file is whole."""
    try:
        text = (find_folder(name) / MANIFEST).read_text("utf-8")
        model = FetchedModel(**json.loads(text))
        is_whole = model.path.stat().st_size == model.size
    except (OSError, ValueError, TypeError):
        return None
    return model if is_whole else None


def save_manifest(model: FetchedModel) -> None:
    """Note that a model's file is whole."""
    (find_folder(model.name) / MANIFEST).write_text(json.dumps(asdict(model)), "utf-8")


def find_local_model(name: str = "") -> FetchedModel:
    """Return the model of `judge: local` (the first recommended one that is here), or of `judge: local:NAME`."""
    wanted = [find_model(name)] if name else MODELS
    for model in wanted:
        fetched = find_fetched(model.name)
        if fetched is not None:
            return fetched
    raise LocalModelMissing(
        f"no local model is here; `ragstone judge get {wanted[0].name}` fetches one "
        f"({wanted[0].gigabytes:.1f} GB, {wanted[0].licence})"
    )
