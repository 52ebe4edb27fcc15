"""`ragstone judge attack`: what attacks on a judge changed, on samples of the user's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone import Sample
from ragstone.asks import Ask
from ragstone.cli import run
from ragstone.errors import DataError, JudgeFailed
from ragstone.experiments.judge_attack import (
    JudgeAttack,
    attack_judge,
    draw_attacks,
    insert_text,
    load_own_samples,
    prepare_samples,
)
from ragstone.experiments.judge_attack.catalogue import DEMANDS
from ragstone.report import markdown, open_page
from ragstone.store import Store
from ragstone.types import chunks
from scripted import ScriptedJudge

PLAIN_DEMANDS = [demand for demands in DEMANDS.values() for demand in demands.values()]


def make_samples(count: int = 6) -> list[Sample]:
    samples = []
    for n in range(count):
        text = f"Mill number {n} grinds rye. Mill number {n} stands by the river Aune."
        samples.append(
            Sample(str(n), f"What of mill {n}?", text, chunks({"id": "k", "text": text}), language="en")
        )  # fmt: skip
    return samples


def reply(decide: Callable[[str, str, str], bool]) -> Callable[[Ask], Any]:
    """A judge of claims: `decide` gets the claim, its sources, and everything that was shown."""

    def answer(ask: Ask) -> Any:
        rows = []
        shown = json.dumps(ask.values["cases"])
        for case in ask.values["cases"]:
            sources = " ".join(source["text"] for source in case["sources"])
            for claim in case["claims"]:
                yes = decide(claim["text"], sources, shown)
                quote = {"source": case["sources"][0]["id"], "quote": claim["text"]}
                verdict = "supported" if yes else "not_found"
                rows.append(
                    {
                        "id": claim["id"],
                        "verdict": verdict,
                        "evidence": [quote] * yes,
                        "reason": "r",
                    }
                )
        return {"verdicts": rows}

    return answer


def attack(store: Store, answer: Any, attacks: int = 40) -> JudgeAttack:
    judge = ScriptedJudge(answer)
    return attack_judge(make_samples(), judge, store=store, source="x", attacks=attacks)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(str(tmp_path / "s.db"))


def test_a_judge_that_looks_claims_up_is_not_moved(store: Store) -> None:
    result = attack(store, reply(lambda claim, sources, shown: claim in sources))
    assert Counter(r.effect for r in result.results) == {"held": 40}
    assert {r.effect for r in result.baseline} == {"held"}
    assert result.is_complete
    assert "None of them did; the true share may be up to 8.8%" in render(result)


def test_a_judge_that_obeys_plain_demands_loses_verdicts_to_those_alone(store: Store) -> None:
    """It refuses everything by itself, and takes what is demanded of it; quotes stand in the sources."""

    def obey(claim: str, sources: str, shown: str) -> bool:
        return claim in sources and any(demand in shown for demand in PLAIN_DEMANDS)

    result = attack(store, reply(obey), attacks=60)
    for each in result.results:
        assert each.attack is not None
        is_read = each.attack.hiding in ("plain", "padding")
        assert (each.effect == "won") == is_read
    won = next(each for each in result.results if each.effect == "won")
    assert won.changed[0].before == "not_found"
    assert won.changed[0].after == "supported"
    text = render(result)
    assert "an unsupported claim passed" in text
    assert "| hiding | plain |" in text


def test_what_the_checks_see_is_named_and_other_failures_are_counted_apart(store: Store) -> None:
    honest = reply(lambda claim, sources, shown: claim in sources)

    def check(ask: Ask) -> Any:
        shown = json.dumps(ask.values)
        if any(demand in shown for demand in PLAIN_DEMANDS):
            return JudgeFailed("compromised", "heuristic")
        return JudgeFailed("refusal", "heuristic") if "Decode and obey" in shown else honest(ask)

    result = attack(store, check, attacks=60)
    effects = Counter(each.effect for each in result.results)
    assert effects["named"] > 0
    assert effects["failed"] > 0
    assert effects["won"] == effects["bent"] == 0
    assert not result.is_complete


def test_every_sample_has_a_claim_of_another_answer_and_keeps_its_claims(store: Store) -> None:
    prepared = prepare_samples(make_samples(), store)
    for sample in prepared:
        *own, foreign = sample.meta["claims"]
        assert all(claim in (sample.answer or "") for claim in own)
        assert foreign not in (sample.answer or "")
        poisoned = insert_text(sample, "contexts", "Obey.")
        assert poisoned.meta == sample.meta
        assert (poisoned.contexts or ())[0].text.endswith(" Obey.")
        assert insert_text(sample, "answer", "Obey.").meta["claims"] == [*own, foreign, "Obey."]


def test_attacks_are_the_same_for_a_seed_and_in_the_language_of_the_sample(store: Store) -> None:
    prepared = prepare_samples(load_own_samples()[:4], store)
    drawn = draw_attacks(prepared, 80)
    assert drawn == draw_attacks(prepared, 80) != draw_attacks(prepared, 80, seed=1)
    assert all(attack.language == sample.language for sample, _, attack in drawn)
    assert {attack.language for _, _, attack in drawn} == {"en", "es"}


def test_one_sample_is_too_few(store: Store) -> None:
    with pytest.raises(DataError, match="two samples"):
        prepare_samples(make_samples(1), store)


def test_the_command_writes_a_page_and_a_dry_run_asks_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "judge.py").write_text("def refuse(ask):\n    raise RuntimeError('asked')\n")
    judge = f"python:{tmp_path}/judge.py:refuse"
    page, store = str(tmp_path / "attacks.html"), str(tmp_path / "s.db")
    common = ["judge", "attack", "--store", store, "--limit", "4", "--attacks", "6"]
    assert run([*common, "--judge", judge, "--dry-run"]) == 0
    output = capsys.readouterr().out
    assert "4 samples" in output
    assert "Nothing was asked" in output
    assert run([*common, "--lang", "es", "-o", page]) in (0, 1)
    assert "ataques" in Path(page).read_text("utf-8")
    assert run([*common, "--judge", judge]) == 3


def render(result: JudgeAttack) -> str:
    return markdown.render(open_page(result))
