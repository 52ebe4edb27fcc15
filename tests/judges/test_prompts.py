"""Prompts: the same in every language, filled in one pass, exported and adapted without overwriting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.scoring import settings
from faults.server import Call, FaultServer
from ragstone import prompts
from ragstone.errors import RagstoneError
from ragstone.judges.factory import make_judge
from ragstone.judges.translation import draft_prompts
from ragstone.prompts import InvalidPrompt, fill_placeholders, find_placeholders, load

OPEN = {"model": "openai:e", "base_url": "http://127.0.0.1:9/v1"}
Serve = Callable[..., FaultServer]


def test_every_language_has_the_same_names_and_placeholders() -> None:
    assert {"en", "es"} <= set(prompts.list_languages())
    here = Path(prompts.__file__).parent
    for code in prompts.list_languages():
        assert sorted(p.stem for p in (here / code).glob("*.md")) == prompts.list_names()
        for name in prompts.list_names():
            ours = load(name, "en")
            theirs = load(name, code)
            assert theirs.language == code
            for part in ("system", "user"):
                wanted = find_placeholders(getattr(ours, part))
                assert find_placeholders(getattr(theirs, part)) == wanted, (code, name)


def test_filling_is_one_pass() -> None:
    assert fill_placeholders("{{a}} {{b}}", {"a": "{{b}}", "b": "{{a}}"}) == "{{b}} {{a}}"


def test_an_unknown_language_falls_back_and_a_region_to_its_language() -> None:
    assert load("support", "fr").language == "en"
    assert load("support", "es-MX").language == "es"
    assert load("support", None).language == "en"


def test_the_users_folder_goes_first(tmp_path: Path) -> None:
    written = prompts.export(tmp_path / "p")
    assert len(written) == len(prompts.list_names()) * len(prompts.list_languages())
    file = tmp_path / "p" / "es" / "rate.md"
    file.write_text(file.read_text("utf-8").replace("Sitúas", "Pones"), "utf-8")
    assert load("rate", "es", str(tmp_path / "p")).system.startswith("Pones")
    assert load("rate", "es").system.startswith("Sitúas")
    with pytest.raises(InvalidPrompt, match="exists already"):
        prompts.export(tmp_path / "p")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.replace("{{levels}}", ""), "lacks {{levels}}"),
        (lambda t: t + "{{extra}}", "has {{extra}}, which nothing fills"),
        (lambda t: t.replace("\n---\n", "\n"), "no line of three hyphens"),
    ],
)
def test_a_broken_prompt_is_said_with_its_file(
    change: Callable[[str], str], words: str, tmp_path: Path
) -> None:
    prompts.export(tmp_path / "p")
    file = tmp_path / "p" / "en" / "rate.md"
    file.write_text(change(file.read_text("utf-8")), "utf-8")
    with pytest.raises(InvalidPrompt) as said:
        make_judge({**OPEN, "embeddings": OPEN, "prompts": str(tmp_path / "p")})
    assert words in str(said.value)
    assert "rate.md" in str(said.value)


def test_a_missing_folder_is_said() -> None:
    with pytest.raises(InvalidPrompt, match="there is no prompts folder 'nowhere'"):
        load("rate", "en", "nowhere")


async def _adapt(server: FaultServer, folder: Path) -> list[Path]:
    judge = make_judge(settings(server, deadline=30.0))
    try:
        return await draft_prompts(judge, "fr", folder)
    finally:
        await judge.close()


def test_a_judge_drafts_a_new_language(serve: Serve, tmp_path: Path) -> None:
    written = asyncio.run(_adapt(serve(), tmp_path))
    assert sorted(path.stem for path in written) == prompts.list_names()
    assert load("claims", "fr", str(tmp_path)).language == "fr"
    assert "énoncé" in load("claims", "fr", str(tmp_path)).text
    with pytest.raises(InvalidPrompt, match="exists already"):
        asyncio.run(_adapt(serve(), tmp_path))


def test_a_draft_that_loses_a_placeholder_is_not_written(serve: Serve, tmp_path: Path) -> None:
    async def careless(call: Call) -> None:
        import json

        truth = call.truth()
        await call.say(
            json.dumps({**truth, "text": truth["text"].replace("{{nonce}}", "{{nonse}}")})
        )

    with pytest.raises(RagstoneError, match="could not draft"):
        asyncio.run(_adapt(serve(careless), tmp_path))
    assert not list(tmp_path.rglob("*.md"))


def test_options_of_one_token_differ_in_their_first_letter_and_stand_in_the_question() -> None:
    for name in prompts.list_names():
        for code in prompts.list_languages():
            parts = load(name, code).user.split("\n---\n")
            if len(parts) < 3 or "{{" in parts[-1]:
                continue
            options = [option.strip() for option in parts[-1].split(",")]
            assert len({option[0].lower() for option in options}) == len(options), (name, code)
            assert all(option.lower() in parts[-2].lower() for option in options), (name, code)


def test_a_prompt_with_other_options_is_said(tmp_path: Path) -> None:
    prompts.export(tmp_path / "p")
    file = tmp_path / "p" / "en" / "choose_support.md"
    file.write_text(file.read_text("utf-8").replace("yes, no\n", "yes, no, unknown\n"), "utf-8")
    with pytest.raises(InvalidPrompt, match="as many options as ours"):
        load("choose_support", "en", str(tmp_path / "p"))
