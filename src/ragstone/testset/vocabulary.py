"""Word lists in lower case for reading sentences by rule: language → words."""

from __future__ import annotations

from ragstone.text.clause_words import to_word_set

NUMBER_WORDS = {
    "en": to_word_set(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
        "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen"
    ),
    "es": to_word_set(
        "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho "
        "diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien mil millones doscientos trescientos quinientos"
    ),
}

# plurals that are not recognised by their ending (spans.is_plural)
PLURALS = {
    "en": to_word_set("people children men women feet police cattle sheep miles mice teeth"),
    "es": frozenset[str](),
}

# words that end the search for what a number counts
UNIT_STOPS = {
    "en": to_word_set(
        "a an the and or but of in on at by to for from with per each every as than that which who is are was were has have had "
        "more less fewer further longer later earlier before after ago times its their his her other others others' this these those "
        "was be can may not only plus minus until within during thousand hundred others"
    ),
    "es": to_word_set(
        "y o u e de del en a al por para con que como es son fue más menos veces su sus los las el la un una lo otros otras se no sin "
        "antes después tras puntos-es mil entonces ellos ellas estos estas esos esas"
    ),
}

PREPOSITIONS = {
    "en": to_word_set(
        "in on at from to until till by for with within during between after before under since through into onto over across along around "
        "against among about as per without near off toward towards throughout upon beyond behind inside outside despite above below beside opposite"
    ),
    "es": to_word_set(
        "en a al de del desde hasta por para con sin sobre bajo entre durante tras según contra hacia ante mediante dentro fuera junto antes después"
    ),
}

DETERMINERS = {
    "en": to_word_set(
        "the a an this that these those its their his her our my your each every some any all both no another many most several few such"
    ),
    "es": to_word_set(
        "el la los las un una unos unas este esta estos estas ese esa esos esas su sus cada todo toda todos todas algún alguna algunos algunas otro otra otros otras muchos muchas varios varias ningún ninguna"
    ),
}
