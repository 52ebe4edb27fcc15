"""The Spanish grammar: what each table is for is said in grammar.py."""

from __future__ import annotations

import re

from ragstone.testset.offline.grammar import Grammar
from ragstone.text.clause_words import to_word_set

_IMPERATIVES = "use|utilice|emplee|ejecute|pulse|escriba|seleccione|haga|añada|edite|elija|abra|introduzca|presione|instale|cree|configure|marque|vaya|llame|active|inicie|teclee|arrastre|cambie|dé|pida|acuda|rellene|consulte con|presente"

_PRAISE = r"(?:\S+ )?(?:buena?|gran|importante|útil|mejor|más|muy|nuev[oa]|distint[oa]|parte|ejemplo|forma|manera|caso|problema|sucesora?|tipo|clase)\b"

SPANISH = Grammar(
    language="es",
    definition=re.compile(rf"(?P<subject>[^,;:()]{{2,60}}?) (?P<verb>es|son) (?:una?|unos|unas) (?!{_PRAISE})(?P<rest>[a-zñáéíóú].{{15,}})"),
    articles=to_word_set("el la los las un una unos unas"),
    closed_words=to_word_set(
        "éste ésta éstos éstas ése ésa mayoría opcionalmente este esta esto estos estas ese esa eso esos esas aquel aquella dicho dicha dichos dichas que quien cuyo cuya cual cuales cuando donde como porque "
        "aunque mientras si pues pero sino y e o u ni él ella ellos ellas ello nosotros usted ustedes yo tú su sus mi mis tu tus nuestro nuestra nuestros "
        "nuestras me te se nos le les lo es son era eran fue fueron ser sido siendo está están estar hay ha han haber había tiene tienen puede pueden debe "
        "deben no nunca solo sólo también muy más menos ya aún todavía siempre normalmente generalmente actualmente habitualmente a al por para con desde "
        "hasta entre durante sin según sobre tras cada algún algunos algunas alguna muchos muchas todos todas todo ambos ambas otro otra otros otras tal "
        "tales mismo misma primer primero primera segundo segunda último última siguiente siguientes anterior anteriores uno vea véase use nota así además "
        "permite contiene usa utiliza proporciona nuevo nueva nuevos nuevas reciente recientes actual actuales antiguo antigua ahora aquí allí entonces luego únicamente opcional opcionales adicional adicionales"
    ),
    links=to_word_set("de del en para por con a al sin sobre entre"),
    bad_starts=to_word_set(
        "cuánto cuánta cuántos cuántas cuándo quien quienes éste ésta éstos éstas ése ésa ésos ésas aquél aquélla mayoría ambas este esta esto estos estas ese esa eso esos esas aquel aquella dicho dicha él ella ellos ellas ello lo su sus cada todos todas ambos otro otra otros otras "
        "algunos algunas muchos muchas uno una-vez como si cuando mientras aunque porque pues pero sino y o ni también además así entonces luego finalmente primero "
        "segundo para por en a con sin desde hasta tras durante entre según sobre qué cuál quién cómo dónde no nunca solo sólo vea véase nota actualmente "
        "generalmente normalmente habitualmente hay existe existen es son puede pueden se le les más menos tal tales nada algo ahora hoy aquí quizá quizás "
        "básicamente obviamente igualmente asimismo alternativamente tampoco ya aún todavía recuerde tenga observe esto-es nosotros usted ejemplo cualquier ningún ninguna"
    ),
    question_pointers=re.compile(r"\b(?:lo (?!que\b|más\b|menos\b|mismo\b)|[eé]st[eao]s?|és[eao]s?|es[eao]s?|aquel(?:l[ao]s?)?|dich[oa]s?|él|ellas?|ellos?|su|sus|nuestr[oa]s?|nos|aquí|arriba|abajo|siguientes?|anterior(?:es|mente)?|mism[oa]s?|tal|tales|citad[oa]s?|mencionad[oa]s?|usted|quiere|desea|desee|le|les|otr[oa]s?|\w+[aei]r(?:lo|la|los|las|le|les)|etc|ejemplo|capítulo|figura|(?:de|a) la (?:izquierda|derecha)|cualquiera|respectiv[oa]s?|similar(?:es)?|l[ií]neas? \d+|actual(?:es)?|(?:seleccionad|desead|elegid|especificad|marcad|adecuad|indicad)[oa]s?|correspondientes?)\b", re.IGNORECASE),
    reference_pointers=re.compile(r"\b(?:ellas?|ellos|[eé]st[eao]s?|és[eao]s?|más adelante|es[eao]s?|aquel(?:l[ao]s?)?|dich[oa]s?|ello|aquí|arriba|abajo|siguientes?|a continuación|anterior(?:es|mente)?|tales|citad[oa]s?|mencionad[oa]s?|próxim[oa] (?:sección|capítulo)|(?:sección|capítulo|figura|tabla) (?:[A-Z]\.)?\d|\w+(?:ar|er|ir)(?:lo|la|los|las)|similar|se (?:describe|explica|muestra|indica)n? (?:en|a|más)|como se muestra|(?:[ea]l|l[ao]s?) (?:demás|otr[oa]s?|resto)|respectivamente|igualmente|asimismo)\b", re.IGNORECASE),
    first_person=re.compile(r"\b(?:nosotr[oa]s|nuestr[oa]s?|nos|\w{3,}[aei]mos)\b", re.IGNORECASE),
    leaning_start=re.compile(r"(?:(?:un |el )?(?:alias|complementario)|él|ella|ellos|ellas|lo|su|sus|le|les|igual|véase|vea|consulte|también|pero|y|o|así|entonces|además|nota|como|sí|no|similar|se (?:describe|explica|muestra|indica)n? (?:en|a|más)|como se muestra|equivalente|ídem|obsoleto|alias|sinónimo|ignorado|por ejemplo|p\. ?ej|esto|esta|este)\b", re.IGNORECASE),
    dangling_end=to_word_set("el la los las un una de del en a al por para con sin y o e que como es son su sus se si cuando desde hasta entre más p.ej i.e etc"),
    manual_heading=re.compile(r"opciones|descripci[oó]n|argumentos|par[aá]metros", re.IGNORECASE),
    commands_heading=re.compile(r"\b(?:sub)?(?:órdenes|ordenes|mandatos|comandos)\b", re.IGNORECASE),
    before_verb=re.compile(r"(?:No|Solo|Sólo|Siempre|Se) "),
    verb_words=to_word_set("lista copia activa desactiva limpia imprime selecciona comprueba ignora antepone convierte guarda borra deshace rehace elimina añade ordena busca carga cambia oculta edita inserta importa exporta reemplaza restaura verifica omite fusiona"),
    verb_start=re.compile(r"[A-ZÁÉÍÓÚ][a-zñáéíóú]+[ae] (?:el|la|los|las|una?|todos|todas|automáticamente|si|al|y|o)\b|(?:No )?[A-ZÁÉÍÓÚ][a-zñ]+[aei]r(?:se)?\b"),
    after_noun=to_word_set("de del para es son está"),
    order_start=re.compile(rf"(?:{_IMPERATIVES})\b|\w+(?:[iou]que|gue|ice|zca|ione)\b|Existen?\b", re.IGNORECASE),
    infinitive=re.compile(r"(?:No )?[A-ZÁÉÍÓÚ][a-zñ]+[aei]r(?:se)?\b"),
    self_reference=re.compile(r"Est[ea] (?:opción|directiva|orden|mandato|parámetro|función|variable|ajuste|campo|comando|método|botón|diálogo|ventana|herramienta|menú|casilla) (?:también |simplemente )?(?=(?!está\b|tiene\b|puede\b|debe\b)[a-zñáéíóú]{3,}[ae]\b)"),
    glossary=re.compile(r"\b(?:glosario|terminología|definiciones)\b", re.IGNORECASE),
    templates={
        "option": "¿Qué hace la opción {key} de {owner}?", "what_is": "¿Qué {verb} {key}?",
        "purpose": "¿Para qué sirve {key}?", "cell": "¿Qué indica la tabla {place} para {key} en la columna {column}?", "of": "de {}", "under": "del apartado {label} de {home}", "follow_up": "¿Y {key}?",
        "frame_at": "En {owner}, {question}", "frame_in": "En {owner}, {question}", "frame_page": "Según {owner}, {question}", "quote": "«{}»", "heading": "¿Qué se indica en el apartado {label} de {home}?", "list": "¿Qué se enumera en el apartado {label} de {home}?", "home_manual": "la página de manual de `{}`", "home_readme": "el README de {}", "home_part": "{title}, de la documentación de {product}", "glossary": "¿Qué significa {term} en {home}?", "follow_up_heading": "¿Y en el apartado {key}?",
    },
    subject_fixes=((r"\bde el (?=[a-z`«]|README)", "del "), (r"\ba el (?=[a-z`«])", "al ")),
)  # fmt: skip
