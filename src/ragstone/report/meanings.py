"""What each metric means, in the languages that the code is not written in; English is its docstring."""

from __future__ import annotations

MEANINGS: dict[str, dict[str, str]] = {
    "es": {
        "answer_relevance": "Coseno medio entre la pregunta y 3 preguntas generadas a partir de la respuesta; 0 si la respuesta es evasiva.",
        "answer_similarity": "Coseno de los vectores de la respuesta y la referencia, limitado a 0..1; una respuesta vacía tiene 0.",
        "completeness": "Aspectos de la pregunta (con referencia: afirmaciones de la referencia) que la respuesta cubre ÷ todos.",
        "answer_correctness": "F1 de las afirmaciones de la respuesta y de la referencia; `similarity_weight` añade answer_similarity.",
        "citation_precision": "Pares de marca y afirmación cuyo fragmento citado respalda la afirmación ÷ pares; una marca que no apunta a ningún fragmento cuenta como errónea.",
        "citation_recall": "Afirmaciones de la respuesta con al menos una marca que las respalda ÷ sus afirmaciones.",
        "citation_accuracy": "F1 de citation_precision y citation_recall; no aplicable sin marcas.",
        "context_relevance": "Nota media de los fragmentos para la pregunta (0, 1 o 2) ÷ 2; se pregunta al juez dos veces con distinta redacción y se promedia.",
        "context_precision": "Precisión media de los fragmentos que el juez considera útiles para llegar a la referencia, entre los útiles recuperados.",
        "context_precision_unreferenced": "Precisión media de los fragmentos que el juez considera útiles para llegar a la respuesta, entre los útiles recuperados.",
        "context_recall": "Afirmaciones de la referencia respaldadas por los contextos ÷ sus afirmaciones.",
        "faithfulness": "Afirmaciones de la respuesta respaldadas ÷ sus afirmaciones.",
        "hallucination_rate": "Afirmaciones de la respuesta que los contextos contradicen o no contienen ÷ sus afirmaciones.",
        "noise_sensitivity": "Afirmaciones erróneas de la respuesta que se siguen de un fragmento recuperado ÷ sus afirmaciones.",
        "overall": "Media ponderada de las puntuaciones que la componen; una que es mejor cuanto menor cuenta como 1 − su valor.",
        "precision": "Documentos relevantes entre los k primeros ÷ k; sin k, ÷ el número de recuperados.",
        "recall": "Documentos relevantes entre los k primeros ÷ todos los relevantes.",
        "f1": "Media armónica de precisión y exhaustividad entre los k primeros; 0 si ambas son 0.",
        "hit_rate": "1 si hay un documento relevante entre los k primeros; si no, 0.",
        "mrr": "1 ÷ puesto del primer documento relevante entre los k primeros; 0 si no hay ninguno.",
        "map": "Suma de la precisión en cada puesto relevante entre los k primeros ÷ todos los documentos relevantes.",
        "ndcg": "Σ grado ÷ log2(puesto + 1) entre los k primeros, dividido por la misma suma en el orden ideal; `gain=exp2` usa 2^grado − 1.",
        "coherence": "Grado de coherencia de la respuesta según una rúbrica fija de cinco niveles, llevado a 0..1.",
        "rubric": "Nivel que el juez elige según los criterios escritos por el usuario, llevado a 0..1: el peor es 0 y el mejor, 1.",
        "latency": "Segundos que tardó el sistema en responder, según consta en la muestra (`latency`).",
        "tokens": "Tokens que usó el sistema para responder, según consta en la muestra (`tokens`).",
        "cost": "Dinero que gastó el sistema en la respuesta, según consta en la muestra (`cost`).",
        "exact_match": "1 si respuesta y referencia son iguales sin distinguir mayúsculas ni espacios repetidos; `normalize=squad` prescinde además de la puntuación y de los artículos.",
        "token_f1": "F1 de las dos bolsas de tokens, normalizadas como en exact_match; 1 si ambas están vacías y 0 si lo está una.",
        "abstention_accuracy": "Proporción de preguntas sin respuesta posible en las que el sistema se abstuvo; cada muestra cuenta como abstención correcta, abstención omitida, abstención indebida o respondida.",
        "rouge_l": "F1 de la subsecuencia común más larga de palabras (ROUGE-L, de rouge-score).",
        "bleu": "BLEU de la respuesta como una sola frase, con suavizado exponencial y orden efectivo (sacrebleu), en una escala de 0 a 1.",
        "chrf": "F2 de los n-gramas de caracteres (chrF, de sacrebleu), en una escala de 0 a 1; `word_order=2` es chrF++.",
    }
}
