"""A run on a real Dask cluster of two worker processes equals the run of one process, whatever happens to the workers."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

import ragstone
from dask_cluster import HERE, JUDGE, METRICS, kept, rows, written
from ragstone.engine import Progress
from ragstone.errors import BadRows, ClusterError, RagstoneError
from ragstone.scale.cluster import QUIET_DASK_SETTINGS, format_exports, parse_location

pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")


def worker_processes() -> list[Any]:
    return [
        child
        for child in psutil.Process().children(recursive=True)
        if "spawn_main" in " ".join(child.cmdline())
    ]


@pytest.mark.parametrize("count", [400, pytest.param(2000, marks=pytest.mark.slow)])
def test_a_killed_worker_changes_nothing(tmp_path: Path, calls: Any, count: int) -> None:
    data = written(tmp_path / "data.jsonl", rows(count))
    alone = ragstone.evaluate(data, METRICS, judge=JUDGE, store=tmp_path / "alone.db")
    wanted = calls()
    killed: list[int] = []

    def watch(progress: Progress) -> None:
        if progress.done >= count // 5 and not killed:
            victim = worker_processes()[0]
            killed.append(victim.pid)
            victim.send_signal(signal.SIGKILL)

    far = ragstone.evaluate(
        data, METRICS, judge=JUDGE, store=tmp_path / "far.db", on="dask:2", watch=watch
    )
    assert killed
    assert kept(far) == kept(alone)
    assert far.info.total == count
    asked = calls()
    assert asked.keys() == wanted.keys()
    # asked again is at most what the killed worker was at, or had done and not handed over yet: a few tasks of 8
    assert sum(asked.values()) - sum(wanted.values()) <= count // 5
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == set()


@pytest.mark.parametrize("judge", ["offline", JUDGE])
def test_a_store_in_memory(tmp_path: Path, calls: Any, cluster: Path, judge: str) -> None:
    path = written(tmp_path / "data.jsonl", rows(40))
    runs = [
        ragstone.evaluate(path, METRICS, judge=judge, store=":memory:", on=on)
        for on in (None, str(cluster))
    ]
    assert kept(runs[0]) == kept(runs[1])


def test_a_killed_worker_of_a_run_without_a_judge(tmp_path: Path) -> None:
    source = tmp_path / "dies_once.py"
    marker = tmp_path / "killed"
    source.write_text(
        "import os\ndef dies_once(answer: str) -> float:\n    'One.'\n"
        f"    if 'book 300 ' in answer.lower() and not os.path.exists({str(marker)!r}):\n"
        f"        open({str(marker)!r}, 'w').close(); os.kill(os.getpid(), 9)\n    return 1.0\n"
    )
    path = written(tmp_path / "data.jsonl", rows(600))
    run = ragstone.evaluate(path, [f"{source}:dies_once"], store=":memory:", on="dask:2")
    assert marker.exists()
    assert [position for position, *_ in run.stored.scores()] == list(range(1, 601))
    assert run.summary()["dies_once"].mean == 1.0


def test_a_function_with_a_budget_is_called_so_often_and_no_more(
    tmp_path: Path, calls: Any, cluster: Path
) -> None:
    path = written(tmp_path / "data.jsonl", rows(60))
    judge = {"model": JUDGE, "max_calls": 25}
    run = ragstone.evaluate(path, ["coherence"], judge=judge, store=":memory:", on=str(cluster))
    outcomes = [score["coherence"].outcome for score in run.scores().values()]
    assert calls().total() == outcomes.count("ok") == 25
    assert outcomes.count("skipped_budget") == 35


def test_an_embedded_first_judge_works_in_the_workers_and_the_strong_one_is_asked_once(
    tmp_path: Path, calls: Any, cluster: Path
) -> None:
    path = written(tmp_path / "data.jsonl", rows(30))
    judge = {"first": "offline", "then": JUDGE, "check": 0.5}
    metrics = ["faithfulness", "coherence"]
    alone = ragstone.evaluate(path, metrics, judge=judge, store=tmp_path / "alone.db")
    wanted = calls()
    far = ragstone.evaluate(path, metrics, judge=judge, store=tmp_path / "far.db", on=str(cluster))
    assert kept(far) == kept(alone)
    assert calls() == wanted


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_a_sample_that_kills_its_worker_is_isolated(tmp_path: Path, count: int) -> None:
    killer = f"s{count - 2}"
    data = rows(count, **{killer: "poison"})
    run = ragstone.evaluate(data, METRICS, judge=JUDGE, store=tmp_path / "a.db", on="dask:1")
    scores = run.scores()
    assert scores[killer]["coherence"].outcome == "judge_error"
    assert "killed its worker" in scores[killer]["coherence"].reason
    others = [score["coherence"].outcome for name, score in scores.items() if name != killer]
    assert others == ["ok"] * (count - 1)


@pytest.mark.slow
def test_failures_are_scored_again_by_the_workers(
    tmp_path: Path, calls: Any, calls_folder: Path, cluster: Path
) -> None:
    path = written(tmp_path / "data.jsonl", rows(60, **{f"s{n}": "moody" for n in range(0, 60, 3)}))
    alone = ragstone.evaluate(path, METRICS, judge=JUDGE, store=tmp_path / "alone.db")
    mood = calls_folder / "moody"
    mood.touch()
    store = tmp_path / "far.db"
    first = ragstone.evaluate(path, METRICS, judge=JUDGE, store=store, run_id="r", on=str(cluster))
    outcomes = [score["coherence"].outcome for score in first.scores().values()]
    assert outcomes.count("judge_error") == 20
    mood.unlink()
    calls()
    again = ragstone.evaluate(
        path, METRICS, judge=JUDGE, store=store, run_id="r", resume=True, retry_errors=True, on=str(cluster)
    )  # fmt: skip
    assert kept(again) == kept(alone)
    assert sum(calls().values()) == 20  # and nobody else was


def test_plain_metrics_and_rows_without_ids_are_the_same_too(tmp_path: Path, cluster: Path) -> None:
    data = [{k: v for k, v in row.items() if k != "id"} for row in rows(300)]
    path = written(tmp_path / "data.jsonl", data)
    alone = ragstone.evaluate(path, ["token_f1"], store=tmp_path / "alone.db")
    far = ragstone.evaluate(path, ["token_f1"], store=tmp_path / "far.db", on=str(cluster))
    assert kept(far) == kept(alone)
    in_memory = ragstone.evaluate(data, ["token_f1"], store=tmp_path / "third.db", on=str(cluster))
    assert kept(in_memory)[0] == kept(alone)[0]


@pytest.mark.slow
def test_changed_data_is_noticed_on_resume(tmp_path: Path, cluster: Path) -> None:
    data = rows(50)
    path = written(tmp_path / "data.jsonl", data)
    store = tmp_path / "far.db"

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ragstone.evaluate(path, METRICS, judge=JUDGE, store=store, run_id="r", watch=stop)
    data[0]["answer"] = "Somebody else."
    written(tmp_path / "data.jsonl", data)
    with pytest.raises(RagstoneError, match=r"sample 1 of .* has changed"):
        ragstone.evaluate(
            path, METRICS, judge=JUDGE, store=store, run_id="r", resume=True, on=str(cluster)
        )


def test_a_bad_row_is_named_by_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: Path
) -> None:
    monkeypatch.setattr(ragstone.experiments.execute, "CHECK_FIRST_BYTES", 0)
    path = tmp_path / "data.jsonl"
    good = "".join(json.dumps(row) + "\n" for row in rows(30))
    path.write_text(good + '\n{"question": }\n', encoding="utf-8")
    with pytest.raises(BadRows, match=r"data\.jsonl:32: not JSON"):
        ragstone.evaluate(str(path), ["token_f1"], store=tmp_path / "a.db", on=str(cluster))


@pytest.mark.slow
def test_an_id_given_twice_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: Path
) -> None:
    monkeypatch.setattr(ragstone.experiments.execute, "CHECK_FIRST_BYTES", 0)
    data = rows(40)
    data[33]["id"] = "s2"
    path = written(tmp_path / "data.jsonl", data)
    with pytest.raises(BadRows, match=r"data.jsonl:34: the id 's2' was given to an earlier row"):
        ragstone.evaluate(path, ["token_f1"], store=tmp_path / "a.db", on=str(cluster))


@pytest.mark.slow
def test_a_metric_of_the_users_own_goes_along(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from ragstone import metric\n\n@metric\ndef words(answer: str) -> float:\n"
        '    """Hundreds of words of the answer."""\n    return len(answer.split()) / 100\n'
    )
    name = f"{tmp_path / 'mine.py'}:words"
    run = ragstone.evaluate(rows(5), [name], store=tmp_path / "a.db", on="dask:1")
    assert [score["words"].value for score in run.scores().values()] == [
        0.06,
        0.08,
        0.1,
        0.12,
        0.14,
    ]


@pytest.mark.slow
def test_what_goes_wrong_on_a_worker_is_said(tmp_path: Path, cluster: Path) -> None:
    gone = tmp_path / "gone.py"
    gone.write_text((HERE / "judge_of_tests.py").read_text())

    def vanish(stored: Any, reading: Any) -> None:
        gone.unlink()

    with pytest.raises(RagstoneError, match=r"on the worker at .*there is no file"):
        ragstone.evaluate(
            rows(5), METRICS, judge=f"python:{gone}:judge", store=tmp_path / "a.db",
            on=str(cluster), started=vanish,
        )  # fmt: skip


def test_places_to_work_on() -> None:
    assert parse_location("dask:3") == 3
    assert parse_location("dask://127.0.0.1:8786") == "tcp://127.0.0.1:8786"
    assert parse_location("dask://10.1.2.3:8786") == "tls://10.1.2.3:8786"
    assert parse_location("tcp://10.1.2.3:8786") == "tcp://10.1.2.3:8786"
    for wrong in ("spark", "dask:0", "dask:x", "http://a:1", "nothing.json"):
        with pytest.raises(ClusterError):
            parse_location(wrong)


def test_a_judge_that_cannot_be_written_down_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RagstoneError, match="cannot be sent to workers"):
        ragstone.evaluate(
            rows(2), METRICS, judge=lambda ask: {"level": 0, "reason": ""},
            store=tmp_path / "a.db", on="dask:1",
        )  # fmt: skip


@pytest.mark.slow
def test_the_page_names_the_settings_that_our_own_clusters_have() -> None:
    page = (HERE.parents[1] / "docs" / "scale.md").read_text(encoding="utf-8")
    for line in format_exports(QUIET_DASK_SETTINGS):
        assert f"\n{line}\n" in page
