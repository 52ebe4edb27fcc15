"""Sentence patterns and records: what is asked of them, in English and Spanish, and what makes no question."""

from __future__ import annotations

import pytest

from ragstone.data.documents import Document
from ragstone.testset.offline.clauses import drop_references, find_clause_facts
from ragstone.testset.offline.page import GRAMMARS, find_sentences, open_page
from ragstone.testset.offline.records import find_record_facts
from ragstone.testset.offline.tables import find_table_facts
from ragstone.testset.offline.tasks import find_heading_facts, read_task
from ragstone.testset.outline import clean_title, find_owner


def ask(text: str, language: str = "en", title: str = "") -> dict[str, str]:
    """Question → reference, from all sources of facts."""
    page = open_page(Document("d", text, title, language), language)
    sources = (find_clause_facts, find_record_facts, find_table_facts, find_heading_facts)
    return {fact.question: fact.reference for source in sources for fact in source(page)}


ENGLISH = [
    ("The tower was opened in 1993 by the mayor.", "when was the tower opened?", "1993"),
    ("The linen is stored in the cellar.", "where is the linen stored?", "In the cellar."),
    ("The hall has 140 seats and a stage.", "how many seats does the hall have?", "140 seats"),
    ("The pass costs 48 euros.", "how much does the pass cost?", "48 euros"),
]

SPANISH = [
    ("La torre se abrió en 1952 con dos salas.", "¿cuándo se abrió la torre?", "1952"),
    ("La ropa se guarda en el sótano.", "¿dónde se guarda la ropa?", "En el sótano."),
    ("El aparcamiento tiene 180 plazas.", "¿cuántas plazas tiene el aparcamiento?", "180 plazas"),
    ("El carné cuesta 9 euros.", "¿cuánto cuesta el carné?", "9 euros"),
]


@pytest.mark.parametrize(("sentence", "question", "reference"), ENGLISH)
def test_an_english_sentence_is_asked_for_what_it_tells(
    sentence: str, question: str, reference: str
) -> None:
    asked = ask(sentence, title="Linden House: guide")
    assert asked[f"At Linden House, {question}"] == (reference or sentence)


@pytest.mark.parametrize(("sentence", "question", "reference"), SPANISH)
def test_a_spanish_sentence_is_asked_for_what_it_tells(
    sentence: str, question: str, reference: str
) -> None:
    asked = ask(sentence, "es", "Casa Almendro: guía")
    assert asked[f"En Casa Almendro, {question}"] == (reference or sentence)


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


def test_a_description_ends_before_the_next_option_and_is_not_cut_before_another_case() -> None:
    question = "What does the `-c` option of `grep` do?"
    runs_on = "Write the counts to the log. -g group Specifies a group to match."
    cut = f"Print a count of the lines. If no line matches, print {'the whole of the text ' * 12}."
    was = "Print a count of the matching lines."
    told = ask(MANUAL.replace(was, runs_on), title="GREP(1)")
    assert told[question] == "Write the counts to the log."
    assert question not in ask(MANUAL.replace(was, cut), title="GREP(1)")


def test_a_menu_item_is_not_asked_for_because_its_name_says_what_it_does() -> None:
    text = "# Juego\n\nJuego → Demostración\n: Jugar una partida sin ayuda del ratón.\n"
    assert ask(text, "es", "Manual de Kuadro") == {}


def test_a_spanish_setting_is_asked_for_what_it_is_for() -> None:
    text = "# Ajustes\n\n`modo_demo`\n: Jugar una partida sin ayuda del ratón.\n"
    told = ask(text, "es", "Manual de Kuadro")
    assert list(told) == ["¿Para qué sirve `modo_demo` en Kuadro?"], "an infinitive"


def test_a_definition_is_of_what_its_page_or_section_is_about() -> None:
    model = "# {}\n\nA storage model is a model that tells how data are kept. Run `keep`.\n"
    assert ask(model.format("Other things"), title="Other things") == {}
    titled = ask(model.format("Storage models"), title="Storage models")
    assert list(titled) == ["What is a storage model?"], "its title would say the same again"
    below = ask(model.format("Storage models"), title="Guide to archives")
    assert list(below) == ["According to the page “Guide to archives”, what is a storage model?"]
    assert ask(model.format("Storage models"), title="keeping-data") == {}, "the name of a file"
    assert list(ask("OpenVPN is a program that joins private networks.", title="OpenVPN")) == [
        "What is OpenVPN?"
    ]


def test_a_definition_list_of_functions_is_read_as_records() -> None:
    text = "# Folders\n\n{}\n: Return the path of the current directory.\n"
    assert list(ask(text.format("getcwd()"), title="Kuadro Manual")) == [
        "What does `getcwd()` do in Kuadro?"
    ]
    assert ask(text.format("end"), title="Kuadro Manual") == {}, "a word"
    assert ask(text.format("NULL"), title="Kuadro Manual") == {}, "a value or an acronym"
    assert ask(text.format("kuadro.getcwd()"), title="Kuadro Manual") == {}, "names Kuadro already"


def test_a_table_is_read_as_records() -> None:
    text = (
        "# Ports\n\n| Service | Port | Description |\n| --- | --- | --- |\n"
        "| `sshd` | 22 tcp | The server of secure shells. |\n| `httpd` | 80 tcp | Serves the pages of the shop. |\n"
    )
    reply = ask(text, title="Ports — Debian 12 documentation")
    assert reply["In Debian, what is the port for `sshd`?"] == "22 tcp"
    assert ask(text, title="Ports") == {}, "of whom?"


def test_a_bare_number_in_a_table_lacks_its_unit() -> None:
    text = "| Tool | Size |\n| --- | --- |\n| `a-b` | 330 |\n| `c-d` | 12 |\n"
    assert ask(text, title="Tools") == {}


@pytest.mark.parametrize(
    ("heading", "language", "task"),
    [
        ("Installing PostgreSQL", "en", "install PostgreSQL"),
        ("How to mount a share", "en", "mount a share"),
        ("Instalar Samba", "es", "instalar Samba"),
        ("Cómo crear un usuario", "es", "crear un usuario"),
        ("Building blocks: an overview", "en", ""),
        ("Overview", "en", ""),
    ],
)
def test_a_heading_may_name_a_task(heading: str, language: str, task: str) -> None:
    grammar = open_page(Document("d", "x", "", language), language).grammar
    assert read_task(heading, grammar) == task


def test_the_steps_below_a_heading_are_its_answer() -> None:
    text = "# Guide\n\n## Installing PostgreSQL\n\n1. Download the archive.\n2. Run the setup.\n\n## Other\n\nText.\n"
    question = "According to the page “Databases in use”, how do I install PostgreSQL?"
    assert ask(text, title="Databases in use") == {
        question: "1. Download the archive. 2. Run the setup."
    }


def test_a_question_says_whose_document_it_is_about() -> None:
    reply = ask("The yearly pass costs 48 euros.", title="Linden Bikes: prices")
    assert reply == {"At Linden Bikes, how much does the yearly pass cost?": "48 euros"}
    reply = ask("The yearly pass costs 48 euros.", title="Prices of passes")
    assert reply == {
        "According to the page “Prices of passes”, how much does the yearly pass cost?": "48 euros"
    }
    assert ask("The yearly pass costs 48 euros.", title="Overview") == {}, "of any page"
    code = "The yearly pass costs 48 euros. Run `pay`."
    assert ask(code, title="Prices of passes") == {}, "a manual, whose nouns belong to a program"


MUSEUM = """# Visiting the {title}

The museum opens at 9.30 a.m. and closes at 5 p.m. The director, Ada Marsh, joined in 2017. The audio guide is £4 a person
and the tour lasts 40 minutes. Dogs and prams must be left at the desk by noon because it is small.

| Ticket | Price |
| --- | --- |
| Adult | £12.50 |
| Student | £6 |

## Is there a café?

Yes, on the first floor.
"""


def test_what_only_the_page_names_is_asked_with_the_name_of_the_page() -> None:
    reply = ask(MUSEUM.format(title="Harbour Toy Museum"), title="Visiting the Harbour Toy Museum")
    assert reply == {
        "When does the Harbour Toy Museum open?": "At 9.30 a.m.",
        "When does the Harbour Toy Museum close?": "At 5 p.m.",
        "At the Harbour Toy Museum, how much is the audio guide?": "£4 a person",
        "At the Harbour Toy Museum, how long does the tour last?": "40 minutes",
        "At the Harbour Toy Museum, by when must dogs and prams be left at the desk?": "By noon.",
        "At the Harbour Toy Museum, what is the price for “Adult”?": "£12.50",
        "At the Harbour Toy Museum, what is the price for “Student”?": "£6",
        "At the Harbour Toy Museum, is there a café?": "Yes, on the first floor.",
    }


def test_a_spanish_page_names_its_house_with_the_article() -> None:
    text = (
        "# Biblioteca Municipal de Robledal\n\nLa biblioteca abre de lunes a viernes y el carné cuesta 2 euros. "
        "Los préstamos se renuevan cada mes porque hay demanda. La responsable de sistemas, Nuria Belmonte, contesta.\n"
    )
    assert ask(text, "es", "Biblioteca Municipal de Robledal") == {
        "¿Cuándo abre la Biblioteca Municipal de Robledal?": "De lunes a viernes.",
        "En la Biblioteca Municipal de Robledal, ¿cuánto cuesta el carné?": "2 euros",
        "En la Biblioteca Municipal de Robledal, ¿cada cuánto se renuevan los préstamos?": "Cada mes.",
    }


@pytest.mark.parametrize(
    "sentence",
    [
        "The pass costs 48 euros, except on Sundays.",
        "Books are lent for three weeks and films for one week.",
        "Glass goes in the black box.",
        "Volunteers meet at 9.30 a.m. at the visitor centre.",
        "Those who ask pay £4.",
    ],
)
def test_a_fact_with_a_condition_or_a_second_half_is_not_asked(sentence: str) -> None:
    assert ask(sentence, title="Prices of passes") == {}


def test_a_short_section_of_somebody_is_asked_for_as_a_whole() -> None:
    text = "# Linden Bikes: prices\n\n## Refunds\n\nThe pass is refunded within a week. We need the receipt.\n"
    reply = ask(text, title="Linden Bikes: prices")
    assert reply["What does “Linden Bikes: prices” say about refunds?"] == (
        "The pass is refunded within a week. We need the receipt."
    )


@pytest.mark.parametrize(
    "heading", ["Overview", "Refund it", "REFUNDS", "What happens then to all the money"]
)
def test_a_heading_that_names_no_topic_is_not_asked_for(heading: str) -> None:
    text = f"# Linden Bikes: prices\n\n## {heading}\n\nThe pass is refunded within a week. We need the receipt.\n"
    assert not any("say about" in question for question in ask(text, title="Linden Bikes: prices"))


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


def test_a_heading_that_asks_is_answered_by_its_short_section() -> None:
    text = "# FAQ\n\n## Why is color management important?\n\nBecause every screen shows colors differently.\n\n## Next\n\nX."
    facts = ask(text, title="Colors of screens")
    asked = "According to the page “Colors of screens”, why is color management important?"
    assert facts[asked] == "Because every screen shows colors differently."
    long = text.replace(
        "differently.", "differently.\n\n- a list is a part of the answer\n- so is this"
    )
    assert asked not in ask(long, title="Colors of screens")
    assert ask(text) == {}, "of which screens?"


def test_numbered_items_that_are_no_instructions_are_no_steps() -> None:
    text = "## Configuring PostgreSQL logs\n\n1. All messages go there.\n2. The messages show up twice.\n3. Nobody reads them.\n"
    assert ask(text) == {}


def test_a_task_speaks_with_the_words_of_its_reader() -> None:
    text = "## Change the appearance of your desktop\n\nYou may want to change it.\n\n1. Open the settings.\n2. Click Background.\n3. Select an image.\n"
    asked = "In Gnome, how do I change the appearance of my desktop?"
    assert asked in ask(text, title="Gnome manual")


@pytest.mark.parametrize(
    ("title", "text", "product"),
    [
        ("Testing — Flask Documentation (2.2.x)", "Use the client.", "Flask"),
        ("Vim documentation: insert", "Insert mode.", "Vim"),
        ("Manual de aprendizaje de GNU LilyPond: 2.3 Errores", "Los errores.", "GNU LilyPond"),
        ("Texto", "Ayuda de LibreOffice 7.4\n\n# Texto", "LibreOffice"),
        ("El manual", "El manual de uso.", ""),
        ("Options manual", "See Options.", ""),
    ],
)
def test_the_product_is_the_one_whose_manual_a_page_says_it_is(title: str, text: str, product: str) -> None:  # fmt: skip
    language = "es" if "manual" in title.lower() or "Ayuda" in text else "en"
    assert open_page(Document("d", text, title, language), language).product == product


def test_a_table_gives_a_few_questions_and_a_bar_in_a_cell_loses_its_stroke() -> None:
    rows = "".join(f"| `key_{letter}` | `\\|{letter}` |\n" for letter in "abcdefgh")
    reply = ask(f"| Variable | Default |\n| --- | --- |\n{rows}", title="Mutt manual")
    assert list(reply.values()) == ["`|a`", "`|b`", "`|c`", "`|d`"]


def test_what_is_said_of_two_options_or_stops_in_the_middle_is_not_asked() -> None:
    for was, new in (
        ("-v, --invert-match", "-invert +invert"),
        ("any of the patterns.", "any of the patterns;"),
        ("grep - print lines", "grep, egrep - print or count lines"),
    ):
        assert len(ask(MANUAL.replace(was, new), title="GREP(1)")) == len(ask(MANUAL, title="GREP(1)")) - 1  # fmt: skip


@pytest.mark.parametrize("key", ["www.", ".shop.com", "www.example.com/index.html"])
def test_an_example_of_a_pattern_does_nothing(key: str) -> None:
    text = "# Patterns\n\n{key}\n: Matches any page whose name starts with it in the shop.\n"
    text = text.replace("it in", "a word in")
    assert ask(text.format(key=key), title="Privoxy manual") == {}
    assert len(ask(text.format(key="no-ping"), title="Privoxy manual")) == 1


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


@pytest.mark.parametrize("reference", ["in files, see Files backend for details", "the name” of the file of a user"])  # fmt: skip
def test_a_description_that_points_elsewhere_or_holds_half_a_quotation_is_refused(
    reference: str,
) -> None:
    text = f"# Backends\n\n`store_all`\n: Stores all messages of the service {reference}.\n"
    assert ask(text, title="Kuadro Manual") == {}


@pytest.mark.parametrize("heading", ["Ordenar por", "Restablecer ordenación"])
def test_a_spanish_task_needs_its_object_with_an_article(heading: str) -> None:
    assert read_task(heading, GRAMMARS["es"]) == ""


@pytest.mark.parametrize(
    ("heading", "topic"),
    [("Devoluciones", "las devoluciones"), ("Gastos de envío", "los gastos de envío"), ("Garantía", "la garantía"), ("Bicis", ""), ("Zxq", "")],
)  # fmt: skip
def test_a_spanish_topic_gets_the_article_of_its_ending(heading: str, topic: str) -> None:
    text = f"# Casa Almendro: compras\n\n## {heading}\n\nLa tienda devuelve el dinero en siete días con el tique de compra.\n"
    asked = [question for question in ask(text, "es", "Casa Almendro: compras") if "dice" in question]  # fmt: skip
    wanted = [f"¿Qué dice la página «Casa Almendro: compras» sobre {topic}?"] if topic else []
    assert asked == wanted


def test_the_mark_of_an_answer_is_no_part_of_it_and_a_question_says_what_it_is_about() -> None:
    text = "# FAQ\n\n## {}\n\nA: Because every screen shows colors differently.\n\n## Next\n\nX."
    (reply,) = ask(
        text.format("Why is color management important?"), title="Colors of screens"
    ).values()
    assert reply.startswith("Because")
    assert ask(text.format("Can I book?"), title="Colors of screens") == {}
