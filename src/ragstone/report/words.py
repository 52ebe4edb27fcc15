"""Names of the translator for callers that have not moved yet."""

from ragstone.report.translator import Translator as Words
from ragstone.report.translator import load_translator as load_words

__all__ = ["Words", "load_words"]
