"""Content words: what a text speaks of, in a form that survives inflection and rewording.

A word counts by its first letters, so that `build` meets `built` in any language without a stemmer; a script without
spaces counts by pairs of characters. Versioned by VERSION in judges/offline and PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ragstone.text.clause_words import to_word_set
from ragstone.text.sentences import split_sentences
from ragstone.text.stopwords import STOPWORDS
from ragstone.text.terms import strip_accents
from ragstone.text.words import fold_text

STEM_CHARS = 4
"""Letters of a word that are compared."""
MIN_SHARED = 0.25
"""Share of a claim's content words from which a sentence comes close to it."""


@lru_cache(maxsize=1024)
def find_content_words(text: str) -> frozenset[str]:
    """Return the stems of the words that say something; function words of English and Spanish do not."""
    spaced = _CAMEL_CASE.sub(r" \1", text)  # records name their fields like RestaurantsTakeOut
    words = set(_WORD.findall(strip_accents(fold_text(spaced))))
    return frozenset().union(*map(_list_stems, words - _FUNCTION_WORDS))


@lru_cache(maxsize=8192)
def _list_stems(word: str) -> tuple[str, ...]:
    """The stem of a word, none for a letter; the pairs of characters of a script without spaces."""
    if word[0].isdigit():
        return (word.replace(",", "").replace(".", ""),)
    if "\u0e00" <= word[0] <= "\u0eff" or "\u2e80" <= word[0] <= "\uffff":
        return tuple(word[n : n + 2] for n in range(max(1, len(word) - 1)))
    return (word[:STEM_CHARS],) if len(word) > 1 else ()


def find_closest_sentence(claim: str, texts: Sequence[str]) -> tuple[int, str] | None:
    """Return the sentence that shares most content words with a claim, and the index of its text; None when none comes close."""
    wanted = find_content_words(claim)
    best: tuple[float, int, str] | None = None
    for index, text in enumerate(texts):
        for start, end in split_sentences(text):
            words = find_content_words(text[start:end])
            shared = len(wanted & words)
            # of two sentences that share as much, the shorter one speaks of it more
            closeness = shared + shared / (1 + len(words))
            is_close = shared and shared >= MIN_SHARED * len(wanted)
            if is_close and (best is None or closeness > best[0]):
                best = closeness, index, text[start:end].strip()
    return None if best is None else best[1:]


@lru_cache(maxsize=512)
def is_small_talk(sentence: str) -> bool:
    """Whether a sentence only keeps the conversation going: Sure! I hope this helps. Gracias por tu pregunta.

    Besides interjections it may have the usual polite words, and then it speaks of the two who talk: `it is free` does
    not, `feel free to ask if you need more` does. Praise is for the question: `great question`, not `great food`."""
    words: set[str] = set()
    for match in _WORD.finditer(strip_accents(fold_text(sentence))):
        if match[0] not in _SMALL_TALK:  # one of the first words of nearly every sentence
            return False
        words.add(match[0])
    content = words - _FUNCTION_WORDS - _INTERJECTIONS
    if not content or (content <= _POLITE_WORDS and not words.isdisjoint(_SPEAKERS)):
        return True
    speaks_to_asker = not words.isdisjoint(_INTERJECTIONS | _QUESTION_WORDS)
    return speaks_to_asker and content <= _PRAISE_WORDS | _QUESTION_WORDS


_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_CAMEL_CASE = re.compile(r"(?<=[a-z])([A-Z])")
_FUNCTION_WORDS = frozenset(strip_accents(word) for words in STOPWORDS.values() for word in words)
_INTERJECTIONS = to_word_set(
    """
    absolutely bye certainly exactly goodbye greetings hello hey hi indeed ok okay please sorry sure thank thanks welcome
    yeah yep yes adios buenas claro disculpa disculpas exacto gracias hola perdon saludos supuesto vale
    """
)
_SPEAKERS = to_word_set(
    """
    i let me my our us we you your yours re ll mi nos te ti tu tus le usted espero esperamos lamento dudes quieres
    dime digame avisame aviseme avisa avise
    necesitas necesites
    """
)
"""Who talks to whom; Spanish verbs say it by their ending."""
_QUESTION_WORDS = to_word_set("question questions pregunta preguntas consulta duda")
_PRAISE_WORDS = to_word_set(
    "awesome cool excellent good great interesting nice perfect wonderful bien buen buena estupendo excelente genial gran interesante perfecto"
)
_POLITE_WORDS = _SPEAKERS | to_word_set(
    """
    answer anything apologize appreciate ask asking asked assist assistance clarification confusion contact details else
    feel free further glad happy help helped helpful helps hesitate hope information inquiry know like m ve d need patience
    pleasure question questions reach read response soon understand understanding
    alegro alguna ayuda ayudado ayudar ayudarle ayudarte ayude consulta consultas consultar contactar contactarme contacto
    cualquier dudar duda dudas encantado encantada dude entiendo favor gusto haberle haberte haya informacion mas nada
    necesita placer poder pregunta preguntar preguntarme preguntas quiera quieras respuesta sabe saber servido servir sido
    siento sirva tienes tenga util utiles
    """
)
_SMALL_TALK = _FUNCTION_WORDS | _INTERJECTIONS | _POLITE_WORDS | _PRAISE_WORDS | _QUESTION_WORDS
"""Every word that small talk may have."""
