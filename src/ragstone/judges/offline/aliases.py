"""Words of short answers that name the same: peoples and their countries, forenames, units and abbreviations. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from typing import Final

_PEOPLES = (  # whose names have not the root of their country's
    "france french francia francés francesa",
    "spain spanish españa español española",
    "england english inglaterra inglés inglesa",
    "wales welsh gales galés galesa",
    "scotland scottish scots escocia escocés escocesa",
    "ireland irish irlanda irlandés irlandesa",
    "germany german alemania alemán alemana",
    "greece greek grecia griego griega",
    "netherlands holland dutch holanda holandés holandesa neerlandés neerlandesa",
    "switzerland swiss suiza suizo",
    "china chinese chino",
    "italy italian italia italiano italiana",
    "poland polish polonia polaco polaca",
    "denmark danish dinamarca danés danesa",
    "finland finnish finlandia finlandés finlandesa",
    "norway norwegian noruega noruego",
    "sweden swedish suecia sueco sueca",
    "turkey turkish turquía turco turca",
    "iraq iraqi iraquí irak",
    "thailand thai tailandia tailandés",
    "cuba cuban cubano cubana",
    "peru peruvian perú peruano peruana",
)
_GROUPS = (
    # forenames
    "william bill will billy",
    "robert bob rob bobby",
    "richard rick dick",
    "james jim jimmy",
    "john johnny jack",
    "thomas tom tommy",
    "michael mike",
    "joseph joe",
    "edward ed eddie ted",
    "charles charlie chuck",
    "elizabeth liz beth betty",
    "margaret maggie meg peggy",
    "katherine catherine kate kathy cathy",
    "samuel sam",
    "daniel dan danny",
    "david dave",
    "anthony tony",
    "stephen steven steve",
    "andrew andy drew",
    "francisco paco",
    "josé pepe",
    # abbreviations
    "mount mt",
    "fort ft",
    "brothers bros",
    "street calle",
    "avenue ave avenida",
    "company co",
    "corporation corp",
    "kilometer km",
    "episode ep",
    "number no. nº núm",
    # plurals that no stem joins
    "mouse mice",
    "goose geese",
    "wolf wolves",
    "tooth teeth",
    "child children",
    "person people",
    "leaf leaves",
    "knife knives",
    "life lives",
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _by_word(groups: tuple[str, ...]) -> dict[str, str]:
    return {word: group.split()[0] for group in groups for word in group.split()}


PEOPLES: Final = _by_word(_PEOPLES)
"""Peoples, their adjectives and their countries, to one name each."""
ALIASES: Final = PEOPLES | _by_word(_GROUPS)
"""Words to the first of those that name the same."""
TITLES: Final = _words(
    "mr mrs ms dr sir dame lord lady president king queen prince princess saint st general captain professor "
    "prof jr sr inc ltd señor señora sra don doña rey reina presidente presidenta príncipe princesa san santa "
    "doctor doctora general capitán profesor profesora about approximately around circa roughly unos unas "
    "aproximadamente alrededor cerca"
)
"""Words before or after a name or a number that say little beside it."""
