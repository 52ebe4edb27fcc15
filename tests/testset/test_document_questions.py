"""Questions that a document asks itself: which are seen, what stands below them, and which are refused and why."""

from __future__ import annotations

import pytest

from ragstone.data.html import html_to_text
from ragstone.testset.document_questions import MAX_REFERENCE_CHARS, FoundQuestion, find_questions


def ask(text: str) -> list[tuple[str, str]]:
    return [(one.question, one.answer) for one in find_questions(text) if one.fault is None]


def one(text: str) -> FoundQuestion:
    (found,) = find_questions(text)
    return found


SHAPES = {
    "heading": "## How long is a ticket valid?\n\nTwo hours.\n\n## Prices\n\nOther text.",
    "underlined": "How long is a ticket valid?\n---------------------------\n\nTwo hours.\n\nPrices\n------\nOther.",
    "raw heading": "<h3>How long is a ticket valid?</h3>\n\nTwo hours.\n\n<h3>Prices</h3>\n\nOther.",
    "bold above": "**How long is a ticket valid?**\nTwo hours.\n\n**Prices**\n\nOther.",
    "bold before": "- **How long is a ticket valid?** Two hours.\n- **Prices:** other",
    "italics in a list": "* *How long is a ticket valid?* Two hours.\n* *Prices* are other.",
    "numbered": "1. **How long is a ticket valid?**\n\n   Two hours.\n\n2. **Is there a fine?**\n\n   TBD",
    "label": "Q: How long is a ticket valid?\nA: Two hours.\n\nQ: Is there a fine?\nA: TBD",
    "numbered labels": "Q1. How long is a ticket valid?\nA1. Two hours.\n# End",
    "bold labels": "**Q:** How long is a ticket valid?\n\n**A:** Two hours.\n\n---\n",
    "label in a heading": "#### Q: How long is a ticket valid?\n**A:** Two hours.\n",
    "term": "How long is a ticket valid?\n: Two hours.\n\n# End",
    "raw term": "<dl>\n<dt>How long is a ticket valid?</dt>\n<dd>Two hours.</dd>\n</dl>\n",
    "summary": (
        "<details>\n<summary><b>How long is a ticket valid?</b></summary>\n\nTwo hours.\n\n</details>\n"
        "\nOther."
    ),
    "rows of DocBook": "| 1.1. | How long is a ticket valid? |\n| | Two hours. |\n\n| 1.2. | Is there a fine? |\n| | TBD |\n",
    "row": "| Question | Answer |\n| --- | --- |\n| How long is a ticket valid? | Two hours. |\n",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_question_and_what_stands_below(shape: str) -> None:
    assert ask(SHAPES[shape]) == [("How long is a ticket valid?", "Two hours.")]


def test_lines_that_ask_by_themselves_count_from_two_on() -> None:
    two = "Camp\n\nWhat should my child bring?\n\nA torch.\n\nAre there vegetarian meals?\n\nYes."
    assert ask(two) == [
        ("What should my child bring?", "A torch."),
        ("Are there vegetarian meals?", "Yes."),
    ]
    assert ask("The river rose.\n\nWho would have thought it?\n\nNobody did, and so it went.") == []


def test_spanish_and_pages_of_html() -> None:
    page = (
        "<h2>Empadronamiento</h2><h3>¿Qué documentos necesito?</h3><p>El DNI.</p>"
        "<details><summary>¿Cuánto tarda?</summary>Nada.</details><dl><dt>¿Hay cita previa?</dt><dd>Sí.</dd></dl>"
    )
    text, _ = html_to_text(page)
    assert ask(text)[:2] == [("¿Qué documentos necesito?", "El DNI."), ("¿Cuánto tarda?", "Nada.")]
    assert ask(text)[2:] == [("¿Hay cita previa?", "Sí.")]
    assert ask("P: ¿Hay comedor?\nR: Sí, a diario.\n") == [("¿Hay comedor?", "Sí, a diario.")]


def test_headings_below_belong_to_the_answer_and_questions_do_not() -> None:
    text = (
        "# How do I ask for leave?\n\nUse the form.\n\n## Exceptions\n\nIn July.\n\n## Who decides on "
        "leave?\n\nYour manager.\n"
    )
    assert ask(text) == [
        ("How do I ask for leave?", "Use the form.\nExceptions\nIn July."),
        ("Who decides on leave?", "Your manager."),
    ]


def test_a_heading_may_ask_without_its_mark() -> None:
    assert ask("## What is the dress code\n\nThere is none.\n") == [
        ("What is the dress code", "There is none.")
    ]
    assert find_questions("## What you need\n\nA saw.\n\n## Python 3 support?\n\nYes.\n") == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("## Where can I park?\n\n## Next\n", "no_answer"),
        ("## Where can I park?\n\n[The map](map.md)\n", "no_answer"),
        ("## Where can I park?\n\nSee [the map](map.md).\n", "no_answer"),
        ("## Where can I park?\n\nSee the section on parking below.\n", "no_answer"),
        ("## ¿Dónde se aparca?\n\nVéase la página 12.\n", "no_answer"),
        ("## Where can I park?\n\nTBD\n", "no_answer"),
        ("## Where can I park?\n\n- 1.1 Is there a garage?\n- 1.2 Is there a fee?\n", "no_answer"),
        ("## How not to?\n\nBy steam.\n", "not_self_contained"),
        ("## Where can I park?\n\nPlease note:\n", "no_answer"),
        ("## How does it work?\n\nBy steam.\n", "not_self_contained"),
        ("## How do I install it?\n\nAsk the help desk.\n", "not_self_contained"),
        ("## Who should read this guide?\n\nParents.\n", "not_self_contained"),
        ("## Still have questions?\n\nWrite to us.\n", "not_self_contained"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_reason(text: str, fault: str) -> None:
    assert one(text).fault == fault
    assert one(text).detail


def test_offsets_are_those_of_the_document_and_code_is_no_question() -> None:
    text = (
        "# Help\n\n```\n## Is this code?\nyes\n```\n\n## How do I start the *mill*?\n\nTurn the **red** "
        "key:\n\n    key --on\n\n[Back to top](#top)\n"
    )
    found = one(text)
    assert text[found.start : found.end] == "Turn the **red** key:\n\n    key --on"
    assert found.answer.startswith("Turn the red key:")
    assert found.question == "How do I start the mill?"


def test_a_long_answer_ends_with_a_whole_paragraph() -> None:
    text = "## How do I start the mill?\n\n" + "\n\n".join(
        f"Step {n}: {'turn ' * 30}." for n in range(30)
    )
    found = one(text)
    assert MAX_REFERENCE_CHARS / 2 < len(found.answer) <= MAX_REFERENCE_CHARS
    assert found.answer.endswith("turn .") or found.answer.endswith("turn.")


def test_a_table_of_contents_gives_no_second_question_and_a_long_list_is_cut_at_an_item() -> None:
    rules = "".join(
        f"- Rule {n} says that everybody keeps to the path and shuts the gate.\n" for n in range(40)
    )
    text = f"# Help\n\n- What are the rules?\n- Who made the gate?\n\n## What are the rules?\n\nThere are many:\n\n{rules}\n## Who made the gate?\n\nAna Vega.\n"
    found = find_questions(text)
    assert [(one.question, one.form) for one in found] == [
        ("What are the rules?", "heading"), ("Who made the gate?", "heading"),
    ]  # fmt: skip
    assert found[0].answer.count("- Rule") > 10


@pytest.mark.parametrize("question", ["But what about the gate?", "Who built all that masonry?"])
def test_a_question_that_goes_on_from_the_one_before_stands_for_nothing_alone(question) -> None:
    (found,) = find_questions(f"# Help\n\n## {question}\n\nIt was built by Ana Vega in 1910.\n")
    assert found.fault == "not_self_contained"


def test_a_single_star_multiplies_and_names_keep_their_lines() -> None:
    text = "# Help\n\n## How do I find __builtin_new?\n\nWrite x*(a+b) as x*a + x*b.\n"
    (found,) = find_questions(text)
    assert (found.question, found.answer) == (
        "How do I find __builtin_new?", "Write x*(a+b) as x*a + x*b.",
    )  # fmt: skip
