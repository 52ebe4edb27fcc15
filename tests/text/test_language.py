"""Which language a text is in: measured ones are never taken for others, and foreign names change nothing."""

import gzip
import json
import random
from pathlib import Path

import pytest

from ragstone.text.language import detect_language, identify_language, is_in_language
from ragstone.text.sentences import split_sentences

SHARED = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The cat is in the house with the dog.", "en"),
        ("El gato está en la casa con el perro.", "es"),
        ("Le chat est dans la maison avec les enfants, et il ne dort pas.", "fr"),
        ("Der Hund ist nicht mit dem Mann im Haus, und die Katze ist auf dem Dach.", "de"),
        ("Il ponte è stato aperto nel 1937 ed è lungo più di due chilometri.", "it"),
        ("A ponte foi inaugurada em 1937 e tem mais de dois quilómetros. A cor não é laranja.", "pt"),
        ("De brug werd in 1937 geopend en is niet van hout, maar het dak is dat wel.", "nl"),
        ("El pont es va obrir el 1937 i fa més de dos quilòmetres, amb una torre i els jardins.", "ca"),
        ("Most został otwarty w 1937 roku i jest to most na rzece, która nie jest długa, ale szeroka.", "pl"),
        ("Это не тот дом, который я видел.", "ru"),
        ("金门大桥于1937年开放。", "zh"),
        ("ゴールデンゲートブリッジは1937年に開通した。", "ja"),
    ],
)  # fmt: skip
def test_the_language_is_told_by_its_function_words_or_script(text: str, language: str) -> None:
    assert identify_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "João Gilberto do Prado Pereira de Andrade was born in Juazeiro.",
        "Beyoncé performed at the Estádio do Morumbi in São Paulo.",
        "Vincent van Gogh, Ludwig van Beethoven and Charles de Gaulle",
        "Der Spiegel, Die Zeit und Die Welt",
        "The museum holds works by Tarsila do Amaral, Emiliano Di Cavalcanti and Lasar Segall.",
        "Das Boot", "São Paulo", "Le Monde", "Il Postino", "1937", "",
    ],
)  # fmt: skip
def test_a_foreign_name_is_no_foreign_language(text: str) -> None:
    assert identify_language(text) in ("en", "es")


@pytest.mark.parametrize(
    "text", ["¿Qué?", "la casa de los libros", "Zeus no tuvo hijos en la isla"]
)
def test_spanish_is_told_from_english(text: str) -> None:
    assert detect_language(text) == "es"
    assert detect_language(text, "en-GB") == "en"


def test_a_long_text_without_known_function_words_is_of_no_known_language() -> None:
    assert identify_language("lorem ipsum dolor sit amet " * 20) == "und"
    assert identify_language("lorem ipsum dolor sit amet") == "en"


@pytest.mark.parametrize("language", ["en", "es"])
def test_sentences_of_measured_languages_are_not_taken_for_others(language: str) -> None:
    path = SHARED / "qa" / f"xquad_{language}.jsonl.gz"
    if not path.is_file():
        pytest.skip("the data handed over is not beside the clone")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    sentences = [
        text[start:end] for text in texts for start, end in split_sentences(text, language)
    ]
    sentences = random.Random(1).sample(sentences, 1000)
    assert all(identify_language(sentence) in ("en", "es") for sentence in sentences)
    wrong = sum(identify_language(sentence) != language for sentence in sentences)
    assert wrong <= 10


@pytest.mark.parametrize(
    ("text", "wanted", "is_in"),
    [
        ("The cat is in the house.", "en-GB", True),
        ("El gato está en la casa.", "en", False),
        ("Los Angeles", "en", None),  # one word against, which may belong to a name
        ("Los Angeles de noche", "en", False),
        ("Madrid 1937", "es", None),
        ("Le chat est dans la maison avec les enfants, et il ne dort pas.", "fr", True),
        ("Le chat est dans la maison avec les enfants, et il ne dort pas.", "en", False),
        ("Le chat dort ici", "fr", None),
        ("Le chat dort ici maintenant", "fr", False),  # five words, and none of them evident
    ],
)
def test_whether_a_text_is_in_a_language_may_stay_open(
    text: str, wanted: str, is_in: bool | None
) -> None:
    assert is_in_language(text, wanted) is is_in


def test_only_the_beginning_of_a_text_tells_its_language() -> None:
    assert (
        identify_language("The cat is in the house. " + "x" * 3980 + " el gato de la casa" * 9)
        == "en"
    )


@pytest.mark.parametrize(("words", "language"), [(59, "en"), (60, "und")])
def test_sixty_words_show_an_unknown_language(words: int, language: str) -> None:
    assert identify_language("ipsum " * words) == language


@pytest.mark.parametrize(("known", "language"), [(1, "und"), (2, "en")])
def test_a_share_of_known_function_words_is_enough(known: int, language: str) -> None:
    assert identify_language("ipsum " * (100 - known) + "the " * known) == language
