"""Plain cases whose writers had seen neither the rules nor their tests: python bench/judge/unseen.py [FOLDER ...]

A folder of bench/judge/unseen holds expectations.jsonl (samples with what a user expects of their scores), pairs_en.toml and
pairs_es.toml (a source with a true and a false claim). Each is measured once with finished rules before anybody reads what
it missed; from then on it is a set like the others. Beside it stands plain containment of words."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from acceptance import check
from pairs import LANGUAGES, compute_shares, contain_pairs, judge_pairs, load_pairs

from ragstone.text.terms import extract_terms

FOLDER = Path(__file__).resolve().parent / "unseen"


def contain_expectations(path: Path) -> tuple[int, int]:
    """How many expectations of faithfulness containment meets, as the share of the answer's words that a source has, and of how many.

    Expectations that compare two rows are left out."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    wanted = [
        (row, row["expect"]["faithfulness"]) for row in rows
        if re.search(r"\d", row["expect"].get("faithfulness", "").partition(" ")[2][:1])
    ]  # fmt: skip
    return sum(_holds(_contain(row), bound) for row, bound in wanted), len(wanted)


def _contain(row: Mapping[str, Any]) -> float:
    words = set(extract_terms(row["answer"], row["language"]))
    known = set(extract_terms("\n".join(row["contexts"]), row["language"]))
    return len(words & known) / max(len(words), 1)


def _holds(value: float, wanted: str) -> bool:
    if " .. " in wanted:
        low, high = wanted.split(" .. ")
        return float(low) <= value <= float(high)
    sign, bound = wanted.split(" ", 1)
    return value >= float(bound) if sign == ">=" else value <= float(bound)


def measure_folder(folder: Path) -> None:
    """Print what the judge meets, and containment beside it."""
    found = list(check(path=folder / "expectations.jsonl"))
    faithfulness = [each for each in found if each.name == "faithfulness"]
    met, wanted = contain_expectations(folder / "expectations.jsonl")
    print(f"{folder.name}: {sum(each.met for each in found)} of {len(found)} expectations met; of faithfulness "
          f"{sum(each.met for each in faithfulness)} of {len(faithfulness)}, containment {met} of {wanted}")  # fmt: skip
    for expectation in found:
        if not expectation.met:
            print("  missed:", *expectation[:4], sep=" | ")
    for language in LANGUAGES:
        pairs = load_pairs(language, folder)
        judge = compute_shares(judge_pairs(pairs, language))
        baseline = compute_shares(contain_pairs(pairs, language))
        print(f"{folder.name}: {len(pairs)} pairs, {language}: true {judge[0]:.2f} false {judge[1]:.2f}"
              f" (containment {baseline[0]:.2f} {baseline[1]:.2f})")  # fmt: skip


if __name__ == "__main__":
    chosen = [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.iterdir())
    for folder in chosen:
        measure_folder(folder)
