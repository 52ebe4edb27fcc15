"""Quantities in a text, in any usual writing: numbers, measures, shares, ordinals, dates and times of day. Versioned by VERSION in judges/offline."""

from ragstone.text.quantities.quantity import CalendarDate as CalendarDate
from ragstone.text.quantities.quantity import Quantity as Quantity
from ragstone.text.quantities.quantity import differs as differs
from ragstone.text.quantities.quantity import is_comparable as is_comparable
from ragstone.text.quantities.quantity import matches as matches
from ragstone.text.quantities.scan import find_quantities as find_quantities
