"""Everything that can change a judged score changes its identity, for the cache, for reuse and for resume alike."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from faults.server import FaultServer
from ragstone import Run, evaluate, metric
from ragstone.asks import Asking
from ragstone.engine import identity
from ragstone.errors import RagstoneError, UnknownMetric
from ragstone.metrics import resolve
from ragstone.registry import REGISTERED
from ragstone.registry.fingerprints import UNPROVEN, fingerprint
from ragstone.store import Store
from ragstone.types import Score

ROWS = [{"id": f"s{n}", "question": "Why?", "answer": f"answer {n}"} for n in range(4)]
TONE = resolve({"rubric": {"name": "tone", "question": "Is it polite?"}})
PROMPTS = Path(identity.__file__).parents[1] / "prompts"


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    """A folder of prompts behind a link, one of its languages the user's own."""
    real = tmp_path / "real"
    for language in ("en", "de"):
        shutil.copytree(PROMPTS / "en", real / language)
    edit(real / "de" / "rate.md")
    (tmp_path / "link").mkdir()
    for language in ("en", "de"):
        (tmp_path / "link" / language).symlink_to(real / language)
    return tmp_path / "link"


def edit(file: Path) -> None:
    file.write_text(file.read_text("utf-8") + "\nBe strict.\n", "utf-8")


Options = dict[str, Any]


def change_settings(**settings: Any) -> Callable[[Options, FaultServer, Path], None]:
    return lambda options, server, prompts: options["judge"].update(settings)


def change_url(suffix: str) -> Callable[[Options, FaultServer, Path], None]:
    def change(options: Options, server: FaultServer, prompts: Path) -> None:
        options["judge"]["base_url"] = server.url + suffix

    return change


def log_in(options: Options, server: FaultServer, prompts: Path) -> None:
    options["judge"]["base_url"] = server.url.replace("http://", "http://anna:secret@")


CHANGES: Mapping[str, Callable[[Options, FaultServer, Path], None]] = {
    "temperature": change_settings(temperature=0.7),
    "model": change_settings(model="openai:other"),
    "top_p": change_settings(top_p=0.5),
    "own parameter": change_settings(parameters={"min_p": 0.1}),
    "identity": change_settings(identity="another"),
    "language of the judge": change_settings(language="de"),
    "query of the URL": change_url("?route=bad"),
    "path of the URL": change_url("/other"),
    "login": log_in,
    "prompt": lambda options, server, prompts: edit(prompts / "en" / "rate.md"),
    "prompt of an own language": lambda options, server, prompts: edit(prompts / "de" / "rate.md"),
    "language": lambda options, server, prompts: options.update(language="de"),
    "options of a metric": lambda options, server, prompts: options.update(
        metrics=[resolve({"rubric": {"name": "tone", "question": "Is it rude?"}})]
    ),
}


def build_options(server: FaultServer, prompts: Path) -> Options:
    judge = {"model": "openai:m", "base_url": server.url, "prompts": str(prompts)}
    return {"metrics": [TONE], "judge": judge}


def leave_unfinished(run: Run) -> None:
    store = Store.open()
    sql = "UPDATE runs SET status = 'running' WHERE id = ?"
    store.write(lambda db: db.execute_many(sql, [(run.id,)])).result()


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_a_score_is_asked_again_and_not_resumed(
    name: str, server: FaultServer, prompts: Path
) -> None:
    first = evaluate(ROWS, **build_options(server, prompts))
    asked = len(server.calls)
    leave_unfinished(first)
    resumed = evaluate(ROWS, resume=True, **build_options(server, prompts))
    assert (resumed.id, len(server.calls)) == (first.id, asked), "nothing has changed"
    leave_unfinished(first)
    options = build_options(server, prompts)
    CHANGES[name](options, server, prompts)
    with pytest.raises(RagstoneError, match=f"cannot resume run {first.id}: .*--restart"):
        evaluate(ROWS, resume=True, **options)
    restarted = evaluate(ROWS, restart=True, **options)
    assert restarted.id != first.id
    changes_prompt = "own language" in name  # rows in English do not read it, so their replies stay
    if not changes_prompt:
        assert len(server.calls) >= 2 * asked - 1, "the cache and reuse are of another judge"


def test_code_of_the_package_is_part_of_it(
    server: FaultServer, prompts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = evaluate(ROWS, **build_options(server, prompts))
    leave_unfinished(first)
    monkeypatch.setattr(identity, "_hash_code", lambda: "edited")
    with pytest.raises(RagstoneError, match="code of ragstone has changed"):
        evaluate(ROWS, resume=True, **build_options(server, prompts))


def test_a_refusal_names_what_changed_with_both_values(server: FaultServer, prompts: Path) -> None:
    leave_unfinished(evaluate(ROWS, **build_options(server, prompts)))
    options = build_options(server, prompts)
    options["judge"]["temperature"] = 0.7
    with pytest.raises(RagstoneError, match=r"temperature has changed \(0, now 0.7\)"):
        evaluate(ROWS, resume=True, **options)


def test_a_secret_of_the_url_is_not_stored(server: FaultServer, prompts: Path) -> None:
    options = build_options(server, prompts)
    options["judge"]["base_url"] = server.url + "?key=topsecret1"
    run = evaluate(ROWS, **options)
    assert "topsecret1" not in str(run.info)


def test_a_metric_wrapped_around_ours_is_the_users_own(server: FaultServer) -> None:
    ours = REGISTERED["coherence"]
    with pytest.raises(UnknownMetric, match="two metrics are called 'coherence'"):
        resolve(functools.wraps(ours.function)(lambda answer: 1.0))

    def build(level: float) -> Any:
        @functools.wraps(ours.function)
        def own(*fields: Any, **options: Any) -> Asking[Score]:
            yield from ours.function(*fields, **options)
            return Score(level)

        return resolve(metric(name="own_coherence")(own))

    judge = {"model": "openai:m", "base_url": server.url}
    try:
        runs = [evaluate(ROWS, [build(level)], judge=judge) for level in (0.25, 0.75)]
    finally:
        REGISTERED.pop("own_coherence", None)
    assert [next(iter(run.scores()["s0"].values())).value for run in runs] == [0.25, 0.75]


class Client:
    def __init__(self, connection: object) -> None:
        self.connection = connection

    def __call__(self, question: Any) -> Any:
        return self.connection


def build_judge(factor: int) -> Callable[[Any], int]:
    return lambda question: factor * 2


def helper(value: int) -> int:
    return value + 1


def uses_helper(value: int) -> int:
    return helper(value)


def test_a_fingerprint_follows_what_a_function_refers_to(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fingerprint(build_judge(1)) == fingerprint(build_judge(1)) != fingerprint(build_judge(2))
    assert fingerprint(Client(1)) == fingerprint(Client(1)) != fingerprint(Client(2))
    before = fingerprint(uses_helper)
    assert fingerprint(functools.partial(uses_helper, 1)) != before
    monkeypatch.setitem(globals(), "helper", lambda value: value + 2)
    assert fingerprint(uses_helper) != before


def test_what_cannot_be_compared_equals_nothing() -> None:
    with open(__file__, encoding="utf-8") as file:
        client = Client(file)
        assert fingerprint(client).startswith(UNPROVEN)
        assert fingerprint(client) != fingerprint(client)
        client.identity = "model 3"
        assert fingerprint(client) == "stated model 3"


def test_a_judge_that_cannot_be_compared_is_not_resumed() -> None:
    with open(__file__, encoding="utf-8") as file:
        judge = _judge_with(file)
        leave_unfinished(evaluate(ROWS, [TONE], judge=judge))
        with pytest.raises(RagstoneError, match="not known whether judge source has changed"):
            evaluate(ROWS, [TONE], judge=judge, resume=True)


def _judge_with(resource: object) -> Callable[[Any], Any]:
    def judge(question: Any) -> Any:
        assert resource
        return {"level": 0, "reason": ""}

    return judge


def test_an_edited_metric_of_the_user_is_not_resumed() -> None:
    def build(level: float) -> Any:
        @metric(name="own_level")
        def own_level(answer: str) -> float:
            return level

        return resolve(own_level)

    try:
        first = build(0.25)
        leave_unfinished(evaluate(ROWS, [first]))
        with pytest.raises(RagstoneError, match="metric own_level has changed"):
            evaluate(ROWS, [build(0.75)], resume=True)
    finally:
        REGISTERED.pop("own_level", None)
