"""Stop words for search and language detection. Versioned by VERSION in judges/offline."""

from __future__ import annotations

_ENGLISH = """
a about after all also am an and any are as at be because been before being between both but by can could
did do does doing down during each else few for from had has have having he her here hers him his how i if in
into is it its just may me might more most must my no nor not of off on once one only or other our out over own
per same shall she should so some such than that the their them then there these they this those through to
too under until up upon very was we were what when where which while who whom whose why will with within
without would you your yours s
"""
_SPANISH = """
a al algo algún alguna alguno algunos ante antes aunque bajo cada como con cómo cual cuál cuáles cuales cuando
cuándo cuanta cuánta cuantas cuántas cuanto cuánto cuantos cuántos de del desde donde dónde durante e el él ella
ellas ellos en entre era es esa ese eso esas esos esta está están estas este esto estos fue fuera ha hace hacer
hacia han hasta hay la las le les lo los más me mi mis muy ni no nos o os otra otro otros para pero por porque
puede pueden puedo que qué quien quién se según ser si sí sin sobre solo son su sus también te tengo tiene tienen
todo todos tras tu tus un una uno unos unas y ya yo
"""
STOPWORDS = {"en": frozenset(_ENGLISH.split()), "es": frozenset(_SPANISH.split())}
"""Language → function words, which say nothing of what a text is about."""
