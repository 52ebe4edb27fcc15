"""Function words of English and Spanish by what they do to a sentence: deny, except, quantify, join, govern. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _groups(text: str) -> dict[str, str]:
    """Lines of a name and its words, as word → name."""
    lines = (line.split() for line in text.strip().splitlines())
    return {word: name.rstrip(":") for name, *words in lines for word in words}


@dataclass(frozen=True)
class FunctionWords:
    """The function words of one language that rules of contradiction look at."""

    negations: frozenset[str]
    """Words that deny the rest of their clause."""
    none_words: frozenset[str]
    """Those among them that say how many: none."""
    phrase_negations: frozenset[str]
    """Prepositions that deny what they govern."""
    prepositions: dict[str, str]
    """Preposition → the role that it gives; several words may give the same."""
    boundaries: frozenset[str]
    """Words that begin a clause."""
    list_joins: frozenset[str]
    choices: frozenset[str]
    """Words between things of which all are denied where one is: neither A nor B."""
    exceptions: dict[str, str]
    """Words that take what follows out, with the word that must come after them."""
    quantifiers: dict[str, str]
    almost: frozenset[str]
    degrees: dict[str, int]
    """Words of comparison: 1 for more, -1 for less, 2 for as much; they say the degree of the word after them."""
    than: frozenset[str]
    determiners: frozenset[str]
    copulas: frozenset[str]
    """Forms of "be" before a participle."""
    agents: frozenset[str]
    """Prepositions of the doer in the passive voice."""
    others: frozenset[str]
    """After "no" these make it unclear what is denied: no other."""
    excess: str
    infinitive: str
    """`too` and `to`: what is too cold to swim in denies swimming."""
    before: frozenset[str]
    after: frozenset[str]
    then: frozenset[str]
    """Words of time: before what follows, after it, and what comes next."""
    only: frozenset[str]
    """After "not" these make it no denial: not only."""
    unreal: frozenset[str]
    """Words after which something is planned, wished, supposed or all but done."""
    possible: frozenset[str]
    """Words with which a claim itself says that something is only possible."""
    limits: dict[str, str]
    """Words that begin a condition, with the word that must come after them."""
    requirements: frozenset[str]
    """Words that make what stands beside them a condition."""
    limitless: dict[str, str]
    """Words that deny any condition, with the word that must come after them."""
    approximate: frozenset[str]
    """Words about a figure, which say nothing by themselves."""
    permissions: frozenset[str]
    """Words that say that something is allowed or taken, all much the same where it is denied."""
    bounds: frozenset[str]
    """Words that make a limit of the figure after them."""
    free_order: frozenset[str]
    """Words before a verb after which its subject may follow it."""

    @cached_property
    def special(self) -> frozenset[str]:
        """Every word that changes how the words after it are read."""
        return frozenset[str]().union(
            self.negations, self.prepositions, self.boundaries, self.exceptions, self.quantifiers, self.degrees,
            self.than, self.others, self.before, self.after, self.then, self.only, self.unreal, self.limits,
            self.limitless, self.approximate,
        )  # fmt: skip


_ENGLISH = FunctionWords(
    negations=_words(
        "not no never none nobody nothing neither cannot fails failed fail unable refuses refused refuse lacks"
        " lack lacked lacking dont doesnt didnt isnt wasnt arent wont cant nowhere hardly barely"
    ),
    none_words=_words("no none nobody neither"),
    phrase_negations=_words("without"),
    prepositions={
        word: word
        for word in _words(
            "of in on at by for from with without to into onto under over through during since until"
            " till against towards across along behind beside beyond inside outside near via per within"
            " upon about around like off despite between among before after above below"
        )
    }
    | {"as": "as"},
    boundaries=_words(
        "and but or nor while whereas yet although though however because which who whose that if when where so then"
        " unless"
    ),
    list_joins=_words("and or nor"),
    choices=_words("or nor"),
    exceptions={
        "except": "",
        "excepting": "",
        "excluding": "",
        "apart": "from",
        "aside": "from",
        "other": "than",
        "save": "for",
        "exception": "of",
    },
    quantifiers=_groups(
        """
        all: all every each everyone everybody anyone anybody always both entire whole everything
        most: most majority mostly usually generally
        some: some several sometimes certain
        few: few rarely seldom
        only: only solely exclusively
        """
    ),
    almost=_words("almost nearly"),
    degrees={"more": 1, "less": -1, "fewer": -1, "as": 2},
    than=_words("than as"),
    determiners=_words(
        "a an the this that these those my your his her its our their own very also still"
    ),
    copulas=_words("is are was were be been being gets got"),
    agents=_words("by"),
    others=_words("other others else one"),
    excess="too",
    infinitive="to",
    before=_words("before prior"),
    after=_words("after following"),
    then=_words("then later afterwards subsequently thereafter"),
    only=_words("only just merely simply"),
    unreal=_words(
        "plan plans planned planning intend intends intended hope hopes hoped suspect suspects suspected propose"
        " proposes proposed wanted almost nearly"
    ),
    possible=_words(
        "may might could can possible possibly potentially likely would perhaps plan plans planned"
    ),
    limits={"unless": "", "provided": "", "condition": "that", "only": ""},
    requirements=_words(
        "must require requires required requiring need needs needed mandatory compulsory obligatory necessary essential"
    ),
    limitless={"regardless": "of", "whatever": "the", "even": "if", "irrespective": "of"},
    approximate=_words("about around approximately roughly nearly almost circa"),
    permissions=_words(
        "can may allow allows allowed permit permits permitted accept accepts accepted admit admits admitted welcome possible available"
    ),
    bounds=_words(
        "up exceed exceeds exceeding exceeded maximum minimum limit longer later higher greater lower fewer older younger"
    ),
    free_order=_words("whom"),
)
_SPANISH = FunctionWords(
    negations=_words(
        "no nunca jamás nadie nada ninguno ninguna ningún tampoco carece carecen apenas negó negaron niega niegan"
    ),
    none_words=_words("nadie ninguno ninguna ningún"),
    phrase_negations=_words("sin"),
    prepositions={
        word: word
        for word in _words(
            "en con sin por para desde hasta hacia sobre bajo entre ante tras según contra durante"
            " mediante"
        )
    }
    | {"de": "de", "del": "de", "a": "a", "al": "a"},
    boundaries=_words(
        "y e pero o u ni mientras aunque sino porque que quien quienes cuyo cuya cual cuando donde si luego"
    ),
    list_joins=_words("y e o u ni"),
    choices=_words("o u ni"),
    exceptions={
        "excepto": "",
        "salvo": "",
        "exceptuando": "",
        "aparte": "de",
        "excepción": "de",
        "menos": "a",
    },
    quantifiers=_groups(
        """
        all: todo toda todos todas cada cualquier cualquiera siempre ambos ambas
        most: mayoría mayoritariamente normalmente
        some: algún alguno alguna algunos algunas varios varias
        few: pocos pocas raramente
        only: solo sólo solamente únicamente exclusivamente
        """
    ),
    almost=_words("casi"),
    degrees={"más": 1, "menos": -1, "tan": 2, "tanto": 2, "tanta": 2, "tantos": 2, "tantas": 2},
    than=_words("que como"),
    determiners=_words(
        "el la los las lo un una unos unas su sus mi mis tu tus este esta estos estas ese esa esos esas muy también"
    ),
    copulas=_words(
        "es son fue fueron era eran ser sido siendo será serán está están estaba estaban"
    ),
    agents=_words("por"),
    others=_words("otro otra otros otras"),
    excess="demasiado",
    infinitive="para",
    before=_words("antes anterior"),
    after=_words("tras posterior"),
    then=_words("luego después posteriormente continuación entonces"),
    only=_words("solo sólo solamente únicamente"),
    unreal=_words(
        "planea planean planeaba quería querían pretende pretenden podría podrían sospecha sospechan propone proponen"
        " propuso estudia estudian casi"
    ),
    possible=_words(
        "puede pueden podría podrían posible quizá quizás posiblemente probablemente planea planean"
    ),
    limits={
        "salvo": "que",
        "menos": "que",
        "siempre": "y",
        "solo": "",
        "sólo": "",
        "únicamente": "",
        "solamente": "",
    },
    requirements=_words(
        "debe deben deberá deberán requiere requieren exige exigen necesita necesitan obligatorio obligatoria necesario necesaria"
        " imprescindible tendrá tendrán"
    ),
    limitless={
        "aunque": "",
        "incluso": "si",
        "cualquier": "",
        "cualquiera": "",
        "independientemente": "de",
    },
    approximate=_words("alrededor aproximadamente unos unas casi cerca"),
    permissions=_words(
        "puede pueden permite permiten permitido permitida permitidos admite admiten admitido acepta aceptan aceptado posible disponible disponibles"
    ),
    bounds=_words(
        "superar supera superan pasar pasa exceder excede exceden sobrepasar sobrepasa máximo mínimo límite mayor menor"
    ),
    free_order=_words("lo la los las que se"),
)
FUNCTION_WORDS: Final = {"en": _ENGLISH, "es": _SPANISH}
