"""Units of measure and currencies: names and signs in English and Spanish, and what they are in base units. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from typing import Final, NamedTuple


class Unit(NamedTuple):
    """A unit as a multiple of its base unit."""

    base: str
    factor: float


def convert(value: float, base: str, wanted: str) -> float | None:
    """The value in another base unit; None where the two measure different things."""
    if base == wanted:
        return value
    if (base, wanted) == ("°F", "°C"):
        return (value - 32) / 1.8
    if (base, wanted) == ("°C", "°F"):
        return value * 1.8 + 32
    if (base, wanted) in _BRIDGES:
        return value * _BRIDGES[base, wanted]
    if (wanted, base) in _BRIDGES:
        return value / _BRIDGES[wanted, base]
    return None


_BRIDGES: Final = {
    ("pound", "g"): 453.59237, ("pound", "GBP"): 1.0, ("°", "°C"): 1.0, ("°", "°F"): 1.0,
    ("cent", "USD"): 1.0, ("cent", "EUR"): 1.0, ("dollar", "USD"): 1.0,
}  # fmt: skip
"""Words of two meanings: a pound is a weight or a currency, a degree may be of Celsius or Fahrenheit."""

_NAMES = """
    m 1: meter meters metre metres metro metros
    m 1000: km kms kilometer kilometers kilometre kilometres kilómetro kilómetros
    m 0.01: cm centimeter centimeters centimetre centimetres centímetro centímetros
    m 0.001: mm millimeter millimeters millimetre millimetres milímetro milímetros
    m 1e-6: µm μm micrometer micrometers micrometre micrometres micrómetro micrómetros micron microns micra micras
    m 1e-9: nm nanometer nanometers nanometre nanometres nanómetro nanómetros
    m 1609.344: mile miles mi milla millas
    m 0.3048: foot feet ft pie pies
    m 0.0254: inch inches pulgada pulgadas
    m 0.9144: yard yards yd yarda yardas
    m 1852: nautical-mile nautical-miles milla-náutica millas-náuticas
    m² 1: m² m2 square-meter square-meters square-metre square-metres metro-cuadrado metros-cuadrados sq-m
    m² 1e6: km² km2 square-kilometer square-kilometers square-kilometre square-kilometres kilómetro-cuadrado
        kilómetros-cuadrados sq-km
    m² 10000: ha hectare hectares hectárea hectáreas
    m² 4046.8564224: acre acres
    m² 2589988.110336: square-mile square-miles milla-cuadrada millas-cuadradas sq-mi
    m² 0.09290304: square-foot square-feet sq-ft pie-cuadrado pies-cuadrados
    l 1000: m³ m3 cubic-meter cubic-meters cubic-metre cubic-metres metro-cúbico metros-cúbicos
    l 1: liter liters litre litres litro litros
    l 0.001: ml milliliter milliliters millilitre millilitres mililitro mililitros cc cm³ cm3
    l 0.01: cl centiliter centiliters centilitre centilitres centilitro centilitros
    l 0.005: teaspoon teaspoons tsp cucharadita cucharaditas
    l 0.015: tablespoon tablespoons tbsp cucharada cucharadas
    l 3.785411784: gallon gallons galón galones
    g 1: gram grams gramme grammes gramo gramos gr
    g 1000: kg kgs kilo kilos kilogram kilograms kilogramo kilogramos
    g 0.001: mg milligram milligrams miligramo miligramos
    g 1e-6: µg μg mcg microgram micrograms microgramo microgramos
    g 1e6: tonne tonnes ton tons tonelada toneladas
    pound 1: pound pounds lb lbs libra libras
    g 28.349523125: ounce ounces oz onza onzas
    s 1: second seconds sec secs segundo segundos seg
    s 0.001: ms millisecond milliseconds milisegundo milisegundos
    s 60: minute minutes min mins minuto minutos
    s 3600: hour hours hr hrs hora horas
    s 86400: day days día días dia dias
    s 604800: week weeks semana semanas
    s 1209600: fortnight fortnights
    month 1: month months mes meses
    month 3: trimestre trimestres
    month 6: semestre semestres
    month 12: year years yr yrs año años
    month 120: decade decades década décadas
    month 1200: century centuries
    m/s 1: m/s meters-per-second metres-per-second metros-por-segundo
    m/s 0.2777777777777778: km/h kmh kph kilometers-per-hour kilometres-per-hour kilómetros-por-hora km-por-hora
        kilometers-an-hour kilometres-an-hour
    m/s 0.44704: mph miles-per-hour miles-an-hour millas-por-hora
    °C 1: °c celsius degrees-celsius degree-celsius degrees-centigrade grados-celsius grado-celsius
        grados-centígrados degrees-c ºc
    °F 1: °f fahrenheit degrees-fahrenheit grados-fahrenheit degrees-f ºf
    ° 1: ° º degree degrees grado grados
    K 1: kelvin kelvins
    W 1: watt watts vatio vatios
    W 1000: kw kilowatt kilowatts kilovatio kilovatios
    W 1e6: mw megawatt megawatts megavatio megavatios
    W 1e9: gw gigawatt gigawatts gigavatio gigavatios
    Wh 1000: kwh kilowatt-hour kilowatt-hours kilovatio-hora kilovatios-hora
    Wh 1e6: mwh megawatt-hours megavatios-hora
    V 1: volt volts voltio voltios
    A 1: amp amps ampere amperes amperio amperios
    Hz 1: hz hertz hercio hercios
    Hz 1e6: mhz megahertz megahercio megahercios
    Hz 1e9: ghz gigahertz gigahercio gigahercios
    B 1: byte bytes
    B 1000: kb kilobyte kilobytes
    B 1e6: mb megabyte megabytes
    B 1e9: gb gigabyte gigabytes
    B 1e12: tb terabyte terabytes
    cal 1000: kcal kilocalorie kilocalories kilocaloría kilocalorías
    cal 1: calorie calories caloría calorías
    J 1: joule joules julio-de-energía
    Pa 100000: bar bars bares
    pp 1: percentage-point percentage-points punto-porcentual puntos-porcentuales pp
    USD 1: $ usd us$ us-dollar us-dollars dollar dollars dólar dólares
    EUR 1: € eur euro euros
    GBP 1: £ gbp pound-sterling pounds-sterling libra-esterlina libras-esterlinas
    JPY 1: ¥ jpy yen yenes
    CNY 1: cny yuan yuanes renminbi
    INR 1: ₹ inr rupee rupees rupia rupias
    CHF 1: chf swiss-franc swiss-francs franco-suizo francos-suizos
    peso 1: peso pesos mxn
    cent 0.01: cent cents céntimo céntimos centavo centavos
    share 0.01: % percent pct per-cent por-ciento
    times 1: times veces
"""
_SYMBOLS = {
    "m": Unit("m", 1), "g": Unit("g", 1), "l": Unit("l", 1), "L": Unit("l", 1), "t": Unit("g", 1e6),
    "s": Unit("s", 1), "h": Unit("s", 3600), "V": Unit("V", 1), "W": Unit("W", 1),
}  # fmt: skip
"""Signs of one letter, where capitals tell units apart."""


def _read_units() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    unit = Unit("", 1)
    for line in _NAMES.strip().splitlines():
        head, colon, names = line.rpartition(":")
        if colon:
            base, factor = head.split()
            unit = Unit(base, float(factor))
        units |= dict.fromkeys((name.replace("-", " ") for name in names.split()), unit)
    return units


UNITS: Final = _read_units()
"""Name of a unit in small letters, words apart by a space → the unit."""
SYMBOLS: Final = _SYMBOLS
UNIT_STARTS: Final = {name.split()[0].split("/")[0] for name in UNITS}
"""First words of the names: most words are none, and need no longer look."""
LONGEST_UNIT = max(len(name.replace("/", " ").split()) for name in UNITS)
CURRENCY_SIGNS: Final = {sign: UNITS[sign] for sign in "$€£¥₹"}
CURRENCIES: Final = frozenset({"USD", "EUR", "GBP", "JPY", "CNY", "INR", "CHF", "peso"})
TIME_SPANS: Final = frozenset({"s", "month"})
