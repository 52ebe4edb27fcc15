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
    """What we measured, in a few words; docs/judges-measured.md has the table."""
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
        measured="hybrid route: mean AUROC 0.83 on 239 rows of six sets (the embedded judge alone 0.78)",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
)


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
