"""Languages the package knows, and which language a text is written in. Versioned by VERSION in judges/offline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set
from functools import lru_cache
from typing import Final

from ragstone.locale.catalogue import LANGUAGES as LANGUAGES
from ragstone.text.stopwords import STOPWORDS
from ragstone.types import Sample

ABSTENTIONS: tuple[str, ...] = (
    "It is not mentioned in the document.",
    "No se menciona en el documento.",
)
"""Texts that count as declining to answer unless the user names others."""

UNKNOWN_LANGUAGE = "und"
"""The tag of a text that is surely in none of the languages known here."""


def detect_language(text: str, given: str | None = None) -> str:
    """Return `en` or `es`: the language given, else the one whose function words or letters the text has."""
    if given:
        return "es" if given.lower().startswith("es") else "en"
    return _decide(_list_words(text), text)


@lru_cache(maxsize=64)
def identify_language(text: str) -> str:
    """Return the language of a text, of any language; `en` or `es` unless another is evident.

    A foreign name is no evidence: it takes several function words that English and Spanish have not."""
    head = text[:MAX_CHARS]
    script = None if head.isascii() else _identify_script(head)
    if script:
        return script
    words = _list_words(head)
    likely = _decide(words, head)
    if len(_FOREIGN[likely].intersection(words)) >= MIN_KINDS:  # most texts have fewer
        # capitals belong to names: Der Spiegel, La Paz
        counts = Counter(filter(str.islower, _WORD.findall(head)))
        evident = {
            code: count
            for code, markers in FUNCTION_WORDS.items()
            if (count := _compare(counts, markers, STOPWORDS[likely])) is not None
        }
        if evident:
            return max(evident, key=evident.__getitem__)
    total = len(words)
    if total >= MIN_WORDS_UNKNOWN and _count(words, _KNOWN) < MIN_SHARE_KNOWN * total:
        return UNKNOWN_LANGUAGE
    return likely


def is_in_language(text: str, wanted: str) -> bool | None:
    """Return whether a text is in a language; None when it has too few words to tell, as a name or a number has.

    English and Spanish are told apart by function words, of which two must speak against the language wanted."""
    code = wanted.split("-")[0].lower()
    words = _list_words(text[:MAX_CHARS])
    if code not in STOPWORDS or identify_language(text) not in STOPWORDS:
        return identify_language(text) == code if len(words) >= MIN_WORDS_FOREIGN else None
    other = "en" if code == "es" else "es"
    wanted_count, other_count = (_count(words, _OWN_WORDS[one]) for one in (code, other))
    if wanted_count > other_count:
        return True
    if other_count >= MIN_WORDS_AGAINST and other_count >= 2 * wanted_count:
        return False
    return None


MIN_WORDS_FOREIGN = 5
"""Words that a text needs for a language without function words of ours to be recognised."""
MIN_WORDS_AGAINST = 2
"""Function words of the other language that show a text to be in it; one may belong to a name."""


def identify_sample_language(sample: Sample, given: str | None = None) -> str:
    """Return the language of a sample: its own tag, the one given for all, or that of its texts."""
    chunks = (chunk.text for chunk in sample.contexts or ())
    texts = (sample.question, sample.answer, sample.reference, *chunks)
    return sample.language or given or identify_language("\n".join(filter(None, texts)))


def is_measured_language(tag: str) -> bool:
    """Whether the embedded judge was measured in a language."""
    return tag.lower().split("-")[0] in LANGUAGES


MAX_CHARS = 4000
"""How much of a text is looked at."""
MIN_WORDS_UNKNOWN, MIN_SHARE_KNOWN = 60, 0.02
"""From how many words on a text is of an unknown language when so few of them are English or Spanish function words."""
MIN_EVIDENCE, MIN_KINDS = 3, 3
"""How many function words, and how many different ones, make another language evident."""


def _compare(words: Counter[str], other: Set[str], likely: Set[str]) -> int | None:
    """Count the function words of another language that are not the likelier one's; None when they do not prevail."""
    present = words.keys() & other - likely
    count = sum(map(words.__getitem__, present))
    if count < MIN_EVIDENCE or len(present) < MIN_KINDS:
        return None
    return count if count > 2 * sum(map(words.__getitem__, words.keys() & likely - other)) else None


def _count(words: list[str], wanted: Set[str]) -> int:
    """Count the words that are among the wanted ones."""
    return sum(map(wanted.__contains__, words))


def _decide(words: list[str], text: str) -> str:
    spanish, english = _count(words, _OWN_WORDS["es"]), _count(words, _OWN_WORDS["en"])
    if spanish == english:
        return "es" if _SPANISH_LETTER.search(text) else "en"
    return "es" if spanish > english else "en"


def _list_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _identify_script(text: str) -> str | None:
    """The language of a text that is not in Latin letters, by its script."""
    any_script, scripts = _compile_scripts()
    if not any_script.search(text):
        return None
    letters = sum(map(str.isalpha, text))
    for code, pattern in scripts.items():
        count = len(pattern.findall(text))
        if count >= MIN_LETTERS_SCRIPT and count > MIN_SHARE_SCRIPT * letters:
            return code
    return None


@lru_cache(maxsize=1)
def _compile_scripts() -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    """The letters of every script, and of each; compiled when the first text needs them, since wide ranges take long."""
    every = re.compile(f"[{''.join(_SCRIPT_LETTERS.values())}]")
    return every, {code: re.compile(f"[{letters}]") for code, letters in _SCRIPT_LETTERS.items()}


MIN_SHARE_SCRIPT, MIN_LETTERS_SCRIPT = 0.3, 8
"""Share and number of the letters that tell the script of a text; a name in it has fewer."""
_WORD = re.compile(r"[^\W\d_]+")
_SPANISH_LETTER = re.compile("[¿¡ñáéíóú]", re.IGNORECASE)
_SCRIPT_LETTERS = {
    "ja": "\u3040-\u30ff",
    "zh": "\u4e00-\u9fff",
    "ko": "\uac00-\ud7af",
    "ru": "\u0400-\u04ff",
    "ar": "\u0600-\u06ff",
    "el": "\u0370-\u03ff",
    "he": "\u0590-\u05ff",
    "hi": "\u0900-\u097f",
    "th": "\u0e00-\u0e7f",
}
FUNCTION_WORDS: Final[dict[str, frozenset[str]]] = {
    code: frozenset(words.split())
    for code, words in {
        "ca": "el la els les i de del dels que en una un amb és són per al als va han no més com però aquest aquesta seva a",
        "cs": "a v na se je že s z do to od pro který byl byla jsou podle jako ale jeho být také by po za",
        "da": "og i at det er en til på som af for med der var den ikke et blev fra har han kan eller hans de",
        "de": "der die das und ist nicht mit ein eine für von den dem auf werden wurde sich zu im des als auch aus bei in "
        "was wer wie wo wann warum welche welcher welches wir sie ihr ihre er es sind haben hat kann muss vom zum zur ab bis um am nach über oder wenn",
        "eu": "eta da ez bat du ziren zen dira izan baina ere egin baten dute hau zuen bere dituzte edo",
        "fi": "ja on oli ei se että hän joka myös sekä mutta kun ovat jossa kuin ole vuonna mukaan jälkeen",
        "fr": "le les des est dans une pour qui sur pas avec sont du au ce cette il elle et été la un aux par ou mais de que "
        "en se à ne son sa plus ont a "
        "quel quelle quels quelles quand où comment combien pourquoi il elle nous vous ils elles sommes êtes étaient dont aussi très "
        "tout toute tous toutes chez dès sous lors entre après avant peut doit faut leur leurs votre notre vos nos ces d l qu",
        "gl": "o a os as do da dos das e de que en un unha é non para con no na nos nas máis foi ao como por se pola polo",
        "hr": "i u je na se da su od za s kao koji što iz o ne bio bila po ili te koje prema nakon",
        "hu": "a az és hogy nem egy is volt meg ez azt mint de csak már vagy által amely kell szerint után",
        "id": "yang dan di dari untuk dengan pada adalah ini itu dalam tidak oleh sebagai akan atau telah",
        "it": "il della di che è per una sono con del nel gli alla più anche le dei non si da un nella dal delle ma la a in e i "
        "qual quale quali quando dove chi quanto quanti come perché ci lo al dalla dall dell nell all sul sulla entro dopo sono siamo ogni l d",
        "nl": "de het een van en is niet met voor zijn op aan dat door werd naar bij ook te om uit wordt deze in "
        "wat wie waar wanneer hoe waarom welke wij jullie hij zij kan moet tot na over of als",
        "pl": "w i na z się nie do to jest że jako przez od po oraz był była które który dla ale także lub a",
        "pt": "o os as um uma não é do da em para com que foi são ao pelo mais dos das na no pela ou também de a se por como "
        "e ser sua "
        "qual quais quando onde quem quanto quantos está estão pode deve nós você vocês seus suas após até sem sobre entre muito já é nos",
        "ro": "și în de la cu pe care este a fost din pentru nu mai sau că un o al ale ca prin se",
        "sv": "och i att det är en till på som av för med var den inte ett blev från har han kan eller hans",
        "sw": "na ya wa kwa ni za katika la kuwa hii huo cha vya alikuwa kama lakini pia au hiyo",
        "tr": "ve bir bu için ile olarak de da olan çok daha gibi kadar ise ne olduğu sonra en var",
        "vi": "và của là có được trong các cho không với một những người này đã từ khi tại năm",
    }.items()
}
"""Frequent function words of languages in which no judge of the package was measured."""
_KNOWN = STOPWORDS["en"] | STOPWORDS["es"]
_OWN_WORDS = {"en": STOPWORDS["en"] - STOPWORDS["es"], "es": STOPWORDS["es"] - STOPWORDS["en"]}
"""Function words that the other of the two languages has not."""
_FOREIGN = {
    code: frozenset().union(*FUNCTION_WORDS.values()) - STOPWORDS[code] for code in STOPWORDS
}
