"""Structured sources are read as facts: key and value, with where they stand."""

from __future__ import annotations

import pytest

from ragstone.judges.offline.facts import find_facts


def say(text: str) -> list[str]:
    facts = find_facts(text)
    assert all(0 <= fact.start < fact.end <= len(text) for fact in facts)
    return [fact.text for fact in facts]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ('{"name": "Luna", "OutdoorSeating": true, "open": {"Monday": "9-17"}}', ["name: Luna", "Outdoor Seating: yes", "open Monday: 9-17"]),
        ('[{"plan": "Plus", "price": 20}, {"plan": "Pro", "price": 35}]', ["plan: Plus", "price: 20", "plan: Pro", "price: 35"]),
        ('{"plans": [{"plan": "Plus", "price": 20}, {"plan": "Pro", "price": 35}]}', ["plans: plan: Plus; price: 20", "plans: plan: Pro; price: 35"]),
        ("{'pets': False, 'music': None}", ["pets: no", "music: no"]),
        ('{"name": "cut off", "price": 2', ["name: cut off", "price: 2"]),
        ("name: Luna\nrooms:\n  double: 90\n  suite: 160", ["name: Luna", "rooms double: 90", "rooms suite: 160"]),
        ("| Room | Seats |\n|---|---|\n| Oak | 12 |\n| Pine | 8 |", ["Room: Oak; Seats: 12", "Room: Pine; Seats: 8"]),
        ("Month;Rain\nMarch;62\nApril;80", ["Month: March; Rain: 62", "Month: April; Rain: 80"]),
    ],
)  # fmt: skip
def test_records_are_facts(text: str, facts: list[str]) -> None:
    assert say(text) == facts


@pytest.mark.parametrize(
    "text",
    [
        "The pool is heated. It opens at nine.",
        "Anna: I would rather come on Thursday, since the plumber comes on Wednesday and somebody has to be there.\n"
        "Ben: That is fine.\nAnna: Good.",
        "[3] On July 18, Meta announced Llama 2: a model. It is open: anybody may use it.",
    ],
)
def test_prose_and_dialogue_have_no_facts(text: str) -> None:
    assert say(text) == []


def test_prose_around_a_table_is_kept() -> None:
    text = (
        "Prices of this year.\n\n| Room | Price |\n|---|---|\n| Oak | 12 |\n\nBreakfast is extra."
    )
    assert say(text) == ["Prices of this year.", "Room: Oak; Price: 12", "Breakfast is extra."]
