from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from ragstone.errors import StoreError
from ragstone.judges.factory import make_judge
from ragstone.metrics import resolve
from ragstone.monitor import Archive, Monitor, log_writer
from ragstone.monitor.alert_text import format_alert
from ragstone.monitor.ingest.spool import Spool, SpoolFull
from ragstone.monitor.scoring.sampling import SamplingPolicy
from ragstone.monitor.scoring.scorer import Scorer
from ragstone.store import Store
from waiting import LIMIT_SECONDS, wait_until


def everything(place: str) -> dict[str, object]:
    return {
        interaction.id: interaction for interaction in Archive(Store.open(place)).interactions()
    }


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


def test_what_is_logged_is_in_the_store(place: str, spool: Path) -> None:
    with Monitor(place, spool=spool, app="shop") as monitor:
        first = monitor.log("q", ["text"], "a", feedback=1, latency=0.5, model="m", cost=0.1)
        monitor.log("q2", [{"id": "d", "text": "t", "score": 0.5}], "a2", id="mine")
        monitor.feedback(first, 0.0, "no")
        monitor.feedback("mine", "up")
    rows = everything(place)
    assert set(rows) == {first, "mine"}
    one = rows[first]
    assert (one.feedback, one.comment, one.latency, one.cost) == (0.0, "no", 0.5, 0.1)
    assert dict(one.meta) == {"app": "shop", "model": "m"}
    assert rows["mine"].contexts.ids == ["d"]
    assert rows["mine"].feedback == 1.0
    assert monitor.lost == 0


def test_odd_values_do_not_stop_anything(tmp_path: Path, spool: Path) -> None:
    place = str(tmp_path / "s.db")
    document = SimpleNamespace(page_content="body \x00", metadata={"source": "f.txt"})
    with Monitor(place, spool=spool) as monitor:
        monitor.log("q \ud800", [document, ("text", 0.5)], "a", id="x y", tags=["a", 1], none=None)
        monitor.log(None, None, None)
        monitor.log("q", 3, 4, "five", "slow", **{"a b": object})  # type: ignore[arg-type]
        monitor.log(object(), {"a": 1}, ["p", "q"], latency=float("nan"))  # type: ignore[arg-type]
        monitor.feedback("x", 17)
    rows = everything(place)
    assert [chunk.text for chunk in rows["x_y"].contexts] == ["body \ufffd", "text"]
    assert rows["x_y"].meta == {"tags": "['a', 1]"}
    assert monitor.counts["invalid"] == 3  # nothing said; feedback "five"; feedback 17
    assert len(rows) == 2


def test_times_and_numbers_of_python_people_are_taken(tmp_path: Path, spool: Path) -> None:
    place = str(tmp_path / "s.db")
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    times: dict[str, Any] = {
        "aware": noon,
        "local": noon.astimezone().replace(tzinfo=None),
        "other zone": noon.astimezone(timezone(timedelta(hours=5))),
        "numpy": numpy.datetime64("2026-05-01T12:00:00.000000000"),
        "seconds": numpy.float64(noon.timestamp()),
    }
    with Monitor(place, spool=spool) as monitor:
        for at in times.values():
            monitor.log(
                "q", numpy.array(["a text"]), "a", numpy.float32(1), timedelta(milliseconds=500),  # type: ignore[arg-type]
                at=at, tokens=numpy.int64(7), cost=Decimal("0.25"),
            )  # fmt: skip
        monitor.feedback(monitor.log("late", at=noon), numpy.int64(1))
    rows = everything(place)
    assert {row.at for row in rows.values()} == {round(noon.timestamp() * 1e6)}
    first = next(
        row for row in rows.values() if row.question == "q"
    )  # ids, and so their order, are drawn
    assert (first.feedback, first.latency, first.tokens, first.cost) == (1.0, 0.5, 7, 0.25)
    assert first.contexts.texts == ["a text"]
    assert (len(rows), monitor.lost) == (len(times) + 1, 0)


def test_what_is_refused_is_lost_and_said_in_one_line(
    tmp_path: Path, spool: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Monitor(str(tmp_path / "s.db"), spool=spool) as monitor:
        for _ in range(5):
            monitor.log("q", at="yesterday")
    assert monitor.lost == 5
    refused = [record.getMessage() for record in caplog.records if "refused" in record.getMessage()]
    assert len(refused) == 2, "the first at once, all of them at the end"
    assert "5 interactions were refused" in refused[1]


def test_while_the_store_is_away_the_spool_takes_it_and_gives_it_back(
    tmp_path: Path, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_writer, "FIRST_RETRY_SECONDS", 0.05)
    place = str(tmp_path / "s.db")
    away = True
    real = Store.open

    def sometimes(where: object) -> Store:
        if away:
            raise StoreError("away")
        return real(where)  # type: ignore[arg-type]

    monkeypatch.setattr(log_writer.Store, "open", sometimes)
    monitor = Monitor(place, spool=spool)
    ids = [monitor.log(f"q{n}", [], "a") for n in range(10)]
    monitor.feedback(ids[0], "down")
    assert monitor.flush(60)
    assert monitor.counts == {"spooled": 11}
    assert sum(1 for file in spool.iterdir() for _ in file.open()) == 11
    away = False
    wait_until(lambda: monitor.counts["stored"] == 11, "all is stored")
    monitor.close()
    monkeypatch.undo()
    rows = everything(place)
    assert set(rows) == set(ids)
    assert rows[ids[0]].feedback == 0.0
    assert not list(spool.iterdir())


def test_a_store_that_hangs_makes_nobody_wait(
    tmp_path: Path, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_writer, "COMMIT_TIMEOUT_SECONDS", 0.2)
    store = Store.open(tmp_path / "s.db")
    release = threading.Event()
    store.write(lambda db: release.wait(LIMIT_SECONDS) and None)
    monitor = Monitor(store, spool=spool)
    ids = [monitor.log(f"q{n}", [], "a") for n in range(5)]
    assert monitor.flush(60)  # on disk: in the spool
    assert monitor.counts["spooled"] == 5
    release.set()
    wait_until(lambda: not list(spool.iterdir()), "the spool is empty")
    monitor.close()
    assert {interaction.id for interaction in Archive(store).interactions()} == set(ids)


def test_only_a_full_spool_loses_and_the_loss_is_counted(tmp_path: Path, spool: Path) -> None:
    nowhere = tmp_path / "file"
    nowhere.write_text("no database")
    with Monitor(str(nowhere), spool=spool, spool_bytes=3000) as monitor:
        for n in range(40):
            monitor.log(f"question {n}", [], "a")
        monitor.flush(60)
        kept = sum(1 for file in spool.iterdir() for _ in file.open())
        assert 0 < kept < 40
        assert monitor.lost == 40 - kept
        assert sum(file.stat().st_size for file in spool.iterdir()) <= 3000


def test_more_than_the_queue_holds_goes_to_the_spool_not_away(
    tmp_path: Path, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_writer, "MAX_QUEUED_ROWS", 10)
    place = str(tmp_path / "s.db")
    with Monitor(place, spool=spool) as monitor:
        ids = [monitor.log(f"q{n}", [], "a") for n in range(500)]
    with Monitor(place, spool=spool) as again:  # what the first left in the spool
        again.log("one more", [], "a")
        wait_until(lambda: not list(spool.iterdir()), "the spool is empty")
    assert monitor.lost == 0
    assert set(ids) <= set(everything(place))


def test_a_hook_sees_every_text_before_it_is_stored(tmp_path: Path, spool: Path) -> None:
    seen = []

    def scrub(text: str, field: str) -> str:
        seen.append(field)
        return text.replace("hushed", "***")

    place = str(tmp_path / "s.db")
    with Monitor(place, spool=spool, redact=scrub) as monitor:
        monitor.log("hushed q", [{"id": "d", "text": "hushed"}], "hushed a", id="i",
                    comment="hushed", reference="hushed", error="hushed", tenant="hushed")  # fmt: skip
        monitor.feedback("i", comment="hushed too")
    assert set(seen) == {
        "question", "contexts", "answer", "comment", "reference", "error", "meta.tenant",
    }  # fmt: skip
    assert b"hushed" not in b"".join(file.read_bytes() for file in tmp_path.glob("s.db*"))


def test_what_the_hook_fails_on_is_not_stored_at_all(tmp_path: Path, spool: Path) -> None:
    def broken(text: str, field: str) -> str:
        raise ValueError(text)

    place = str(tmp_path / "s.db")
    with Monitor(place, spool=spool, redact=broken) as monitor:
        monitor.log("q", [], "a")
    assert monitor.counts == {"unredacted": 1}
    assert everything(place) == {}


def test_watched_functions_of_every_kind(tmp_path: Path, spool: Path) -> None:
    place = str(tmp_path / "s.db")
    monitor = Monitor(place, spool=spool)

    @monitor.watch
    def plain(question: str) -> tuple[str, list[str]]:
        return f"plain {question}", ["context"]

    @monitor.watch(model="m", question="asked")
    async def later(user: int, asked: str) -> dict[str, object]:
        return {"answer": f"later {asked}", "documents": [{"id": "d", "text": "t"}], "cost": 0.5}

    @monitor.watch
    def pieces(question: str) -> Iterator[str]:
        yield "pie"
        yield "ces"

    @monitor.watch
    def fails(question: str) -> str:
        raise LookupError("nothing")

    class Bot:
        @monitor.watch
        def answer(self, question: str) -> str:
            return "bot"

    assert plain("q") == ("plain q", ["context"])
    assert asyncio.run(later(1, asked="q"))["answer"] == "later q"
    assert list(pieces("q")) == ["pie", "ces"]
    assert Bot().answer("q") == "bot"
    with pytest.raises(LookupError):
        fails("q")
    with monitor.interaction("q", tenant="t") as turn:
        turn.answer, turn.contexts, turn.feedback = "turned", [], True
    monitor.close()
    found = {one.answer: one for one in everything(place).values()}
    assert set(found) == {"plain q", "later q", "pieces", "bot", None, "turned"}
    assert {one.question for one in found.values()} == {"q"}
    assert found["later q"].cost == 0.5
    assert found["later q"].meta == {"model": "m"}
    assert found[None].error == "LookupError: nothing"
    assert found["turned"].feedback == 1.0
    assert all(one.latency is not None and one.latency >= 0 for one in found.values())


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
        capture_output=True,
        check=True,
        timeout=120,
    )


def test_the_end_of_the_process_loses_nothing(tmp_path: Path, spool: Path) -> None:
    place = str(tmp_path / "s.db")
    run(
        """
        import sys
        from ragstone import Monitor
        monitor = Monitor(sys.argv[1], spool=sys.argv[2])
        for n in range(300):
            monitor.log(f"q{n}", [], "a", id=str(n))
        """,
        place,
        str(spool),
    )
    assert len(everything(place)) == 300
    assert not spool.exists() or not list(spool.iterdir())


def test_parent_and_forked_children_all_log(place: str, spool: Path) -> None:
    run(
        """
        import os, sys
        from ragstone import Monitor, Store
        monitor = Monitor(Store.open(sys.argv[1]), spool=sys.argv[2])
        monitor.log("q", [], "a", id="before")
        children = []
        for n in range(3):
            child = os.fork()
            if child == 0:
                for m in range(20):
                    monitor.log("q", [], "a", id=f"child{n}-{m}")
                monitor.close(timeout=60)
                kept = monitor.counts["stored"] + monitor.counts["spooled"]
                os._exit(0 if kept >= 20 and not monitor.lost else 9)
            children.append(child)
        for m in range(20):
            monitor.log("q", [], "a", id=f"parent-{m}")
        for child in children:
            assert os.waitpid(child, 0)[1] == 0
        """,
        place,
        str(spool),
    )
    with Monitor(place, spool=spool) as after:  # a busy machine may have sent some to the spool
        after.log("q", [], "a", id="after")
        wait_until(lambda: not spool.exists() or not list(spool.iterdir()), "the spool is empty")
    assert len(everything(place)) == 82


def test_the_spool_of_a_dead_process_is_adopted_and_half_a_line_is_dropped(spool: Path) -> None:
    run(
        """
        import os, sys
        from pathlib import Path
        from ragstone.monitor.ingest.spool import Spool
        spool = Spool(Path(sys.argv[1]), 10_000)
        spool.append([{"n": 1}, {"n": 2}])
        os.kill(os.getpid(), 9) if os.fork() == 0 else os.wait()
        os._exit(0)
        """,
        str(spool),
    )
    (left,) = spool.glob("*.part")
    with left.open("ab") as file:
        file.write(b'not json\n{"n": ')
    live = Spool(spool, 10_000)
    live.append([{"n": 3}])
    other = Spool(spool, 10_000)
    (found,) = other.collect_files()
    assert list(Spool.read_rows(found)) == [{"n": 1}, {"n": 2}, None]
    assert [row for file in live.collect_files() for row in Spool.read_rows(file)] == [
        {"n": 1}, {"n": 2}, None, {"n": 3},
    ]  # fmt: skip
    with pytest.raises(SpoolFull):
        live.append([{"text": "x" * 20_000}])


class Unspeakable:
    """A value that cannot be written."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    "odd",
    [10**400, -(10**400), 10**5000, Unspeakable(), float("inf")],
    ids=["large", "small", "too long to print", "unspeakable", "infinite"],
)
def test_an_odd_meta_value_costs_neither_its_interaction_nor_the_batch(
    tmp_path: Path, spool: Path, odd: object
) -> None:
    place = str(tmp_path / "s.db")
    with Monitor(place, spool=spool) as monitor:
        monitor.log("q", [], "a", id="before")
        monitor.log("q", [], "a", id="odd", n=odd)
        monitor.log("q", [{"text": "t", "score": odd}], "a", id="score")
        monitor.log("q", [], "a", id="after")
    rows = everything(place)
    assert set(rows) == {"before", "odd", "score", "after"}
    assert isinstance(rows["odd"].meta["n"], str)  # type: ignore[attr-defined]
    assert monitor.lost == 0


@pytest.mark.parametrize(
    "odd",
    [Unspeakable(), {"answer": "a", "usage": {"total_tokens": 10**400}}, {"answer": Unspeakable()}],
    ids=["unspeakable", "huge usage", "unspeakable answer"],
)
def test_a_watched_function_returns_whatever_it_returns(
    tmp_path: Path, spool: Path, odd: object
) -> None:
    place = str(tmp_path / "s.db")
    with Monitor(place, spool=spool) as monitor:

        @monitor.watch
        def answer(question: object) -> object:
            return odd

        @monitor.watch
        def stream(question: object) -> Iterator[object]:
            yield odd

        assert answer("q?") is odd
        assert answer(Unspeakable()) is odd
        assert list(stream("q?")) == [odd]
        with monitor.interaction("q?") as turn:
            turn.meta[1] = "one"  # type: ignore[index]
    assert len(everything(place)) == 4
    assert monitor.lost == 0


def test_what_nobody_thought_of_is_one_invalid_interaction(
    tmp_path: Path, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gentle = log_writer.coerce_row

    def breaks(row: dict[str, object]) -> dict[str, object]:
        if row["id"] == "odd":
            raise ZeroDivisionError("nobody thought of this")
        return gentle(row)

    monkeypatch.setattr(log_writer, "coerce_row", breaks)
    place = str(tmp_path / "s.db")
    with Monitor(place, spool=spool) as monitor:
        for id in ("before", "odd", "after"):
            monitor.log("q", [], "a", id=id)
        monitor.log("q", [], "a", id=Unspeakable())  # type: ignore[arg-type]
        monitor.feedback(Unspeakable(), "up")  # type: ignore[arg-type]
    assert {"before", "after"} <= set(everything(place))
    assert (monitor.counts["invalid"], monitor.lost) == (1, 1)


def test_an_odd_row_of_the_spool_holds_up_no_other(
    tmp_path: Path, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = log_writer.parse_interaction

    def breaks(row: dict[str, object]) -> object:
        if row["id"] == "odd":
            raise ZeroDivisionError("nobody thought of this")
        return read(row)

    left = Spool(spool, 10_000)
    left.append([{"id": id, "question": "q"} for id in ("before", "odd", "after")])
    left.close()
    monkeypatch.setattr(log_writer, "parse_interaction", breaks)
    place = str(tmp_path / "s.db")
    with Monitor(place, spool=spool) as monitor:
        monitor.log("q", [], "a", id="live")
        wait_until(lambda: not list(spool.iterdir()), "the spool is empty")
    assert set(everything(place)) == {"live", "before", "after"}
    assert monitor.counts["invalid"] == 1


def test_a_disk_that_fills_up_in_the_midst_of_a_row_eats_no_other(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = Spool(spool, 10_000)
    mine.append([{"n": 1}])
    write, calls = os.write, []

    def full(descriptor: int, data: memoryview) -> int:
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return write(descriptor, data[:4])

    with monkeypatch.context() as patched:
        patched.setattr("ragstone.monitor.ingest.spool.os.write", full)
        with pytest.raises(SpoolFull):
            mine.append([{"n": 2}])
    mine.append([{"n": 3}])
    assert [row for file in mine.collect_files() for row in Spool.read_rows(file)] == [
        {"n": 1},
        {"n": 3},
    ]


def test_what_cannot_be_cut_off_ends_its_file(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = Spool(spool, 10_000)
    mine.append([{"n": 1}])
    write, calls = os.write, []

    def full(descriptor: int, data: memoryview) -> int:
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return write(descriptor, data[:4])

    def stuck(descriptor: int, size: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr("ragstone.monitor.ingest.spool.os.write", full)
        patched.setattr("ragstone.monitor.ingest.spool.os.ftruncate", stuck)
        with pytest.raises(SpoolFull):
            mine.append([{"n": 2}])
    mine.append([{"n": 3}])
    rows = [row for file in mine.collect_files() for row in Spool.read_rows(file)]
    assert sorted(row["n"] for row in rows if row) == [1, 3]


def test_what_was_logged_is_summarised_checked_and_reported(tmp_path: Path) -> None:
    place = str(tmp_path / "s.db")
    scorer = Scorer(
        Archive(Store.open(place)), [resolve("faithfulness"), resolve("answer_relevance")],
        make_judge("offline"), SamplingPolicy(rate=1.0), language="en",
    )  # fmt: skip
    with Monitor(place) as monitor:
        for _ in range(6):
            monitor.log("How long is the warranty?", ["The warranty lasts two years."], "Bananas are yellow on Mars.")  # fmt: skip
        assert monitor.flush(LIMIT_SECONDS)
        asyncio.run(scorer.run_until_idle())
        whole = monitor.summary("1h").whole
        status = monitor.check()
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        report = monitor.report("daily", until=tomorrow.strftime("%Y-%m-%d"))
    assert (whole.interactions, whole.metrics["faithfulness"].scored) == (6, 6)
    (waiting,) = status.waiting
    assert re.search(r"faithfulness < 0.6\) if that still holds at \d{4}-", format_alert(waiting))
    assert report.failing == 6
    assert report.diagnoses, "a scale of the judge is known, although no server was there"
