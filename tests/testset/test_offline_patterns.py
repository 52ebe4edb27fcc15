"""Sections, records, tables and definitions: what is asked of them, in English and Spanish, and what makes no question."""

from __future__ import annotations

import cProfile
import pstats

import pytest
from bench.testsets import Held

from ragstone.data.documents import Document
from ragstone.testset.index import CorpusIndex
from ragstone.testset.offline import gate
from ragstone.testset.offline.definitions import drop_references, find_definitions
from ragstone.testset.offline.frames import name_home
from ragstone.testset.offline.headings import is_telling
from ragstone.testset.offline.page import GRAMMARS, find_sentences, open_page
from ragstone.testset.offline.records import find_record_facts
from ragstone.testset.offline.sections import find_section_facts
from ragstone.testset.offline.stock import FactStock
from ragstone.testset.offline.tables import find_table_facts
from ragstone.testset.outline import clean_title, find_owner


def ask(text: str, language: str = "en", title: str = "") -> dict[str, str]:
    """Question → reference, from all sources of facts."""
    page = open_page(Document("d", text, title, language), language)
    sources = (find_definitions, find_record_facts, find_table_facts, find_section_facts)
    return {fact.question: fact.reference for source in sources for fact in source(page)}


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("This is a program that creates private networks.", "en"),
        ("It is used to convert between package formats.", "en"),
        ("The result is a file that contains all of them.", "en"),
        ("OpenVPN is a program as described above.", "en"),
        ("The file that you want is a list of names.", "en"),
        ("OpenVPN is a remarkably fast network program.", "en"),
        ("Esto es un programa que crea redes privadas virtuales.", "es"),
        ("OpenVPN es un programa como el que se describe en la sección 3.", "es"),
        ("El resultado es un fichero que contiene todos los nombres.", "es"),
        ("OpenVPN es un programa muy rápido, y se puede instalar en Debian.", "es"),
        ("Instalar es una tarea que lleva poco tiempo al usuario.", "es"),
    ],
)
def test_what_leans_on_something_else_is_not_asked(sentence: str, language: str) -> None:
    assert ask(sentence, language, "OpenVPN") == {}


MANUAL = """GREP(1)                User Commands                GREP(1)

NAME
       grep - print lines that match patterns

OPTIONS
       -v, --invert-match
              Select the lines without any of the patterns.

       --color
              Normally no colour is shown.

       -c     Print a count of the matching lines.
"""


def test_a_manual_page_is_asked_for_its_options_and_its_purpose() -> None:
    assert ask(MANUAL, title="GREP(1)") == {
        "What is `grep` used for?": "Print lines that match patterns.",
        "What does the `--invert-match` option of `grep` do?": "Select the lines without any of the patterns.",
        "What does the `-c` option of `grep` do?": "Print a count of the matching lines.",
    }


@pytest.mark.parametrize(
    ("purpose", "is_asked"),
    [
        ("dump the header of a device", True),
        ("command-line interface for the daemon", False),
        ("the interface of the daemon", False),
    ],
)
def test_a_purpose_is_asked_for_where_its_line_begins_with_a_verb(
    purpose: str, is_asked: bool
) -> None:
    text = MANUAL.replace("print lines that match patterns", purpose)
    assert ("What is `grep` used for?" in ask(text, title="GREP(1)")) is is_asked


def test_an_option_that_two_commands_of_a_page_have_is_not_asked() -> None:
    twice = MANUAL + "\nSNAPSHOTS\n       -c     Normally creates a snapshot.\n"
    assert "What does the `-c` option of `grep` do?" not in ask(twice, title="GREP(1)")
    commands = MANUAL.replace("OPTIONS", "COMMANDS")
    assert list(ask(commands, title="GREP(1)")) == ["What is `grep` used for?"]


def test_a_description_is_told_whole_or_not_at_all() -> None:
    question = "What does the `-c` option of `grep` do?"
    was = "Print a count of the matching lines."
    runs_on = "Write the counts to the log. -g group Specifies a group to match."
    assert question not in ask(MANUAL.replace(was, runs_on), title="GREP(1)")
    both = "Print a count of the lines. Lines that are empty do not count."
    assert ask(MANUAL.replace(was, both), title="GREP(1)")[question] == both
    long = f"Print a count of the lines. Print {'the whole of the text ' * 22}."
    assert question not in ask(MANUAL.replace(was, long), title="GREP(1)")


def test_a_menu_item_is_not_asked_for_because_its_name_says_what_it_does() -> None:
    text = "# Juego\n\nJuego → Demostración\n: Jugar una partida sin ayuda del ratón.\n"
    assert ask(text, "es", "Manual de Kuadro") == {}


def test_a_definition_is_of_what_its_page_or_section_is_about() -> None:
    model = "# {}\n\nA storage model is a model that tells how data are kept. It is shown below. Run `keep`.\n"
    assert ask(model.format("Other things"), title="Other things") == {}
    assert ask(model.format("Storage models"), title="Storage models") == {}, "of what?"
    named = "# OpenVPN\n\nOpenVPN is a program that tells how data are kept.\n\n## {}\n\nOpenVPN is a project that needs help of everybody.\n"
    assert list(ask(named.format("Helping"), title="OpenVPN")) == ["What is OpenVPN?"], (
        "further down it is told something else of it"
    )
    below = ask(model.format("Storage models"), title="Guide to Archiva 2")
    assert list(below) == ["According to “Guide to Archiva 2”, what is a storage model?"]
    nameless = ask(model.format("Storage models"), title="Guide to archives")
    assert nameless == {}, "a manual of what?"
    assert ask(model.format("Storage models"), title="keeping-data") == {}, "the name of a file"
    assert list(ask("OpenVPN is a program that joins private networks.", title="OpenVPN")) == [
        "What is OpenVPN?"
    ]


def test_a_column_without_figures_is_not_asked_for() -> None:
    text = "| Tool | Size |\n| --- | --- |\n| `a-b` | large |\n| `c-d` | 12 |\n"
    assert ask(text, title="Tools of the Anvil workshop") == {}


@pytest.mark.parametrize(
    ("title", "clean", "owner"),
    [
        ("Chapter 5. Packaging System", "Packaging System", ""),
        ("12.4. Manchas de café", "Manchas de café", ""),
        ("json — Python 3.11.2 documentation", "json", ""),
        ("Casa Almendro: envíos", "Casa Almendro: envíos", "Casa Almendro"),
        ("Warning: read this", "Warning: read this", ""),
    ],
)
def test_titles(title: str, clean: str, owner: str) -> None:
    assert (clean_title(title), find_owner(clean_title(title))) == (clean, owner)


@pytest.mark.parametrize(
    ("title", "text", "product"),
    [
        ("Testing — Flask Documentation (2.2.x)", "Use the client of Flask.", "Flask"),
        ("Vim documentation: insert", "Insert mode of Vim.", "Vim"),
        ("Wordlists — diceware 0.10 documentation", "Words are drawn.", "diceware"),
        (
            "Manual de aprendizaje de GNU LilyPond: 2.3 Errores",
            "Los errores de LilyPond.",
            "GNU LilyPond",
        ),
        ("Texto", "Ayuda de LibreOffice 7.4\n\n# Texto\n\nEl texto de LibreOffice.", "LibreOffice"),
        ("El manual", "El manual de uso.", ""),
        ("Options manual", "See Options.", ""),
    ],
)
def test_the_product_is_the_one_whose_manual_a_page_says_it_is(title: str, text: str, product: str) -> None:  # fmt: skip
    language = "es" if "manual" in title.lower() or "Ayuda" in text else "en"
    assert open_page(Document("d", text, title, language), language).product == product


def test_what_is_said_of_two_options_or_stops_in_the_middle_is_not_asked() -> None:
    for was, new in (
        ("-v, --invert-match", "-invert +invert"),
        ("any of the patterns.", "any of the patterns;"),
        ("grep - print lines", "grep, egrep - print or count lines"),
    ):
        assert len(ask(MANUAL.replace(was, new), title="GREP(1)")) == len(ask(MANUAL, title="GREP(1)")) - 1  # fmt: skip


def test_the_next_line_of_a_table_of_contents_is_no_answer() -> None:
    text = "# FAQ\n\n## Can Privoxy run as a service?\n\n{}Can Privoxy be run by any user of the machine.\n"
    assert len(ask(text.format(""), title="Privoxy manual")) == 1
    assert ask(text.format("1.2. "), title="Privoxy manual") == {}


def test_a_reference_is_cut_before_a_pointer_only_where_a_sentence_begins() -> None:
    text = "Crea una entrada nueva. Debe escribir un nombre antes de que pueda ver esta orden."
    assert drop_references(text) == text
    assert drop_references("Prints the list. See section 3.") == "Prints the list."


def test_a_path_through_menus_is_one_sentence() -> None:
    text = "En LibreOffice, si desea crear una plantilla de Writer, elija Archivo ▸ Plantillas ▸ Guardar."
    page = open_page(Document("d", text, "x", "es"), "es")
    assert len(find_sentences(page, page.sections[0].block)) == 1


def test_options_of_a_command_with_commands_of_its_own_are_not_asked() -> None:
    with_commands = MANUAL + "\nCOMMANDS\n       dump   Write all lines to a file.\n"
    assert any("option" in question for question in ask(MANUAL, title="GREP(1)"))
    assert not any("option" in question for question in ask(with_commands, title="GREP(1)"))


def test_the_mark_of_an_answer_is_no_part_of_it_and_a_question_says_what_it_is_about() -> None:
    text = "# FAQ\n\n## {}\n\nA: Because every screen shows colors differently.\n\n## Next\n\nX."
    (reply,) = ask(
        text.format("Why is color management important?"), title="Colors of screens"
    ).values()
    assert reply.startswith("Because")
    assert ask(text.format("Can I?"), title="Colors of screens") == {}


GUIDE = """# Linden Bikes: prices

We rent bikes by the river.

## Refunds

The pass is refunded within a week of the purchase. We need the receipt and the card that was used to pay for it.

## Opening hours

- Monday to Friday from nine to six
- Saturday from ten to two
- Sunday by appointment

## Cleaning your bike

Use the chain in the basket. You must lock both wheels.

1. Open the lock with the key.
2. Pull the chain through both wheels.
"""


def test_a_short_section_is_asked_for_by_what_its_heading_is() -> None:
    assert ask(GUIDE, title="Linden Bikes: prices") == {
        "What does “Linden Bikes: prices” say under the heading “Refunds”?": "The pass is refunded within a week of the purchase. We need the receipt and the card that was used to pay for it.",
        "What does “Linden Bikes: prices” list under the heading “Opening hours”?": "Monday to Friday from nine to six; Saturday from ten to two; Sunday by appointment.",
        "What does “Linden Bikes: prices” say under the heading “Cleaning your bike”?": "Use the chain in the basket. You must lock both wheels. 1. Open the lock with the key. 2. Pull the chain through both wheels.",
    }


@pytest.mark.parametrize(
    ("was", "new"),
    [
        ("## Opening hours", "## Refunds"),
        ("pay for it.\n", "pay for it.\n\nA picture of a receipt\n\nMore is not needed.\n"),
        ("The pass is refunded within a week of the purchase. We need", "More is told in the guide. See the receipts. I"),
        ("The pass is refunded", "It is refunded"),
        ("The pass is refunded within a week of the purchase.", "The pass is refunded as described below."),
        ("## Refunds\n", "## Refunds\n\n### By post\n"),
    ],
)  # fmt: skip
def test_a_section_that_is_not_whole_is_not_asked_for(was: str, new: str) -> None:  # fmt: skip
    changed = GUIDE.replace(was, new)
    assert changed != GUIDE
    refunds = [question for question in ask(changed, title="Linden Bikes: prices") if "Refunds" in question]  # fmt: skip
    assert refunds == []


@pytest.mark.parametrize("heading", ["Overview", "More information", "Table of contents", "See also"])  # fmt: skip
def test_a_heading_that_tells_nothing_is_not_asked_for(heading: str) -> None:
    asked = ask(GUIDE.replace("Refunds", heading), title="Linden Bikes: prices")
    assert len(asked) == 2
    assert not any("pass is refunded" in reference for reference in asked.values())


def test_a_heading_is_quoted_so_that_nothing_of_it_has_to_fit_into_a_sentence() -> None:
    for heading in ("Refund it", "How reports are handled", "`money_back`:", "LATE RETURNS"):
        reply = ask(GUIDE.replace("## Refunds", f"## {heading}"), title="Linden Bikes: prices")
        label = heading.strip("`:")
        assert f"What does “Linden Bikes: prices” say under the heading “{label}”?" in reply


@pytest.mark.parametrize("title", ["Overview", "prices", "linden-prices"])
def test_a_page_without_a_name_of_its_own_gives_no_questions(title: str) -> None:
    page = Document("shop/linden-prices.md", GUIDE.replace("Linden Bikes: prices", "x"), title, "en")  # fmt: skip
    assert list(find_section_facts(open_page(page, "en"))) == []


@pytest.mark.parametrize(
    ("heading", "is_told"),
    [("Late returns", True), ("Notes", False), ("Notes on safety", True), ("word " * 13, False)],
)
def test_a_heading_tells_something_by_a_word_of_its_own(heading: str, is_told: bool) -> None:
    assert is_telling(heading, "en") is is_told


def test_an_entry_of_a_glossary_is_asked_for_its_meaning() -> None:
    text = "# {}\n\nhold\n: A book that is kept back for a reader with a card.\n"
    asked = ask(text.format("Glossary of the library"), title="Glossary of the library")
    assert asked == {
        "What does “hold” mean in “Glossary of the library”?": "A book that is kept back for a reader with a card."
    }
    assert ask(text.format("Rules of the library"), title="Rules of the library") == {}


def test_a_table_is_asked_for_amounts_of_rows_that_its_page_has_once() -> None:
    text = (
        "# Tickets of the museum\n\n| Ticket | Price | Remark |\n| --- | --- | --- |\n"
        "| Adult | £12.50 | valid all day |\n| Student | £6 | with a card |\n"
    )
    asked = {
        "What does the table of “Tickets of the museum” give for “Adult” in the column “Price”?": "£12.50",
        "What does the table of “Tickets of the museum” give for “Student” in the column “Price”?": "£6",
    }
    assert ask(text, title="Tickets of the museum") == asked
    twice = f"{text}\n## Groups\n\n| Ticket | Price | Remark |\n| --- | --- | --- |\n| Adult | £9 | x |\n| Child | £2 | x |\n"
    assert list(ask(twice, title="Tickets of the museum").values()) == ["£6", "£2"]
    below = "table under the heading “Groups” of “Tickets of the museum”"
    assert any(below in question for question in ask(twice, title="Tickets of the museum"))
    assert ask(text, title="Prices") == {}, "of whom?"
    spanned = text.replace("| Student | £6 |", "| Student |")
    assert ask(spanned, title="Tickets of the museum") == {}, "a cell may stand for several rows"
    no_header = text.replace("| Ticket | Price | Remark |", "| House | 2 floors | large |")
    assert ask(no_header, title="Tickets of the museum") == {}


def test_a_table_gives_a_few_questions() -> None:
    rows = "".join(f"| Room {letter} | {n} beds |\n" for n, letter in enumerate("abcdefgh", 2))
    reply = ask(f"| Room | Size |\n| --- | --- |\n{rows}", title="Rooms of the house")
    assert list(reply.values()) == ["2 beds", "3 beds", "4 beds"]


def test_a_heading_that_asks_is_answered_by_its_short_section() -> None:
    text = "# FAQ\n\n## Why is color management important?\n\nBecause every screen shows colors differently.\n\n## Next\n\nX."
    facts = ask(text, title="Colors of screens")
    asked = "According to “Colors of screens”, why is color management important?"
    assert facts[asked] == "Because every screen shows colors differently."
    items = text.replace("differently.", "differently:\n\n- some are blue\n- some are red")
    assert ask(items, title="Colors of screens")[asked].endswith("some are blue; some are red.")
    long = text.replace("differently.", f"differently. {'And so on it goes. ' * 70}")
    assert asked not in ask(long, title="Colors of screens")
    assert ask(text) == {}, "of which screens?"


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("How to set up Quassel?", ""),
        (
            "How can I reach the Quassel core?",
            "According to “The IRC server”, how can I reach the Quassel core?",
        ),
        ("How can I reach the IRC server?", "How can I reach the IRC server?"),
        ("What is Quassel?", "What is Quassel?"),
        ("Why run Quassel?", ""),
        ("Can I book?", ""),
        ("Missing albums?", ""),
    ],
)
def test_a_heading_that_asks_is_framed_where_it_needs_it(heading: str, question: str) -> None:
    text = f"# Server\n\n## {heading}\n\nYou can open the page of Quassel and then start the Quassel core.\n"
    assert list(ask(text, title="The IRC server")) == ([question] if question else [])


@pytest.mark.parametrize(
    ("reference", "is_clean"),
    [
        ("Pulse en la lista. La lista muestra las ventanas abiertas.", True),
        ("Lista de ventanas La lista muestra las ventanas abiertas.", False),
        ("334 Las configuraciones rara vez son perfectas.", False),
        ("La decisión es final. Anterior; Subir; Inicio; Siguiente.", False),
        ("Muestra el correo. vale por defecto.", False),
        ("Menú del usuario Menú del usuario Pulse en el menú.", False),
    ],
)
def test_what_ran_into_a_reference_is_seen(reference: str, is_clean: bool) -> None:
    assert (gate.explain_cut(reference, GRAMMARS["es"]) == "") is is_clean


def count_calls(headings: int) -> int:
    """Calls of functions that a page with so many sections takes."""
    text = "# Rules of Larkfield\n\n" + "".join(
        f"## Topic{at} widgets\n\nThe topic{at} widgets of Larkfield are kept in room {at} of the house.\n\n"
        for at in range(headings)
    )
    profile = cProfile.Profile()
    page = open_page(Document("d", text, "Rules of Larkfield", "en"), "en")
    profile.enable()
    found = len(list(find_section_facts(page)))
    profile.disable()
    assert found > 0.9 * headings
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def test_the_work_grows_with_the_headings_of_a_page_and_not_with_their_square() -> None:
    assert count_calls(400) < 6 * count_calls(100)


def facts_of(text: str, title: str = "Rules of the library") -> list[str]:
    """The questions that a corpus of one document gives."""
    document = Document("d.md", text, title, "en")
    with CorpusIndex(Held([document])) as index:
        return [fact.question for fact in FactStock(index).load_facts(document, "en")]


def test_what_stands_twice_in_a_document_is_not_asked_for() -> None:
    page = "# Rules of the library\n\n## Fees\n\nA fee of two euros is due for each late book.\n\n## {}\n\nNine euros are due for each lost book.\n"
    assert len(facts_of(page.format("Fines"))) == 2
    assert facts_of(page.format("Fees")) == []


def test_a_title_that_two_documents_of_a_folder_have_names_neither() -> None:
    text = "# Rules of the library\n\n## Fees\n\nA fee of two euros is due for each late book.\n"
    first = Document("a/1.md", text, "Rules of the library", "en")
    for other, is_asked in (("a/2.md", False), ("b/2.md", True)):
        second = Document(other, text.replace("two", "six"), "Rules of the library", "en")
        with CorpusIndex(Held([first, second])) as index:
            assert bool(FactStock(index).load_facts(first, "en")) is is_asked


def test_a_comment_is_no_part_of_a_reference() -> None:
    text = GUIDE.replace("The pass is refunded", "The pass <!-- staff: 300 days --> is refunded")
    asked = ask(text, title="Linden Bikes: prices")
    assert asked["What does “Linden Bikes: prices” say under the heading “Refunds”?"].startswith("The pass is refunded")  # fmt: skip


def test_numbers_of_articles_are_no_part_of_a_topic() -> None:
    text = "# Reglamento de la piscina\n\n## Artículo 2. Entradas y abonos\n\nLas entradas y los abonos se venden en la taquilla hasta las ocho.\n"
    assert list(ask(text, "es", "Reglamento de la piscina")) == [
        "¿Qué se indica en el apartado «Entradas y abonos» de «Reglamento de la piscina»?"
    ]


@pytest.mark.parametrize(
    ("place", "title", "home"),
    [
        ("a/README.md", "@scope/tool", "the README of @scope/tool"),
        ("a/rules.html", "Rules | Elm Street Clinic", "“Rules” (Elm Street Clinic)"),
        ("a/x.html", "Alarms — Open Valve 3.1 documentation", "“Alarms” (Open Valve)"),
        ("valve-common/x.html", "Alarms", "“Alarms” (Valve)"),
        ("a/x.html", "Working time", "“Working time”"),
        ("a/x.html", "Code of Conduct", ""),
        ("a/GmManualAlarmsPage.html", "GmManualAlarmsPage < Gm < Wiki", "“Alarms of the Valve”"),
    ],
)  # fmt: skip
def test_a_page_is_named_by_all_that_tells_whose_it_is(place: str, title: str, home: str) -> None:
    text = "# Alarms of the Valve\n\nThe alarms of Valve ring twice. With Valve nobody sleeps, and Valve is loud. We call it Open Valve.\n"
    assert name_home(open_page(Document(place, text, title, "en"), "en")) == home


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("Click the button of the window. Then click again.", ""),
        ("Run `code`.", ""),
        ("The door is shut at ten.", "“Colour schemes”"),
    ],
)
def test_a_page_about_a_program_needs_the_name_of_the_program(text: str, home: str) -> None:
    assert name_home(open_page(Document("a/x.html", text, "Colour schemes", "en"), "en")) == home


def test_a_section_of_links_or_of_a_pointer_is_not_asked_for() -> None:
    page = "# Rules of the library\n\n## Fees\n\n{}\n"
    links = "- [All of the fees](a.html)\n- [The fees of last year](b.html)\n- [The fees of this year](c.html)\n"
    plain = links.replace("[", "").replace("]", "").replace("(", "in ").replace(")", "")
    assert facts_of(page.format(plain)) != []
    assert facts_of(page.format(links)) == []
    assert facts_of(page.format("The fees of the library are described in the guide.")) == []
    assert facts_of(page.format("The fees of the library are due each year; for those of clubs see Fees of Clubs.")) == []  # fmt: skip
    assert facts_of(page.format("`fees = 3` `fees = fees + 1` `print(fees of all the books)`")) == []  # fmt: skip


def test_what_a_heading_is_tells_the_kind() -> None:
    page = open_page(Document("d", GUIDE.replace("## Refunds", "## How to get your money back"), "Linden Bikes: prices", "en"), "en")  # fmt: skip
    assert [(fact.kind, fact.pattern) for fact in find_section_facts(page)] == [
        ("how_to", "heading"), ("aggregation", "list"), ("conceptual", "heading"),
    ]  # fmt: skip


def test_a_page_of_a_program_names_its_documentation_and_a_page_of_a_house_the_house() -> None:
    text = "The alarms of Valve ring twice. With Valve nobody sleeps, and Valve is loud.{}"
    for more, home in ((" Run `valve`.", "“Alarms” in the Valve documentation"), ("", "“Alarms” (Valve)")):  # fmt: skip
        page = open_page(Document("valve/x.html", text.format(more), "Alarms", "en"), "en")
        assert name_home(page) == home


@pytest.mark.parametrize(
    ("folder", "text", "product"),
    [
        ("front-end-checklist", "The Front-End Checklist is long. Front-End work is hard. Front-End people rest. With Front-End come bugs.", "Front-End Checklist"),
        ("elm-street-clinic", "Elm Street Clinic is open all day.", "Elm Street Clinic"),
        ("user-guides", "The user reads. A user asks. User of all.", ""),
        ("security", "For security we lock doors. Good security costs money, and security pays.", ""),
        ("restic", "With restic files are kept. Start `restic`. Use restic daily, or call restic weekly.", "restic"),
    ],
)  # fmt: skip
def test_a_folder_is_called_by_its_whole_name(folder: str, text: str, product: str) -> None:
    page = open_page(Document(f"{folder}/x.html", text, "Alarms", "en"), "en")
    assert page.product == product


def test_a_box_goes_on_with_its_section_and_an_owner_is_named_by_its_page() -> None:
    text = "# Rules of the library\n\n## Fees\n\nA fee of two euros is due for each late book.\n\n### Note\n\nChildren pay nothing.\n"
    assert list(ask(text, title="Rules of the library").values()) == ["A fee of two euros is due for each late book. Children pay nothing."]  # fmt: skip
    page = open_page(Document("d", "Books are lent.", "Membership and Borrowing: questions", "en"), "en")  # fmt: skip
    assert page.owner == ""


def test_entries_that_ask_are_answered_by_what_stands_below_them() -> None:
    text = "# Questions of the library\n\nMay I bring my dog?\n: Dogs wait outside. There is water at the door.\n\nWho pays for lost books?\n: Whoever has borrowed them.\n\nMore follows.\n"
    assert ask(text, title="Questions of the library") == {
        "According to “Questions of the library”, may I bring my dog?": "Dogs wait outside. There is water at the door."
    }, "what stands behind the last entry may belong to it"
