"""The catalogue of words: every key in every language, with the same placeholders."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

import ragstone.locale
from ragstone.locale.catalogue import LANGUAGES, fill_phrase, load_phrases

FOLDER = Path(ragstone.locale.__file__).parent
FILES = sorted(path.stem for path in (FOLDER / "en").glob("*.toml"))


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_has_the_same_keys_and_placeholders_in_every_language(
    file: str, language: str
) -> None:
    english, other = load_phrases("en", file), load_phrases(language, file)
    assert list(other) == list(english)
    for key, text in english.items():
        assert text
        assert other[key]
        assert placeholders(other[key]) == placeholders(text), key


NEVER_ONE = {
    "threshold_waits.few", "checkup.power.need", "says.still", "says.unclear", "gist.unclear_one", "gist.unclear_seen",
    "choose.needed", "plan.answer", "plan.comparisons", "effects_full", "effects_single", "corrected_needed",
    "labels_unequal", "labels_assumed_random", "claim_repeated", "claim_again", "jurors_failed", "jurors_silent", "too_many_levels",
    "traffic_newest", "view.course_of", "view.choose_runs", "prompt_exceeds_context", "claim_exceeds_window",
    "reply_too_large", "reply_too_large_unpacked", "view.call_tokens", "plan.design", "preference_note", "only_embeds",
}  # fmt: skip
"""Phrases with a count that is two or more by its nature: a sample size that is needed, a limit, jurors, tokens; or what is no count."""
COUNTED = {
    "en": r"\{\w+\} (?:(?!of|the|in|is|for|to|on)[a-z]+ ){0,2}(?:question|sample|label|item|row|answer|call|run|value|metric|attack|document|finding|"
    r"cluster|group|text|vector|time|sentence|slice|interaction|topic|character|trial|gate|check|alert|judgement|context|"
    r"embedding|verdict|grade|juror|comparison|token|byte|level)s\b|\{\w+\} (?:tries|replies)\b",
    "es": r"\{\w+\} (?:(?!de|las|los|en|es|a)[a-záéíóú]+ ){0,2}(?:pregunta|muestra|etiqueta|elemento|ítem|fila|respuesta|llamada|ejecucione|valore|métrica|"
    r"ataque|documento|hallazgo|grupo|texto|vectore|vece|frase|subconjunto|interaccione|tema|caractere|prueba|alerta|juicio|"
    r"contexto|veredicto|intento|nivele)s\b",
}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_count_of_one_has_its_own_words(file: str, language: str) -> None:
    """`1 questions` is said nowhere: the noun is chosen by its count, or the phrase has a singular of its own."""
    phrases = load_phrases(language, file)
    exempt = {key for key in phrases if key.endswith(".many")} | NEVER_ONE
    wrong = {key: text for key, text in phrases.items() if re.search(COUNTED[language], text)}
    assert not {key: text for key, text in wrong.items() if key not in exempt}


@pytest.mark.parametrize(("n", "text"), [(0, "0 labels are"), (1, "1 label is"), ("1,200", "1,200 labels are")])  # fmt: skip
def test_a_phrase_chooses_the_word_that_goes_with_its_count(n: object, text: str) -> None:
    assert fill_phrase("{n} {n:label is|labels are}", {"n": n}) == text
