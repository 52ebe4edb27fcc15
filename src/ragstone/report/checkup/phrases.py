"""What a test set's check-up says, in English and Spanish."""

from __future__ import annotations

CHECKING: dict[str, tuple[str, str]] = {
    "checkup": ("Check-up of {name}", "Revisión de {name}"),
    "checkup.size": (
        "{total} questions, {answerable} with an answer, {impossible} without",
        "{total} preguntas, {answerable} con respuesta, {impossible} sin ella",
    ),
    "checkup.balance": ("Balance", "Equilibrio"),
    "checkup.kind": ("Kind", "Tipo"),
    "checkup.difficulty": ("Difficulty", "Dificultad"),
    "checkup.language": ("Language", "Idioma"),
    "checkup.share": ("Share", "Proporción"),
    "checkup.unknown": ("no item says", "ningún elemento lo dice"),
    "checkup.coverage": ("Coverage of the corpus", "Cobertura del corpus"),
    "checkup.coverage.documents": (
        "{asked} of {documents} documents are asked about ({share})",
        "se pregunta por {asked} de {documents} documentos ({share})",
    ),
    "checkup.coverage.topics": (
        "{asked} of {topics} topics are asked about",
        "se pregunta por {asked} de {topics} temas",
    ),
    "checkup.coverage.most": ("most asked about: {names}", "por los que más se pregunta: {names}"),
    "checkup.coverage.none": (
        "not looked at: name the documents with --documents",
        "no se ha mirado: indique los documentos con --documents",
    ),
    "checkup.faults": ("What is wrong", "Qué está mal"),
    "checkup.faults.none": ("nothing was found", "no se ha encontrado nada"),
    "checkup.faults.more": ("… and {n} more", "… y {n} más"),
    "checkup.fault.no_question": ("no question", "sin pregunta"),
    "checkup.fault.no_reference": ("no reference answer", "sin respuesta de referencia"),
    "checkup.fault.duplicate": ("asks the same as another one", "pregunta lo mismo que otra"),
    "checkup.fault.ambiguous": (
        "asked twice with different answers",
        "preguntada dos veces con respuestas distintas",
    ),
    "checkup.fault.leaked": (
        "the question holds its answer",
        "la pregunta contiene la respuesta",
    ),
    "checkup.fault.not_self_contained": (
        "speaks of a text that nobody sees",
        "habla de un texto que nadie ve",
    ),
    "checkup.fault.unknown_document": (
        "names a document that is not there",
        "nombra un documento que no está",
    ),
    "checkup.fault.quote_not_verbatim": (
        "the quote does not stand in its document",
        "la cita no está en su documento",
    ),
    "checkup.fault.not_answerable": (
        "its documents do not hold the answer",
        "sus documentos no contienen la respuesta",
    ),
    "checkup.fault.answered_elsewhere": (
        "a document that is not named tells it too",
        "un documento no nombrado también lo dice",
    ),
    "checkup.trivial": (
        "What a trivial system gets right",
        "Qué acierta un sistema trivial",
    ),
    "checkup.trivial.constant": (
        "one answer for everything (“{answer}”): {share}",
        "una respuesta para todo («{answer}»): {share}",
    ),
    "checkup.trivial.first": (
        "the first document of BM25 is a relevant one: {share}; it holds the answer word for word: {told}",
        "el primer documento de BM25 es relevante: {share}; contiene la respuesta palabra por palabra: {told}",
    ),
    "checkup.power": ("What it can show", "Qué puede mostrar"),
    "checkup.power.shows": (
        "a difference of {effect} or more between two systems, at worst (80 % of the time)",
        "una diferencia de {effect} o más entre dos sistemas, en el peor caso (el 80 % de las veces)",
    ),
    "checkup.power.need": (
        "a difference of {effect} needs {questions} questions",
        "una diferencia de {effect} necesita {questions} preguntas",
    ),
    "checkup.fine": (
        "No item needs attention.",
        "Ningún elemento necesita atención.",
    ),
    "checkup.wrong": (
        "{n} of {total} items need attention.",
        "{n} de {total} elementos necesitan atención.",
    ),
}
