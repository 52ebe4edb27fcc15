"""Files of weights: where a model is, and whether two of them are the same."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragstone.errors import RagstoneError

GGUF_MAGIC = b"GGUF"
SAMPLED_BYTES = 1 << 16
"""Size of the blocks of a weight file that its fingerprint reads."""
SAMPLED_BLOCKS = 64
WEIGHT_ENDINGS = (".safetensors", ".bin", ".onnx", ".gguf")
CLASSIFIER_ENDING = "ForSequenceClassification"
"""How the architectures of classifiers end; any other gets a head of random numbers from transformers."""
_SHARD = re.compile(r"-\d{5}-of-(\d{5})\.gguf$")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


class ModelNotFound(RagstoneError):
    """There is no model where the user says, or it is of another kind."""


def find_model(kind: str, name: str) -> Path | None:
    """Return the file or folder of a model; None for the name of a hub model, which is `ORGANISATION/NAME`.

    A file or folder of that name comes first, so that nothing is fetched which is already here."""
    path = Path(name).expanduser()
    if path.exists():
        return path
    if _HUB_NAME.fullmatch(name) and not name.endswith(WEIGHT_ENDINGS):
        return None
    raise ModelNotFound(
        f"there is no model at {name!r}; write {kind}: and the path of a file or folder"
        + ("" if kind == "gguf" else ", or a hub name: ORGANISATION/NAME")
    )


def find_gguf(name: str) -> Path:
    """Return the path of a GGUF file; raises ModelNotFound for anything else."""
    path = Path(name).expanduser()
    if path.is_dir():
        files = sorted(file.name for file in path.glob("*.gguf"))
        there = f"name the file in it: {', '.join(files)}" if files else "it holds no .gguf file"
        raise ModelNotFound(f"{name!r} is a folder; {there}")
    if not path.is_file():
        raise ModelNotFound(f"there is no file {name!r}; write gguf: and the path of a .gguf file")
    with path.open("rb") as file:
        if file.read(len(GGUF_MAGIC)) != GGUF_MAGIC:
            raise ModelNotFound(
                f"{name!r} is not a GGUF file; llama.cpp reads GGUF only "
                "(hf: reads folders of transformers)"
            )
    return path


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file of a model; raises ModelNotFound when there is none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise ModelNotFound(f"there is no {path.name} in {str(path.parent)!r}") from None
    except ValueError:
        raise ModelNotFound(f"{str(path)!r} is not JSON; get the model again") from None
    return value if isinstance(value, dict) else {}


def is_classifier(config: Mapping[str, Any]) -> bool:
    """Return whether a config is that of a sequence-classification model."""
    architectures = config.get("architectures") or []
    return any(str(name).endswith(CLASSIFIER_ENDING) for name in architectures)


def list_shards(path: Path) -> list[Path]:
    """Return the files of a GGUF model, which may be spread over several: `model-00001-of-00003.gguf`."""
    shard = _SHARD.search(path.name)
    if shard is None:
        return [path]
    return sorted(path.parent.glob(f"{path.name[: shard.start()]}-*-of-{shard[1]}.gguf"))


def list_parts(folder: Path) -> list[Path]:
    """Return the files of a model folder that can change what the model says."""
    return [
        file
        for file in sorted(folder.iterdir())
        if file.is_file() and file.suffix in (*WEIGHT_ENDINGS, ".json", ".jinja")
    ]


def fingerprint_files(files: Iterable[Path]) -> str:
    """Return a hash that two models share only if they are the same, wherever they lie.

    Weight files are sampled, in blocks spread over each file: reading gigabytes would take longer than a run."""
    stats = [(file, file.stat()) for file in files]
    return _fingerprint(tuple((file, stat.st_size, stat.st_mtime_ns) for file, stat in stats))


@lru_cache(maxsize=64)
def _fingerprint(stats: Iterable[tuple[Path, int, int]]) -> str:
    """Hash the files; the time of the last change is part of the cache key only."""
    digest = hashlib.sha256()
    for file, size, _ in stats:
        digest.update(f"{size}\n".encode())
        step = max(SAMPLED_BYTES, size // SAMPLED_BLOCKS)
        with file.open("rb") as stream:
            for start in range(0, size, step):
                stream.seek(start)
                digest.update(stream.read(SAMPLED_BYTES))
    return digest.hexdigest()
