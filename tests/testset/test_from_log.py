"""Test sets of what people asked: read, cleaned, joined, grouped, sampled, with documents that may answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone import generate, read
from ragstone.cli import run
from ragstone.errors import RagstoneError
from ragstone.monitor import Monitor
from ragstone.testset.from_log import LoggedQuestion, clean_log, join_questions, read_log
from ragstone.testset.items import Item
from ragstone.testset.sets import TestSet
from ragstone.text.personal import remove_personal

LOG = [
    "How do I return a tent?",
    "how do i return a tent",
    "Hi, how do I return a tent? Thanks!",
    "How do I reutrn a tent?",
    "hello",
    "thanks a lot",
    "ok",
    "What does delivery to Norway cost?",
    "what does delivery to norway cost??",
    "How do I return a tent?",
    "How do I return a tent?",
    "Can you tell me how I reset my password?",
    "and why?",
]


def asked(made: TestSet) -> dict[str, int]:
    return {item.question: item.asked["count"] for item in made.items}


def test_chatter_goes_and_what_is_the_same_is_joined_with_its_frequency() -> None:
    made = generate(log=LOG)
    assert asked(made) == {
        "How do I return a tent?": 6,
        "What does delivery to Norway cost?": 2,
        "How I reset my password?": 1,
    }
    assert "left out: 4 of chatter" in str(made)
    assert made.kinds == {"asked": 3}


def test_an_item_of_a_log_has_no_reference_and_is_read_back() -> None:
    item = generate(log=LOG).items[0]
    row = item.to_row()
    assert "reference" not in row
    assert Item.from_row(json.loads(json.dumps(row))) == item
    labelled = Item.from_row({**row, "reference": "At the desk."})
    assert labelled.to_row()["reference"] == "At the desk."


def test_documents_that_may_answer_are_candidates_and_no_truth(tmp_path: Path) -> None:
    documents = [
        {
            "id": "returns",
            "content": "# Returns\n\nA tent can be returned within 30 days with the receipt.",
        },
        {"id": "harbour", "content": "# Harbour\n\nThe harbour lights were lit in 1902."},
    ]
    made = generate(documents, log=LOG, out=tmp_path / "asked.jsonl")
    tent = next(item for item in made.items if "tent" in item.question)
    assert tent.asked["candidates"][0]["document"] == "returns"
    assert "30 days" in tent.asked["candidates"][0]["quote"]
    assert dict(tent.relevant) == {}
    sample = next(iter(read(str(tmp_path / "asked.jsonl")))).sample
    assert (sample.question, sample.reference, sample.relevant) == (
        made.items[0].question,
        None,
        None,
    )


FILES: dict[str, str] = {
    "searches.csv": "query,count\nreturn a tent,120\nReturn a Tent,30\nhi,9\nopening hours,7\n",
    "terms.csv": "Search term;Veces\nreturn a tent;120\nReturn a Tent;30\nhi;9\nopening hours;7\n".replace(
        ";", ","
    ),
    "searches.jsonl": "".join(
        json.dumps({"search_query": q, "hits": n}) + "\n"
        for q, n in (("return a tent", 120), ("Return a Tent", 30), ("opening hours", 7))
    ),
    "plain.txt": "return a tent\n" * 150 + "opening hours\n" * 7,
}


@pytest.mark.parametrize("name", FILES)
def test_logs_of_several_kinds_are_read_with_their_counts(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name], "utf-8")
    assert asked(generate(log=tmp_path / name)) == {"return a tent": 150, "opening hours": 7}


def test_chats_are_read_and_second_turns_that_need_the_first_are_left_out(tmp_path: Path) -> None:
    chat = {
        "messages": [
            {"role": "user", "content": "How do I return a tent?"},
            {"role": "assistant", "content": "Bring it."},
            {"role": "user", "content": "And for members?"},
            {"role": "assistant", "content": "Too."},
        ]
    }
    (tmp_path / "chats.jsonl").write_text(json.dumps(chat) + "\n")
    assert asked(generate(log=tmp_path / "chats.jsonl")) == {"How do I return a tent?": 1}


def test_questions_of_the_monitor(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    with Monitor(store) as monitor:
        for text in LOG:
            monitor.log(question=text, answer="So.")
    made = generate(from_monitor=True, store=store)
    assert asked(made)["How do I return a tent?"] == 6
    assert (
        run(
            [
                "generate",
                "--from-monitor",
                "--store",
                str(store),
                "-o",
                str(tmp_path / "m.jsonl"),
                "-q",
            ]
        )
        == 0
    )


PERSONAL = [
    ("My name is Ana López and I lost my card. How do I block it at the branch?", ("Ana", "López")),
    ("Where is my parcel? Write to ana.lopez@mail.example", ("ana.lopez", "mail.example")),
    ("Call me on +34 612 345 678, when does the shop open?", ("612", "678")),
    ("Why was card 4556 7375 8689 9855 declined?", ("4556", "9855")),
    ("Is transfer to GB29 NWBK 6016 1331 9268 19 possible?", ("NWBK", "6016")),
    ("Where is order no. QX-88123 now, the tent?", ("QX-88123",)),
    (
        "¿Cuándo llega mi paquete? Soy Rocío Benavente, DNI 45012871K",
        ("Rocío", "Benavente", "45012871"),
    ),
    ("Do you deliver to 12 Larkspur Lane, or only to the shop?", ("Larkspur",)),
]


@pytest.mark.parametrize(("text", "secrets"), PERSONAL)
def test_personal_data_is_taken_out_unless_redaction_is_off(
    text: str, secrets: tuple[str, ...]
) -> None:
    for one in generate(log=[text]).items:
        assert not any(secret in json.dumps(one.to_row(), ensure_ascii=False) for secret in secrets)
    assert any(secrets[-1] in text for text in [row.text for row in read_log([text])])


def test_what_is_no_personal_data_stays() -> None:
    for text in (
        "Price 1,200 to 3,400 euros for 2 adults?",
        "How many days in 2024-2025?",
        "I am looking for shoes in size 42",
        "Is the ticket valid 24 hours?",
    ):
        assert remove_personal(text) == text


def test_redaction_is_switched_off_or_done_by_a_hook() -> None:
    text = "Where is the parcel of Ana at ana@mail.example today?"
    assert [item.question for item in generate(log=[text], redact=False).items] == [text]
    hooked = generate(log=[text], redact=lambda text, field: text.replace("Ana", "Bea"))
    assert "Bea" in hooked.items[0].question
    with pytest.raises(RagstoneError, match="redaction hook"):
        generate(log=[text], redact="no.module:here")


def test_what_differs_by_a_figure_a_denial_or_the_thing_asked_is_not_joined() -> None:
    texts = [
        "Is there a discount for 2 adults?",
        "Is there a discount for 3 adults?",
        "Can I return worn shoes?",
        "Why can't I return worn shoes?",
        "How much is a day ticket?",
        "How long is a day ticket valid?",
    ]
    cleaned, _ = clean_log([LoggedQuestion(text) for text in texts], None)
    assert len(join_questions(cleaned)) == len(texts)


def test_a_small_sample_covers_topics_not_only_what_is_asked_most() -> None:
    topics = {
        "tents": [
            "How do I clean a tent?",
            "How do I pitch a tent in the wind?",
            "How do I dry a tent?",
            "How heavy is the family tent?",
        ],
        "loans": [
            "How many books can I borrow?",
            "Can I renew borrowed books?",
            "Where do I give borrowed books back?",
            "Who may borrow rare books?",
        ],
        "cards": [
            "Why was my credit card declined?",
            "Which credit cards are taken?",
            "Is a payment by card safe?",
            "Does paying by card cost a fee?",
        ],
    }
    log = [
        {"question": text, "count": 400 if topic == "tents" else 4}
        for topic, texts in topics.items()
        for text in texts
    ]
    chosen = {item.question for item in generate(log=log, n=6).items}
    assert all(chosen.intersection(texts) for texts in topics.values())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--from-log", "nowhere.csv"], "nowhere.csv"),
        (["--from-log", "x.csv", "--judge", "openai:m"], "leave one out"),
    ],
)
def test_a_mistake_is_one_sentence(arguments: list[str], says: str, capsys: Any) -> None:
    assert run(["generate", *arguments]) == 2
    assert says in capsys.readouterr().err
