"""Prompts: hand-written Markdown, one file a kind of question, one folder a language.

A file holds the instructions, a line of three hyphens, and the message with the material. `{{name}}` is filled
in one pass; what is filled in is never looked at again, so text under test cannot smuggle in a placeholder."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ragstone.errors import RagstoneError

FALLBACK_LANGUAGE = "en"
"""The language of the prompts when there are none in the wanted one."""


class InvalidPrompt(RagstoneError):
    """A prompt file that is missing or lacks a placeholder."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One kind of question in one language."""

    name: str
    language: str
    system: str
    user: str

    @property
    def text(self) -> str:
        """The whole file, as it is written."""
        return f"{self.system}\n---\n{self.user}"

    @property
    def digest(self) -> str:
        """What a cached reply remembers of the prompt."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def fill(self, values: Mapping[str, str]) -> tuple[str, str]:
        """Instructions and message with every placeholder replaced, in one pass."""
        return fill_placeholders(self.system, values), fill_placeholders(self.user, values)


def load(name: str, language: str | None, folder: str | None = None) -> Prompt:
    """The prompt of a kind in a language: the user's own file, else ours, else ours in English."""
    return _load(name, (language or FALLBACK_LANGUAGE).lower(), folder)


def fill_placeholders(text: str, values: Mapping[str, str]) -> str:
    """The text with `{{name}}` replaced by its value, in one pass."""
    parts = _parts(text)
    if len(parts) == 1:
        return parts[0].strip()
    filled = list(parts)
    for at in range(1, len(parts), 2):
        filled[at] = values[parts[at]]
    return "".join(filled).strip()


def find_placeholders(text: str) -> list[str]:
    """The names of the placeholders in a text, sorted, with repetitions."""
    return sorted(_PLACEHOLDER.findall(text))


def list_names() -> list[str]:
    """Every prompt we have, by name."""
    return sorted(path.stem for path in (_HERE / FALLBACK_LANGUAGE).glob("*.md"))


def list_languages(folder: str | None = None) -> list[str]:
    """The languages that have prompts, ours and those in the user's folder."""
    found = {path.parent.name for path in _HERE.glob("*/*.md")}
    if folder is not None:
        found |= {path.parent.name for path in Path(folder).glob("*/*.md")}
    return sorted(found)


def export(folder: str | Path) -> list[Path]:
    """Write our prompts into a folder, one sub-folder a language; refuses to overwrite any file."""
    wanted = {Path(folder) / file.parent.name / file.name: file for file in _HERE.glob("*/*.md")}
    refuse_existing(wanted)
    for path, source in sorted(wanted.items()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source.read_text("utf-8"), "utf-8")
    return sorted(wanted)


def refuse_existing(paths: Mapping[Path, object]) -> None:
    """Complain when one of the files to be written is already there."""
    there = sorted(str(path) for path in paths if path.exists())
    if there:
        raise InvalidPrompt(
            f"{there[0]!r} exists already and is left as it is; name another folder"
        )


def find_fault(name: str, text: str) -> str | None:
    """What is wrong with a user's version of a prompt; None when it can be used."""
    ours = (_HERE / FALLBACK_LANGUAGE / f"{name}.md").read_text("utf-8")
    wanted, given = set(find_placeholders(ours)), set(find_placeholders(text))
    if "\n---\n" not in f"\n{text}":
        return "it has no line of three hyphens between the instructions and the material"
    if wanted - given:
        return f"it lacks {{{{{min(wanted - given)}}}}}"
    if given - wanted:
        return f"it has {{{{{min(given - wanted)}}}}}, which nothing fills"
    return None


_HERE = Path(__file__).parent
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


@lru_cache(maxsize=256)
def _parts(text: str) -> tuple[str, ...]:
    """Plain text and names of placeholders in turn; the same few prompts are filled all the time."""
    return tuple(_PLACEHOLDER.split(text))


@lru_cache(maxsize=256)
def _load(name: str, language: str, folder: str | None) -> Prompt:
    tried = [language, language.split("-")[0], FALLBACK_LANGUAGE]
    places = [Path(folder) / code for code in tried] if folder is not None else []
    if folder is not None and not Path(folder).is_dir():
        raise InvalidPrompt(
            f"there is no prompts folder {folder!r}; write one with: "
            f"ragstone judge prompts --export {folder}"
        )
    # a user's file in the wanted language goes before ours, ours before the user's English
    order = [
        *places[:2],
        *(_HERE / code for code in tried[:2]),
        *places[2:],
        _HERE / FALLBACK_LANGUAGE,
    ]
    path = next(p / f"{name}.md" for p in order if (p / f"{name}.md").is_file())
    text = path.read_text("utf-8")
    wrong = find_fault(name, text)
    if wrong is not None:
        raise InvalidPrompt(f"{str(path)!r}: {wrong}; compare it with the exported one")
    system, _, user = f"\n{text}".partition("\n---\n")
    return Prompt(name, path.parent.name, system.strip(), user.strip())
