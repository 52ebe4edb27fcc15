"""GGUF files in this process: the same verdicts as behind a server, clear sentences, nothing left running."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragstone.asks import Ask, Case, Reply, questions, rate, support, useful
from ragstone.asks.choices import Choice, ChoiceRequest
from ragstone.errors import JudgeFailed, MissingExtra, OutOfBudget, RagstoneError
from ragstone.judges.completion import CompletionRequest, Deadline
from ragstone.judges.factory import make_judge
from ragstone.judges.limits import Budget
from ragstone.judges.local import gguf
from ragstone.judges.local.build import build_language_model
from ragstone.judges.local.weights import fingerprint_files, list_shards
from ragstone.types import Chunk
from small_model import find_weights, served

TOWER = Chunk(text="The tower stands in Paris. It was built in 1889 by Gustave Eiffel.")
ASKS: list[Ask] = [
    support(Case(("The tower stands in Paris.", "Eiffel paid for the tower."), (TOWER,)), language="en"),
    useful("Who built the tower?", [TOWER], {"question": None}, language="en"),
    questions("It was built by Gustave Eiffel.", question="Who built the tower?", language="en"),
    rate({"answer": "Muchas gracias."}, "tono", "¿Es cortés?", ["no", "sí"], language="es"),
]  # fmt: skip


@pytest.fixture(scope="module")
def weights() -> str:
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    return find_weights()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    yield from served()


def put(spec: Any, asks: list[Ask]) -> list[Any]:
    async def answer() -> list[Any]:
        judge = make_judge(spec)
        try:
            return [(await judge.answer([ask]))[0] for ask in asks]
        finally:
            await judge.close()

    return asyncio.run(answer())


def choose(
    weights: str, *requests: ChoiceRequest, budget: Budget | None = None, **more: Any
) -> Any:
    async def answer() -> Any:
        model, _ = build_language_model("gguf", weights, {"threads": 1} | more, budget or Budget())
        try:
            return await model.choose(requests)
        finally:
            await model.close()

    return asyncio.run(answer())


def request(question: str) -> ChoiceRequest:
    return ChoiceRequest("Reply with one letter.", "Sky: blue.\n", question, ("A", "B"))


def to_numbers(answered: Any) -> list[Any]:
    """The words and numbers of a reply, or its failure."""
    if isinstance(answered, JudgeFailed):
        return [answered.kind]
    assert isinstance(answered, Reply)

    def walk(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            for key in sorted(value):
                if key != "reason":
                    yield from walk(value[key])
        elif isinstance(value, list):
            for item in value:
                yield from walk(item)
        else:
            yield value

    return list(walk(answered.value))


@pytest.mark.timeout(600)  # a real model on a shared machine
def test_a_file_chooses_the_same_in_this_process_and_behind_a_server(
    weights: str, url: str
) -> None:
    requests = [
        ChoiceRequest(
            "Reply with one letter: A yes, B no, C unknown.",
            f"Source: {TOWER.text}\n",
            f"Claim: {claim}\nOne letter, A, B or C:",
            ("A", "B", "C"),
        )
        for claim in ("The tower stands in Paris.", "The tower is red.")
    ]
    here = choose(weights, *requests)
    judge: Any = make_judge({"model": "openai:any", "base_url": url, "small": True})

    async def ask_server() -> Any:
        async with judge:
            return await judge.model.choose(requests)

    there = asyncio.run(ask_server())
    assert [choice.option for choice in here] == [choice.option for choice in there]
    for own, served_choice in zip(here, there, strict=True):
        assert own.probabilities == pytest.approx(served_choice.probabilities, abs=0.02)
        assert own.usage == served_choice.usage


@pytest.mark.slow
@pytest.mark.timeout(900)  # a real model on a shared machine
def test_a_file_judges_the_same_in_this_process_and_behind_a_server(weights: str, url: str) -> None:
    here = put({"model": f"gguf:{weights}", "threads": 1}, ASKS)
    there = put({"model": "openai:any", "base_url": url, "small": True, "concurrency": 1}, ASKS)
    assert not any(getattr(answered, "kind", "") == "transport" for answered in here)
    for own, served_reply in zip(here, there, strict=True):
        mine, theirs = to_numbers(own), to_numbers(served_reply)
        assert [x for x in mine if not isinstance(x, float)] == [
            x for x in theirs if not isinstance(x, float)
        ]
        assert [x for x in mine if isinstance(x, float)] == pytest.approx(
            [x for x in theirs if isinstance(x, float)], abs=0.03
        )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_it_is_released_and_can_be_asked_again(weights: str) -> None:
    async def ask_twice() -> list[Any]:
        model, _ = build_language_model("gguf", weights, {"threads": 1}, Budget())
        first = await model.choose([request("A or B?")])
        await model.close()
        assert not [t for t in threading.enumerate() if t.name.startswith("llama.cpp")]
        second = await model.choose([request("A or B?")])
        await model.close()
        return [*first, *second]

    first, second = asyncio.run(ask_twice())
    assert type(first) is type(second)
    assert getattr(first, "option", None) == getattr(second, "option", None)
    assert not [t for t in threading.enumerate() if t.name.startswith("llama.cpp")]


@pytest.mark.timeout(600)
def test_a_question_that_does_not_fit_fails_alone_and_names_the_setting(weights: str) -> None:
    long, short = choose(weights, request("word " * 900), request("A or B?"), context=256)
    assert isinstance(long, JudgeFailed)
    assert "the model reads 256; give the judge a larger context:" in long.reason
    assert isinstance(short, Choice) or short.kind == "unparseable"


@pytest.mark.timeout(600)
def test_a_budget_of_calls_and_a_deadline_hold(weights: str) -> None:
    first, second = choose(weights, request("A?"), request("B?"), budget=Budget(max_calls=1))
    assert not isinstance(first, OutOfBudget)
    assert isinstance(second, OutOfBudget)
    (late,) = choose(weights, request("word " * 60), deadline=0.001)
    assert "no reply within 0.001 s" in late.reason


@pytest.mark.timeout(600)
def test_it_writes_json_by_a_schema_too(weights: str) -> None:
    async def write() -> Any:
        _, model = build_language_model("gguf", weights, {"max_tokens": 40, "threads": 1}, Budget())
        schema = {
            "type": "object",
            "properties": {"colour": {"type": "string", "enum": ["blue", "red"]}},
            "required": ["colour"],
            "additionalProperties": False,
        }
        try:
            return await model.complete(
                CompletionRequest("Answer.", "Colour of the sky?", schema, "sky", Deadline(60.0))
            )
        finally:
            await model.close()

    completion = asyncio.run(write())
    assert completion.text.replace(" ", "").replace("\n", "") in (
        '{"colour":"blue"}',
        '{"colour":"red"}',
    )


def test_a_file_that_cannot_be_loaded_fails_every_question(weights: str, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    with open(weights, "rb") as file:
        damaged.write_bytes(file.read(100_000))
    failures = choose(str(damaged), request("A?"), request("B?"))
    assert [type(failure) for failure in failures] == [JudgeFailed, JudgeFailed]
    assert f"llama.cpp cannot load {damaged}: the file is damaged" in failures[0].reason


def test_what_is_no_gguf_file_is_named_before_anything_is_asked(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    (tmp_path / "text.gguf").write_text("hello")
    (tmp_path / "empty").mkdir()
    for name, complaint in [
        (tmp_path / "nowhere.gguf", "there is no file '.*nowhere.gguf'"),
        (tmp_path / "text.gguf", "is not a GGUF file"),
        (tmp_path, "is a folder; name the file in it: text.gguf"),
        (tmp_path / "empty", "is a folder; it holds no .gguf file"),
    ]:
        with pytest.raises(RagstoneError, match=complaint) as said:
            make_judge(f"gguf:{name}")
        assert "\n" not in str(said.value)


def test_a_model_is_known_by_all_its_files_and_not_by_their_names(tmp_path: Path) -> None:
    def identify(name: str, *contents: bytes) -> str:
        count = len(contents)
        for n, content in enumerate(contents, 1):
            ending = f"-{n:05}-of-{count:05}.gguf" if count > 1 else ".gguf"
            (tmp_path / f"{name}{ending}").write_bytes(content)
        first = "-00001-of-00002.gguf" if count > 1 else ".gguf"
        return fingerprint_files(list_shards(tmp_path / f"{name}{first}"))

    assert identify("a", b"GGUF1") == identify("b", b"GGUF1")
    assert identify("c", b"GGUF1") != identify("d", b"GGUF2")
    assert identify("e", b"GGUF1", b"x") == identify("f", b"GGUF1", b"x")
    assert identify("e", b"GGUF1", b"x") != identify("g", b"GGUF1", b"y")


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'ragstone\[local\]'"):
        make_judge("gguf:model.gguf")


@pytest.mark.parametrize("setting", ["threads", "context", "batch"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "two", True])
def test_settings_that_count_are_whole_numbers(setting: str, value: Any, tmp_path: Path) -> None:
    model = "nli:organisation/model" if setting == "batch" else "gguf:model.gguf"
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    is_batch_api = setting == "batch" and value is True  # what `batch: true` means elsewhere
    complaint = "for nli: give a number" if is_batch_api else f"the judge's {setting} is {value!r}"
    with pytest.raises(RagstoneError, match=complaint):
        make_judge({"model": model, setting: value})


LEAVE = """
import asyncio, sys
from ragstone.asks.choices import ChoiceRequest
from ragstone.judges.limits import Budget
from ragstone.judges.local.build import build_language_model

async def main():
    model, _ = build_language_model("gguf", sys.argv[1], {"threads": 1}, Budget())
    prefix = "word " * int(sys.argv[2])
    requests = [ChoiceRequest("Reply with one letter.", f"{n} {prefix}", "A or B?", ("A", "B")) for n in range(200)]
    await model.choose(requests[:1])
    print("ready", flush=True)
    if sys.argv[2] != "0":
        await model.choose(requests)

asyncio.run(main())
"""


def leave(weights: str, words: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", LEAVE, weights, str(words)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_process_that_forgot_to_close_it_ends(weights: str) -> None:
    process = leave(weights, 0)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (0, "ready\n", "")


@pytest.mark.timeout(600)
def test_ctrl_c_ends_after_the_question_in_progress(weights: str) -> None:
    process = leave(weights, 60)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)  # 200 questions would take longer
    assert process.returncode in (-signal.SIGINT, 1, 130)
    assert "KeyboardInterrupt" in err
    assert "Segmentation" not in err
