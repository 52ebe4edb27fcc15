"""Draft translations of the prompts into another language, made by a judge."""

from __future__ import annotations

from pathlib import Path

from ragstone import prompts
from ragstone.asks import Reply, translate
from ragstone.errors import RagstoneError
from ragstone.judges import Judge
from ragstone.locale.tags import to_language_tag


async def draft_prompts(judge: Judge, language: str, folder: str | Path) -> list[Path]:
    """Write a draft of every prompt in a language into `folder/language`; all of them or none.

    Placeholders are checked, and no existing file is overwritten."""
    tag = to_language_tag(language.strip())
    if tag is None:
        raise RagstoneError(f"{language!r} is not a language tag; write one such as fr")
    code = tag.lower()
    target = Path(folder) / code
    wanted = {target / f"{name}.md": name for name in prompts.list_names()}
    prompts.refuse_existing(wanted)
    asks = [translate(prompts.load(name, None).text, code) for name in wanted.values()]
    drafts: dict[Path, str] = {}
    for (path, name), ask in zip(wanted.items(), asks, strict=True):
        (answer,) = await judge.answer([ask])
        if not isinstance(answer, Reply):
            raise RagstoneError(
                f"{judge.name} could not draft {name!r} in {code!r}: {answer.reason}"
            )
        text = answer.value["text"].strip() + "\n"
        fault = prompts.find_fault(name, text)
        if fault is not None:
            raise RagstoneError(f"{judge.name} drafted {name!r} in {code!r}, but {fault}")
        drafts[path] = text
    target.mkdir(parents=True, exist_ok=True)
    for path, text in drafts.items():
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    return list(drafts)
