"""What failure analysis and diagnosis say, in English and Spanish."""

from __future__ import annotations

FAILING: dict[str, tuple[str, str]] = {
    "failures": ("Why samples fail", "Por qué fallan las muestras"),
    "class": ("Class", "Clase"),
    "failure_class.system_failure": ("system failure", "fallo del sistema"),
    "failure_class.missed_refusal": ("missed refusal", "abstención omitida"),
    "failure_class.retrieval_failure": ("retrieval failure", "fallo de recuperación"),
    "failure_class.false_refusal": ("false refusal", "abstención indebida"),
    "failure_class.hallucination": ("hallucination", "alucinación"),
    "failure_class.ranking_failure": ("ranking failure", "fallo de orden"),
    "failure_class.generation_failure": ("generation failure", "fallo de generación"),
    "failure_class.judge_failure": ("judge failure", "fallo del juez"),
    "failure_class.fine": ("fine", "correcta"),
    "failure_class.unclassified": ("unclassified", "sin clasificar"),
    "class_means.system_failure": ("the system gave nothing", "el sistema no dio nada"),
    "class_means.missed_refusal": (
        "the documents hold no answer, yet one was given",
        "los documentos no contienen la respuesta y aun así se dio una",
    ),
    "class_means.retrieval_failure": ("{metric} {rule}", "{metric} {rule}"),
    "class_means.false_refusal": (
        "there is an answer, yet none was given",
        "hay respuesta y aun así no se dio ninguna",
    ),
    "class_means.hallucination": ("{metric} {rule}", "{metric} {rule}"),
    "class_means.ranking_failure": (
        "the evidence came too far down, {metric} {rule}, and the answer is wrong",
        "la evidencia vino demasiado abajo, {metric} {rule}, y la respuesta es errónea",
    ),
    "class_means.generation_failure": (
        "the evidence was there, {metric} {rule}",
        "la evidencia estaba, {metric} {rule}",
    ),
    "class_means.judge_failure": (
        "a metric that decides could not be scored",
        "no se pudo puntuar una métrica decisiva",
    ),
    "class_means.fine": ("none of these", "nada de lo anterior"),
    "class_means.unclassified": (
        "no metric of the run decides",
        "ninguna métrica de la ejecución decide",
    ),
    "below_limit": ("below {limit}", "por debajo de {limit}"),
    "above_limit": ("above {limit}", "por encima de {limit}"),
    "meaning_column": ("When", "Cuándo"),
    "no_decider": (
        "No metric of the run shows a {kind}; score it with {metrics}.",
        "Ninguna métrica de la ejecución muestra un caso de {kind}; puntúela con {metrics}.",
    ),
    "slices_worse": (
        "Where it fails more than elsewhere",
        "Dónde falla más que en el resto",
    ),
    "slices_none": (
        "No slice fails significantly more often than the rest ({n} tested, corrected by Holm).",
        "Ningún subconjunto falla significativamente más que el resto ({n} probados, corregidos por Holm).",
    ),
    "slices_note": (
        "{n} slices tested by Fisher's exact test, corrected by Holm.",
        "{n} subconjuntos probados con la prueba exacta de Fisher, corregidos por Holm.",
    ),
    "slice": ("Slice", "Subconjunto"),
    "fails": ("Fails", "Falla"),
    "rest": ("Rest", "Resto"),
    "mostly": ("Mostly", "Sobre todo"),
    "slice_of": ("{field} = {value}", "{field} = {value}"),
    "dropped_fields": (
        "Not sliced by {fields}: too many different values.",
        "No se divide por {fields}: demasiados valores distintos.",
    ),
    "examples": ("Examples", "Ejemplos"),
    "missed_documents": ("missed: {ids}", "faltó: {ids}"),
    "instead_documents": ("came instead: {ids}", "vino en su lugar: {ids}"),
    "nothing_came": ("nothing came", "no vino nada"),
    "claims_against": ("against it: {claims}", "en contra: {claims}"),
    "also_is": ("also {kinds}", "también {kinds}"),
    "no_failures": ("No failures", "Sin fallos"),
    "failing.one": ("{n} sample fails", "{n} muestra falla"),
    "failing.many": ("{n} samples fail", "{n} muestras fallan"),
    # diagnosis
    "diagnosis": ("What to do next", "Qué hacer ahora"),
    "no_symptoms": (
        "No known symptom: nothing to advise.",
        "Ningún síntoma conocido: no hay nada que aconsejar.",
    ),
    "evidence_metric": (
        "{what} is {value} ({interval}), {rule}; {affected} of {samples} samples, e.g. {examples}",
        "{what} es {value} ({interval}), {rule}; {affected} de {samples} muestras, p. ej. {examples}",
    ),
    "evidence_class": (
        "{what}: {affected} of {samples} samples, {value} ({interval}), e.g. {examples}",
        "{what}: {affected} de {samples} muestras, {value} ({interval}), p. ej. {examples}",
    ),
    "perhaps": ("perhaps", "quizá"),
    "perhaps_note": (
        "The interval reaches across the limit: more questions would tell.",
        "El intervalo cruza el límite: harían falta más preguntas.",
    ),
    "because": ("Perhaps because", "Quizá porque"),
    "then_try": ("Try", "Pruebe"),
    "test_it": ("Test it", "Compruébelo"),
}
