"""The identity of a judged score: everything that can change the number.

One definition serves all three shortcuts. The cache of replies keys a reply by its Ask and what the judge says of itself
(`identify_reply`); a resumed run must equal the run it continues, part by part (`identify_run`); a later run takes over
scores of an earlier one where the same parts are equal (`engine/reuse.py`). What cannot be compared, such as a function
that refers to an open connection, equals nothing, so no shortcut is taken with it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragstone import prompts
from ragstone._version import __version__
from ragstone.asks import Ask, canonical_once, digest, list_example_asks, useful
from ragstone.judges import Judge
from ragstone.registry import Metric
from ragstone.registry.fingerprints import UNPROVEN, fingerprint

_PACKAGE = Path(__file__).parents[1]
_JUDGING_ROOMS = ("asks", "engine", "judges", "metrics", "prompts", "registry", "text")
"""Rooms of the package whose code and data decide a judged score."""


def identify_reply(ask: Ask, judge: Judge) -> str:
    """Return the cache key of a reply: the digest of {"ask": the Ask's key, "judge": the judge's identity}."""
    # Spelled out because it equals digest({"ask": …, "judge": …}), which keys the replies of every store so far:
    # any other spelling makes all of them unknown, and every call is paid for again.
    text = f'{{"ask":"{ask.key}","judge":{canonical_once(judge.identity(ask))}}}'
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def identify_run(
    judge: Judge | None, metrics: Sequence[Metric], language: str | None
) -> dict[str, str]:
    """Return what decides a run's scores besides its rows: the name of each part, and its value or a hash of it."""
    parts = {"ragstone": __version__, "language": str(language)}
    for metric in metrics:
        parts[f"metric {metric.name}"] = _fingerprint_all(metric.function, dict(metric.options))
    if judge is not None:
        parts["code of ragstone"] = _hash_code()
        parts |= _identify_judge(judge, language)
        # no part of a reply's key: the store keeps replies as the judge gave them
        calibration = getattr(judge, "calibration", None)
        if calibration is not None:
            parts["calibration"] = digest(calibration.to_json())
    return parts


def describe_change(before: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    """Name the first part in which two runs differ, with its values where they say something; None if they are equal."""
    for name in [*now, *(name for name in before if name not in now)]:
        old, new = before.get(name, "none"), now.get(name, "none")
        if old == new:
            continue
        if UNPROVEN in old + new:
            return (
                f"it is not known whether {name} has changed (say so: function.identity = 'NAME')"
            )
        is_hash = max(len(old), len(new)) >= _HASH_CHARS and " " not in old + new
        return f"{name} has changed" + ("" if is_hash else f" ({old}, now {new})")
    return None


_HASH_CHARS = 32


def _identify_judge(judge: Judge, language: str | None) -> dict[str, str]:
    """What a judge says of itself for each kind of question in each language that it has prompts in."""
    languages = {"en", "es", *([language] if language else [])}
    for folder in _list_prompt_folders(judge):
        languages.update(prompts.list_languages(folder))
    codes = [None, *sorted(languages)]
    asks = list_example_asks(codes)
    asks += [useful("x", [], {}, wording=2, language=code) for code in codes]
    values: dict[str, dict[str, None]] = {"judge": {judge.name: None}}
    for ask in asks:
        for path, value in _list_leaves(judge.identity(ask), "judge"):
            values.setdefault(path, {})[value] = None
    return {
        path: next(iter(found)) if len(found) == 1 else digest(list(found))
        for path, found in values.items()
    }


def _list_leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _list_leaves(inner, f"{path} {name}")
    elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
        for number, inner in enumerate(value, 1):
            yield from _list_leaves(inner, f"{path} {number}")
    else:
        yield path, value if isinstance(value, str) else str(value)


def _list_prompt_folders(judge: Judge) -> list[str]:
    """The folders of the user's own prompts, those of a jury's or a cascade's judges included."""
    inner = [*getattr(judge, "members", ())]
    inner += [
        getattr(judge, name) for name in ("first", "second", "writer") if hasattr(judge, name)
    ]
    own = getattr(judge, "folder", None)
    folders = [] if own is None else [str(own)]
    return folders + [folder for one in inner if one for folder in _list_prompt_folders(one)]


def _fingerprint_all(*values: Any) -> str:
    found = [fingerprint(value) for value in values]
    unproven = [value for value in found if value.startswith(UNPROVEN)]
    return unproven[0] if unproven else digest(found)


@lru_cache(maxsize=1)
def _hash_code() -> str:
    """Hash the files that decide judged scores: a checkout is edited without a new version."""
    files = sorted(
        file
        for room in _JUDGING_ROOMS
        for file in (_PACKAGE / room).rglob("*")
        if file.suffix in (".py", ".md", ".json", ".npz", ".npy", ".txt", ".toml")
    )
    hashed = hashlib.sha256()
    for file in files:
        hashed.update(str(file.relative_to(_PACKAGE)).encode() + b"\0" + file.read_bytes())
    return hashed.hexdigest()
