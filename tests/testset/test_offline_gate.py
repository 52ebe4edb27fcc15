"""The gate: pairs that must pass and pairs that must be refused, in English and Spanish."""

from __future__ import annotations

import pytest

from ragstone.testset.offline import gate
from ragstone.testset.offline.page import GRAMMARS
from ragstone.testset.offline.quality import explain_poor_record

PASS = [
    ("en", "What is OpenVPN?", "OpenVPN is a program that creates private networks."),
    ("en", "Where is the `sources.list` file stored?", "In /etc/apt."),
    ("en", "How do I list all branches with `git`?", "Use `git branch -a`."),
    ("en", "What does the `--all` option of `git-add` do?", "Update the index not only where the working tree has a file."),
    ("en", "At Linden Bikes, how much does the yearly pass cost?", "48 euros"),
    ("es", "¿Qué es OpenVPN?", "OpenVPN es un programa que crea redes privadas."),
    ("es", "¿Qué hace la opción `--all` de `git-add`?", "Muestra todos los ficheros del directorio."),
    ("es", "¿Cómo puedo instalar Samba?", "Ejecute `apt install samba`."),
    ("es", "En Casa Almendro, ¿cuánto tarda el envío normal?", "2 a 4 días"),
]  # fmt: skip

REFUSED = [
    ("en", "What is this program?", "A program that creates networks.", "points"),
    ("en", "What does it contain?", "The list of all users.", "points"),
    ("en", "What happens when me're given access to Debian?", "The account is opened.", "contraction"),
    ("en", "How many comprehensions do let's nest?", "Two levels.", "contraction"),
    ("en", "What is the owner of the?", "The user who made the file.", "mid-phrase"),
    ("en", "What is OpenVPN?", "This program creates private networks.", "points"),
    ("en", "What is OpenVPN?", "It creates private networks.", "middle of a thought"),
    ("en", "What is OpenVPN?", "A program that creates networks as described in chapter 3.", "points"),
    ("en", "What is OpenVPN?", "A program that creates the following:", "mid-phrase"),
    ("en", "What is OpenVPN?", "A program that is used to create a", "mid-phrase"),
    ("en", "What is OpenVPN?", "A program (that creates networks.", "open"),
    ("en", "What is foo(x) {bar}?", "A function that returns the sum.", "code"),
    ("en", "What is OpenVPN?", "Un programa que crea las redes privadas de una empresa.", "language"),
    ("en", "What is OpenVPN?", "We made the program to create networks.", "we"),
    ("es", "¿Qué es dicho programa?", "Un programa que crea redes.", "points"),
    ("es", "¿Qué contiene esto?", "La lista de los usuarios.", "points"),
    ("es", "¿Cómo puedo instalarlo con Samba?", "Ejecute la orden `apt`.", "points"),
    ("es", "¿Qué es OpenVPN?", "Este programa crea redes privadas.", "middle of a thought"),
    ("es", "¿Qué es OpenVPN?", "Un programa que hace lo que se indica a continuación.", "points"),
    ("es", "¿Qué es OpenVPN?", "Un programa que crea redes de", "mid-phrase"),
    ("es", "¿Qué es OpenVPN?", "A program that is used by the users of the network.", "language"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "question", "reference"), PASS)
def test_a_sound_pair_passes(language: str, question: str, reference: str) -> None:
    assert gate.explain_doubt(question, reference, GRAMMARS[language]) == ""


@pytest.mark.parametrize(("language", "question", "reference", "why"), REFUSED)
def test_a_doubtful_pair_is_refused(language: str, question: str, reference: str, why: str) -> None:
    assert why in gate.explain_doubt(question, reference, GRAMMARS[language])


def test_we_is_clear_where_the_question_says_who_that_is() -> None:
    pair = (
        "What does “Linden Bikes: prices” say about “Refunds”?",
        "We refund the pass within a week.",
    )
    assert gate.explain_doubt(*pair, GRAMMARS["en"]) != ""
    assert gate.explain_doubt(*pair, GRAMMARS["en"], owned=True) == ""


@pytest.mark.parametrize(
    ("phrase", "language", "passes"),
    [
        ("The owner of the file", "en", True),
        ("The `id` command", "en", True),
        ("The file that you want", "en", False),
        ("Using the command", "en", False),
        ("The program usually", "en", False),
        ("El dueño del fichero", "es", True),
        ("El fichero que quiere", "es", False),
        ("La orden y el fichero", "es", False),
    ],
)
def test_a_subject_is_a_simple_noun_phrase(phrase: str, language: str, passes: bool) -> None:
    assert gate.is_noun_phrase(phrase, GRAMMARS[language]) is passes


@pytest.mark.parametrize(
    ("language", "question", "reference", "why"),
    [
        ("en", "What does “Game → New” do in KMahjongg?", "Starts a new game.", "hardly more"),
        ("en", "What does the `-s` option of `fetch` do?", "The URL of the master copy of the file.", "begin"),
        ("en", "What does the `-d` option of `fetch` do?", "Print the dates as [YYYY] of the file.", "prose"),
        ("en", "What does the `-d` option of `fetch` do?", "Print the dates of the newest file.", ""),
        ("en", "What does the `-n` option of `fetch` do?", "Do not ellipsize lines of the output.", ""),
        ("es", "¿Qué hace «Juego → Salir» en KDiamond?", "Cierra el programa.", "hardly more"),
        ("es", "¿Qué hace la opción `-x` de `po4a`?", "Especifique cómo se ajusta el archivo.", "begin"),
        ("es", "¿Qué hace la opción `-d` de `faked`?", "Muestra informaciÃ³n de cada archivo.", "prose"),
        ("es", "¿Qué hace la opción `-d` de `faked`?", "Muestra el nombre de cada archivo abierto.", ""),
    ],
)  # fmt: skip
def test_a_record_must_say_something_new_in_plain_words(
    language: str, question: str, reference: str, why: str
) -> None:
    doubt = explain_poor_record(question, reference, GRAMMARS[language])
    assert why in doubt
    assert bool(why) == bool(doubt)
