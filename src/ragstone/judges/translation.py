"""Prompts in a new language, drafted by a judge: placeholders checked, nothing overwritten."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragstone import prompts
from ragstone.asks import Ask, Reply
from ragstone.errors import RagstoneError
from ragstone.judges import Judge

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


async def draft_prompts(judge: Judge, language: str, folder: str | Path) -> list[Path]:
    """Draft every prompt in a language into `folder/language`; all of them or none."""
    code = language.strip().lower()
    if not code.replace("-", "").isalnum():
        raise RagstoneError(f"{language!r} is not a language code; write one such as fr")
    place = Path(folder) / code
    wanted = {place / f"{name}.md": name for name in prompts.list_names()}
    prompts.refuse_existing(wanted)
    asks = [
        Ask("translate", {"language": code, "text": prompts.load(name, None).text}, SCHEMA, "en")
        for name in wanted.values()
    ]
    drafts: dict[Path, str] = {}
    for (path, name), ask in zip(wanted.items(), asks, strict=True):
        (answered,) = await judge.answer([ask])
        if not isinstance(answered, Reply):
            raise RagstoneError(
                f"{judge.name} could not draft {name!r} in {code!r}: {answered.reason}"
            )
        text = answered.value["text"].strip() + "\n"
        wrong = prompts.find_fault(name, text)
        if wrong is not None:
            raise RagstoneError(f"{judge.name} drafted {name!r} in {code!r}, but {wrong}")
        drafts[path] = text
    place.mkdir(parents=True, exist_ok=True)
    for path, text in drafts.items():
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    return list(drafts)
