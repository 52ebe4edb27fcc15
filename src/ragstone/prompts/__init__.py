"""Prompts: Markdown files, one for each kind of Ask, in one folder for each language.

A file holds the system message, a line of three hyphens, and the user message. Placeholders `{{name}}` are filled
in one pass; filled-in text is not scanned again, so text under test cannot smuggle in a placeholder."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ragstone.errors import RagstoneError

FALLBACK_LANGUAGE = "en"
"""Language of the prompts when there are none in the wanted one."""

CHOICE_PARTS = 4
"""Parts of a prompt that is answered with one token: system, text that many questions share, question, options.

The options are one line, separated by commas."""


class InvalidPrompt(RagstoneError):
    """A prompt file or folder that is missing or cannot be used."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt of one kind of Ask in one language."""

    name: str
    language: str
    system: str
    user: str

    @property
    def text(self) -> str:
        """The whole file."""
        return f"{self.system}\n---\n{self.user}"

    @property
    def digest(self) -> str:
        """SHA-256 of the text; part of the cache key."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def fill(self, values: Mapping[str, str]) -> tuple[str, str]:
        """Return system and user message with every placeholder replaced."""
        return fill_placeholders(self.system, values), fill_placeholders(self.user, values)


def load(name: str, language: str | None, folder: str | None = None) -> Prompt:
    """Load the prompt of a kind in a language: from the user's folder, else built in, else in English."""
    read = _load if folder is None else _load.__wrapped__  # ours do not change
    return read(name, (language or FALLBACK_LANGUAGE).lower(), folder)


def fill_placeholders(text: str, values: Mapping[str, str]) -> str:
    """Replace each `{{name}}` in the text by its value, in one pass."""
    parts = _split_at_placeholders(text)
    if len(parts) == 1:
        return parts[0].strip()
    filled = list(parts)
    for index in range(1, len(parts), 2):
        filled[index] = values[parts[index]]
    return "".join(filled).strip()


def find_placeholders(text: str) -> list[str]:
    """Return the names of the placeholders in a text, sorted, repetitions included."""
    return sorted(_PLACEHOLDER.findall(text))


def list_names() -> list[str]:
    """Return the names of all prompts."""
    return sorted(path.stem for path in (_FOLDER / FALLBACK_LANGUAGE).glob("*.md"))


def list_languages(folder: str | None = None) -> list[str]:
    """Return the languages that have prompts, ours and those in the user's folder."""
    codes = {path.parent.name for path in _FOLDER.glob("*/*.md")}
    if folder is not None:
        codes |= {path.parent.name for path in Path(folder).glob("*/*.md")}
    return sorted(codes)


def export(folder: str | Path) -> list[Path]:
    """Write our prompts into a folder, one sub-folder for each language; no existing file is overwritten."""
    wanted = {Path(folder) / file.parent.name / file.name: file for file in _FOLDER.glob("*/*.md")}
    refuse_existing(wanted)
    for path, source in sorted(wanted.items()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source.read_text("utf-8"), "utf-8")
    return sorted(wanted)


def refuse_existing(paths: Mapping[Path, object]) -> None:
    """Raise InvalidPrompt when one of the files to be written exists."""
    existing = sorted(str(path) for path in paths if path.exists())
    if existing:
        raise InvalidPrompt(
            f"{existing[0]!r} exists already and is left as it is; name another folder"
        )


class PromptLoader:
    """The prompts of one judge, read once: a file that is edited meanwhile counts for the next judge.

    Every prompt of the user's folder is read now, so that a broken file is reported before anything is asked."""

    def __init__(self, language: str | None, folder: str | None) -> None:
        self._language = language
        self._folder = folder
        self._known: dict[tuple[str, str], Prompt] = {}
        for name in list_names() if folder is not None else ():
            for code in list_languages(folder):
                self(name, code)

    def __call__(self, name: str, language: str | None) -> Prompt:
        """Return the prompt of that name in a language, else in that of the judge."""
        key = name, (language or self._language or FALLBACK_LANGUAGE).lower()
        if key not in self._known:
            self._known[key] = load(*key, self._folder)
        return self._known[key]


def find_fault(name: str, text: str) -> str | None:
    """Return what is wrong with a user's version of a prompt; None when it can be used.

    The built-in English prompt of that name decides which placeholders and parts it must have."""
    ours = (_FOLDER / FALLBACK_LANGUAGE / f"{name}.md").read_text("utf-8")
    wanted, given = set(find_placeholders(ours)), set(find_placeholders(text))
    # a newline in front, so that a file may begin with the line of hyphens
    our_parts, parts = (f"\n{whole}".split("\n---\n") for whole in (ours, text))
    if len(parts) < len(our_parts):
        return "it has no line of three hyphens between the instructions and the material"
    if len(our_parts) == CHOICE_PARTS and parts[-1].count(",") != our_parts[-1].count(","):
        return f"its last part must list as many options as ours: {our_parts[-1].strip()}"
    if wanted - given:
        return f"it lacks {{{{{min(wanted - given)}}}}}"
    if given - wanted:
        return f"it has {{{{{min(given - wanted)}}}}}, which nothing fills"
    return None


_FOLDER = Path(__file__).parent
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


@lru_cache(maxsize=256)
def _split_at_placeholders(text: str) -> tuple[str, ...]:
    """Return plain text and names of placeholders in turn: texts at even indexes, names at odd ones."""
    return tuple(_PLACEHOLDER.split(text))


def _list_files(folder: str | Path, name: str) -> dict[str, Path]:
    """Return the files of a prompt by language.

    Files are listed and looked up, because a language may come from data and must not become part of a path."""
    return {path.parent.name.lower(): path for path in Path(folder).glob(f"*/{name}.md")}


@lru_cache(maxsize=256)
def _load(name: str, language: str, folder: str | None) -> Prompt:
    if folder is not None and not Path(folder).is_dir():
        raise InvalidPrompt(
            f"there is no prompts folder {folder!r}; write one with: "
            f"ragstone judge prompts --export {folder}"
        )
    # the user's file in the wanted language precedes ours, which precedes the user's English one
    wanted = (language, language.split("-")[0])
    theirs = _list_files(folder, name) if folder is not None else {}
    ours = _list_files(_FOLDER, name)
    codes = [(files, code) for files in (theirs, ours) for code in wanted]
    codes += [(theirs, FALLBACK_LANGUAGE), (ours, FALLBACK_LANGUAGE)]
    path = next(files[code] for files, code in codes if code in files)
    text = path.read_text("utf-8")
    fault = find_fault(name, text)
    if fault is not None:
        raise InvalidPrompt(f"{str(path)!r}: {fault}; compare it with the exported one")
    system, _, user = f"\n{text}".partition("\n---\n")
    return Prompt(name, path.parent.name, system.strip(), user.strip())
