"""Pairs of writings that say the same and pairs that do not: claim on the left, source on the right."""

from __future__ import annotations

import time

import pytest

from ragstone.text.quantities import Quantity, differs, find_quantities, is_comparable, matches

MEET = {
    "en": """
        three quarters of an hour | 45 minutes
        2 tablespoons | 30 ml
        500 euros monthly | 500 euros a month
        10 people or fewer | at most 10 people
        a maximum upload size of 25 MB | files may not exceed 25 MB
        born on 11 June 2003 | Born: 2003-06-11
        11 June 2003 | 11.06.2003
        June 11, 2003 | 11th of June, 2003
        June 11th | 2003-06-11
        2003 | June 11, 2003
        June 2003 | 11 June 2003
        in 1937 | on May 27, 1937
        in the 1930s | It opened on May 27, 1937.
        in the thirties | in 1937
        in the 18th century | in 1754
        the eighteenth century | the 18th century
        in the 1800s | in 1854
        the third of May | May 3rd
        May the 3rd, 1999 | 3 May 1999
        3 Sept 1999 | September 3, 1999
        11-Jun-2003 | 11 June 2003
        03/04/2005 | April 3, 2005
        03/04/2005 | March 4, 2005
        3–5 June 2003 | June 3, 2003 and June 5, 2003
        June 3-5 | from 3 to 5 June
        44 BC | 44 BCE
        the 3rd century BC | 250 BC
        in AD 79 | in 79 AD
        from 1914 to 1918 | 1914–18
        on Monday | Mondays and Fridays
        nineteen ninety-nine | 1999
        two thousand and three | 2003
        at 2 pm | at 14:00
        at 2 p.m. | at 14:00
        2:30 PM | 14:30
        2:30 | 2:30 pm
        half past two | 2:30
        quarter to three | 2:45
        two o'clock | 2 pm
        at noon | at 12:00
        at midnight | at 0:00
        9 to 11 pm | 21:00 and 23:00
        from 9 am to 5 pm | 9:00 - 17:00
        eight in the morning | 8 am
        three and a half kilometres | 3.5 km
        3500 m | 3.5 km
        2,737 metres | 2,737 m
        40,000 | forty thousand
        1,234.5 | 1234.5
        2.5 million | 2,500,000
        2.5 million people | 2,487,000 people
        $2.5 million | $2,500,000
        $5m | 5 million dollars
        £3bn | 3 billion pounds
        5 euros | €5
        5 EUR | 5 €
        50 cents | $0.50
        half a million | 500,000
        a million | 1,000,000
        two and a half million | 2.5 million
        a dozen eggs | 12 eggs
        two dozen | 24
        two hundred and five | 205
        twenty-five | 25
        2½ hours | 150 minutes
        half an hour | 30 minutes
        an hour and a half | 90 minutes
        two years | 24 months
        7 days | for a week
        48 hours | two days
        20 degrees Celsius | 20 °C
        68 °F | 20 °C
        -5 °C | minus 5 degrees Celsius
        five degrees below zero | -5°
        100 km/h | 100 kilometres per hour
        60 mph | 60 miles per hour
        5 kg | 5,000 grams
        10 pounds | 10 lbs
        two square kilometres | 2 km²
        500 ml | 0.5 litres
        40 percent | 40 %
        40 per cent | forty percent
        half of the staff | 50% of the staff
        two thirds of them | 67 %
        a quarter of voters | 25%
        three quarters | 75 percent
        one in five | 20%
        3/4 | 0.75 of the whole is 75%
        the third chapter | chapter 3
        the 3rd | the third
        twenty-first | 21st
        World War II | the Second World War
        in Q3 | in the third quarter
        between 5 and 7 days | 5-7 days
        5 to 7 business days | five to seven days
        $5 to $7 | $5-7
        at least 18 | 18 or more
        more than 30 | 45
        up to 30 days | 30 days
        under 10 | fewer than 10
        about 1,500 | 1,487
        40 people | about 40 people
        between 5 and 10 | 7
        5-day trip | a trip of five days
        35 years old | a 35-year-old
        2000 people | 2,000 people
        twice | two times
        twenty past five | 5:20 pm
        it opens at 8. | it opens at 8 am
        at most six tablets | do not exceed 6 tablets
        at most 10 days | not for longer than ten days
    """,
    "es": """
        un cuarto de hora | 15 minutos
        tres cuartos de hora | 45 minutos
        900 euros mensuales | 900 euros al mes
        10 m/s | 36 km/h
        más de 40 euros | superiores a 40 euros
        diez caracteres o menos | como máximo diez caracteres
        el 11 de junio de 2003 | 2003-06-11
        11 de junio de 2003 | 11/06/2003
        11.06.2003 | 11 de junio del 2003
        el 1 de enero | 1º de enero de 1990
        el primero de enero | el 1 de enero
        en 1937 | el 27 de mayo de 1937
        en junio de 2003 | el 11 de junio de 2003
        en mayo | el 3 de mayo
        en los años treinta | en 1937
        en los años 30 | en 1937
        la década de 1990 | en 1994
        la década de los noventa | los años 90
        el siglo XVIII | en 1754
        siglo XIX | siglo diecinueve
        44 a. C. | 44 a.C.
        siglo III a. C. | en 250 a. C.
        del 3 al 5 de junio | 3-5 de junio
        entre 1914 y 1918 | 1914-1918
        el lunes | los lunes y jueves
        mil novecientos noventa y nueve | 1999
        a las 2 de la tarde | a las 14:00
        a las dos y media de la tarde | 14:30
        a las tres menos cuarto | 2:45
        a las 9 | a las 9:00
        las 8 de la mañana | 8:00
        a las 20 h | 20:00
        a las 9 de la noche | 21:00
        2 p. m. | 14:00
        al mediodía | a las 12:00
        a medianoche | 0:00
        entre las 9 y las 14 horas | 9:00 - 14:00
        cuarenta mil | 40.000
        cuarenta mil personas | 40 000 personas
        1.234,5 | 1234,5
        3,5 km | tres kilómetros y medio
        tres kilómetros y medio | 3.500 m
        2,5 millones | 2.500.000
        2,5 millones de euros | 2.500.000 €
        dos millones y medio | 2,5 millones
        medio millón | 500.000
        un millón | 1.000.000
        mil millones | 1.000.000.000
        doscientos cinco | 205
        treinta y cinco | 35
        veintiún años | 21 años
        una docena de huevos | 12 huevos
        media docena | 6
        5 euros | 5 €
        cinco euros | 5,00 €
        10 dólares | $10
        20 libras esterlinas | £20
        30 céntimos | 0,30 €
        media hora | 30 minutos
        hora y media | 90 minutos
        dos años | 24 meses
        7 días | durante una semana
        48 horas | dos días
        20 grados Celsius | 20 °C
        20 grados | 20 °C
        cinco grados bajo cero | -5 °C
        100 kilómetros por hora | 100 km/h
        dos metros cuadrados | 2 m²
        5 kilos | 5.000 gramos
        medio litro | 500 ml
        40 por ciento | 40 %
        el 40% | cuarenta por ciento
        la mitad de la plantilla | el 50 %
        dos tercios | 67 %
        un cuarto de los votantes | 25 %
        tres cuartas partes | 75 %
        la quinta parte | 20 %
        uno de cada cinco | 20 %
        el tercer capítulo | capítulo 3
        el 3.º | el tercero
        Felipe II | Felipe Segundo
        la Segunda Guerra Mundial | la II Guerra Mundial
        entre 5 y 7 días hábiles | 5-7 días hábiles
        de 5 a 7 días | entre cinco y siete días
        al menos 18 años | 18 años o más
        más de 30 | 45
        hasta 30 días | 30 días
        como máximo 10 | 10 como máximo
        unos 1.500 | 1.487
        40 personas | unas 40 personas
        entre 5 y 10 | 7
        2000 personas | 2.000 personas
        dos veces | 2 veces
        a las cinco y veinte de la tarde | 17:20
        a las nueve menos diez | 8:50
        como máximo 10 kg | no puede pasar de 10 kg
    """,
}
APART = {
    "en": """
        up to 84 people | 48 people
        at least 5 days | up to 5 days
        more than 28 days | within 28 days
        5 teaspoons | 5 ml
        7 miles | 7 kilometres
        once a month | once a year
        11 June 2003 | 12 June 2003
        11 June 2003 | 11 July 2003
        11 June 2003 | June 2003
        May 27, 1937 | 1937
        1973 | 1937
        in 1837 | in 1937
        in the 1940s | in 1937
        in the 19th century | in 1754
        44 BC | 44 AD
        on Monday | on Tuesday
        in March | in May
        May 3rd | May 30th
        2 am | 14:00
        2 pm | 14:30
        noon | midnight
        half past two | 2:15
        3.5 km | 3.5 miles
        3.5 km | 35 km
        3.5 km | 3.5 m
        2.5 million | 2.5 billion
        2.5 million | 25 million
        5 million | 4.6 million
        40,000 | 4,000
        1,234.5 | 12,345
        5 euros | 5 dollars
        £5 | €5
        50 cents | $50
        5 days | 5 weeks
        5 days | 5 dogs
        two years | 20 months
        12 months | two years
        for a week | 10 days
        20 °C | 20 °F
        5 °C | -5 °C
        40 % | 45 %
        40 % | 40 people
        half of the staff | 40 % of the staff
        two thirds | three quarters
        one in five | one in six
        the third | the fourth
        the 3rd | the 13th
        5-7 days | 5-10 days
        5 days | 5-7 days
        between 5 and 7 | 8
        once a month | once a year
        more than 40 | less than 40
        at least 18 | 16
        under 10 | 10
        up to 30 days | 45 days
        about 1,500 | 1,800
        40 people | 41 people
        20 people | 40 people
        100 km/h | 100 km
        2 km² | 2 km
        5 kg | 5 lb
        11th | 1th
        World War II | World War I
        205 | 250
        twenty-five | twenty-six
        thirteen | thirty
        a dozen | 10
        two dozen | 12
        the 1990s | the 1980s
        12/25/2003 | 12/24/2003
        under ten | under 6
        up to ten weeks | not for longer than ten days
        one in the evening | one in the morning
    """,
    "es": """
        al menos dos testigos | como máximo dos testigos
        más de seis personas | como máximo seis personas
        25 m/s | 25 kilómetros por hora
        24 euros anuales | 24 euros al mes
        una vez al año | una vez al mes
        11 de junio de 2003 | 12 de junio de 2003
        11 de junio de 2003 | 11 de julio de 2003
        11 de junio de 2003 | junio de 2003
        27 de mayo de 1937 | 1937
        03/04/2005 | 4 de marzo de 2005
        1973 | 1937
        en los años cuarenta | en 1937
        siglo XIX | en 1754
        44 a. C. | 44 d. C.
        el lunes | el martes
        en marzo | en mayo
        las 2 de la mañana | 14:00
        las 2 de la tarde | 14:30
        a las 9 de la noche | 9:00
        mediodía | medianoche
        las dos y media | 2:15
        3,5 km | 3,5 millas
        3,5 km | 35 km
        2,5 millones | 25 millones
        2,5 millones | 2,5 billones
        mil millones | un millón
        cuarenta mil | 4.000
        40.000 | 40
        1.234 | 1,234567
        5 euros | 5 dólares
        30 céntimos | 30 €
        5 días | 5 semanas
        5 días | 5 perros
        dos años | 20 meses
        una semana | 10 días
        20 °C | 20 °F
        5 grados | 5 grados bajo cero
        40 % | 45 %
        40 % | 40 personas
        la mitad | el 40 %
        dos tercios | tres cuartos
        uno de cada cinco | uno de cada seis
        el tercero | el cuarto
        el 3.º | el 13.º
        Felipe II | Felipe III
        entre 5 y 7 días | entre 5 y 10 días
        5 días | 5-7 días
        entre 5 y 7 | 8
        más de 40 | 40
        más de 40 | menos de 40
        al menos 18 | 16
        menos de 10 | 10
        hasta 30 días | 45 días
        unos 1.500 | 1.800
        40 personas | 41 personas
        100 km/h | 100 km
        treinta y cinco | treinta y seis
        trece | treinta
        sesenta | setenta
        doscientos | doce
        una docena | 10
        la década de 1990 | la década de 1980
        25/12/2003 | 24/12/2003
        hasta 20 kilos | no puede pasar de 10 kg
        a las cinco y veinte de la tarde | 17:30
    """,
}


def pairs(table: dict[str, str]) -> list[tuple[str, str, str]]:
    return [
        (language, *(side.strip() for side in line.split("|")))  # type: ignore[misc]
        for language, lines in table.items()
        for line in lines.strip().splitlines()
    ]


def stands_in(claim: str, source: str, language: str) -> bool:
    """Whether the claim has a quantity, and each one of them matches one of the source."""
    quantities = find_quantities(claim, language)
    assert quantities, claim
    theirs = find_quantities(source, language)
    return all(any(matches(mine, other) for other in theirs) for mine in quantities)


@pytest.mark.parametrize(("language", "claim", "source"), pairs(MEET))
def test_writings_of_the_same_meet(language: str, claim: str, source: str) -> None:
    assert stands_in(claim, source, language)


@pytest.mark.parametrize(("language", "claim", "source"), pairs(APART))
def test_writings_of_something_else_do_not(language: str, claim: str, source: str) -> None:
    assert not stands_in(claim, source, language)


def test_there_are_enough_pairs() -> None:
    for language in ("en", "es"):
        assert sum(pair[0] == language for pair in pairs(MEET) + pairs(APART)) >= 140


def only(text: str, language: str = "en") -> Quantity:
    (quantity,) = find_quantities(text, language)
    return quantity


@pytest.mark.parametrize(
    "text",
    [
        "May I march with you? One never knows.", "The A320 and COVID-19.", "Python 3.11.2", "the second-hand shop",
        "half-hearted", "He is one of them.", "a minute later", "He has a degree.", "the medium term", "See you later.",
    ],
)  # fmt: skip
def test_what_is_no_quantity_is_passed_over(text: str) -> None:
    assert [q for q in find_quantities(text, "en") if q.kind != "ordinal"] == []


def test_spanish_words_that_only_look_like_numbers() -> None:
    text = "El medio ambiente es una de las causas; la media fue alta y uno no sabe."
    assert find_quantities(text, "es") == []


def test_a_quantity_knows_its_place() -> None:
    text = "It lasted about three and a half years."
    quantity = only(text)
    assert text[quantity.start : quantity.end] == "three and a half years"
    assert (quantity.value, quantity.unit, quantity.bound) == (42, "month", "about")


def test_quantities_differ_when_both_cannot_be_right() -> None:
    assert differs(only("60 days"), only("30 days"))
    assert differs(only("in 1938"), only("May 27, 1937"))
    assert differs(only("5 miles"), only("5 km"))
    assert differs(only("9 pm"), only("9 am"))


def test_quantities_of_other_things_do_not_differ() -> None:
    assert not differs(only("60 days"), only("30 km"))
    assert not differs(only("5 days"), only("5-7 days"))
    assert not differs(only("May 27, 1937"), only("1937"))
    assert not differs(only("more than 30"), only("45"))
    assert not differs(only("June 11"), only("in 2003"))


@pytest.mark.parametrize(
    ("claim", "source", "excludes"),
    [
        ("30 days", "one month", False),
        ("45 days", "one month", True),
        ("at least 16", "at least 12", True),
        ("2.5 million", "2,600,000", True),
        ("500 euros a month", "500 euros a year", True),
        ("500 euros a month", "500 euros per month", False),
    ],
)
def test_bounds_rates_and_months(claim: str, source: str, excludes: bool) -> None:
    assert differs(only(claim), only(source)) is excludes


def test_what_can_be_compared() -> None:
    length, height, price, fee, hour = map(only, ("3 km", "800 m", "5 euros", "7 dollars", "14h30"))
    assert is_comparable(length, height)
    assert is_comparable(price, fee)
    assert not is_comparable(length, price)
    assert not is_comparable(hour, length)


def test_numbers_of_passages_are_no_figures() -> None:
    assert [q.value for q in find_quantities("see passage 2: it has 7 rooms", "en")] == [7]


def test_a_long_text_is_read_fast() -> None:
    text = "On 3 May 1999 the 25 members paid €1,250.50 for half an hour. " * 400
    started = time.process_time()
    assert len(find_quantities(text, "en")) == 1600
    assert time.process_time() - started < 2.0
