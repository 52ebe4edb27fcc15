"""The Spanish grammar: what each table is for is said in grammar.py. The first pattern that matches a sentence is used."""

from __future__ import annotations

import re

from ragstone.testset.offline.grammar import (
    DATE,
    NUMBER,
    Grammar,
    compile_patterns,
    fill_names,
    parse_pairs,
)
from ragstone.testset.vocabulary import NUMBER_WORDS
from ragstone.text.clause_words import to_word_set

_IMPERATIVES = "use|utilice|emplee|ejecute|pulse|escriba|seleccione|haga|añada|edite|elija|abra|introduzca|presione|instale|cree|configure|marque|vaya|llame|active|inicie|teclee|arrastre|cambie|dé|pida|acuda|rellene|consulte con|presente"

PATTERNS = compile_patterns(
    [
        ("definition", "conceptual", r"(?P<subject>(?!(?:El|La) )@np) (?P<verb>es) (?:el|la) (?!\S+ más\b|(?:mism[oa]|únic[oa]|siguiente|mejor|primer[ao]?|más|última?|próxim[oa]|principal|que|de|razón|valor|número|forma|opción|manera)\b)(?P<rest>.{15,})", "¿Qué {verb} {subject}?", ""),
        ("definition", "conceptual", r"(?P<subject>@np) (?P<verb>es|son) (?:una?|unos|unas) (?!\S+ (?:importante|útil|recomendad[oa]|más)\b|(?:intento|marca|buena?|mal[ao]?|poco|gran|problema|error|parte|ejemplo|lista|caso|operación|acción|cuestión|tarea|buen|muy|simple|forma|manera|opción|mejor|violación|requisito|consecuencia|paso|razón|más|nuev[oa]|distint[oa])\b)(?P<rest>.{15,})", "¿Qué {verb} {subject}?", ""),
        ("definition", "conceptual", r"(?P<subject>@np) (?P<verb>son) (?P<rest>(?!(?:los|las|muy|más|menos|solo|todos|todas|otros|otras|parecid\w+|similares|iguales|útiles|capaces|posibles|compatibles|importantes|comunes|diferentes|necesari\w+|\w+(?:ados|adas|idos|idas|mente)|\w+ y \w+)\b)[a-zñáéíóú]+s(?: [a-zñáéíóú]+){0,3} (?:que|para|de|con) .{8,})", "¿Qué son {subject}?", ""),
        ("part", "conceptual", r"(?P<subject>(?:El|La) @np) (?P<verb>es) (?:el|la|una?) (?P<rest>(?!primer|únic|mism|mejor|última?)(?:[a-zñáéíóú-]+ ){1,3}(?:que|donde) .{12,})", "¿Qué {verb} {subject}?", ""),
        ("meaning", "conceptual", r"(?P<subject>@np) (?P<verb>consisten?) en (?P<rest>.{15,})", "¿En qué {verb} {subject}?", ""),
    ],
    {"np": r"[^,;:()]{2,60}?"},
)  # fmt: skip
_NAMES = {
    "subject": r"(?P<subject>[^\t]{2,70})",
    "person": r"[A-ZÁÉÍÓÚÑ][\w-]+(?: (?:(?:de|del|la) )*[A-ZÁÉÍÓÚÑ][\w-]+){1,3}",
    "role": r"(?:directora?|gerente|jef[ea]|responsable|coordinadora?|secretari[oa]|tesorer[oa]|president[ea]|fundadora?|propietari[oa]|conservadora?|bibliotecari[oa]|editora?|administradora?|supervisora?|encargad[oa]|médic[oa]|enfermer[oa]|ingenier[oa]|arquitect[oa]|alcalde(?:sa)?|ministr[oa]|entrenadora?|conserje|guarda|rectora?|decan[oa])(?: (?:de|del) [a-zñáéíóú ]{3,30})?",
    "name": r"(?:(?:el|la) )?[A-ZÁÉÍÓÚÑ][\w’.-]+(?: (?:(?:de|del|y|la|van|von) )*[A-ZÁÉÍÓÚÑ][\w’.-]*)*(?<!\.)",
    "date": DATE["es"],
    "money": r"(?:[$€£] ?\d[\d.,]*(?<![.,])|\d[\d.,]*(?<![.,])(?: ?%| ?€| (?:euros?|dólares|libras|céntimos)))",
    "per": r"(?: (?:al|a la|por|cada) [a-zñáéíóú]+| (?:mensuales|anuales|diarios)){0,2}",
    "units": r"[a-zñáéíóú]{2,}(?:os|as|es)(?: (?:laborables|naturales|hábiles))?(?: de [a-zñáéíóú]+)?",
    "unit": r"(?:segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?)(?: (?:laborables|hábiles|naturales))?",
    "num": NUMBER.format(words="|".join(sorted(NUMBER_WORDS["es"]))),
    "where": r"(?: (?:al|a la|por|en|cada|para|desde) [^,;:()\d]{2,60})?",
    "time": r"(?P<answer>(?P<prep>\S+)(?: [^\t]*)?)",
}  # fmt: skip
_APPOSITION = r"\b(?P<role>(?:[Ee]l|[Ll]a) @role), (?P<name>@person)(?=[,.])|(?P<first>@person), (?P<called>(?:el|la) @role)(?=[,.])"
PREDICATES = compile_patterns(
    [
        ("who", "factual", r"@subject\t(?P<verb>(?:fue|fueron|es|son) [a-zñáéíóú]+(?:[ad]|ert|it)[oa]s?)\tpor (?P<answer>@name)(?: en @date.*|, .*|)", "¿Por quién {verb} {subject}?", "{answer}"),
        ("who", "factual", r"(?P<subject>(?:El|La|el|la) @role)\t(?P<verb>es)\t(?P<answer>@person)(?:(?: desde|,) .*)?", "¿Quién es {subject}?", "{answer}"),
        ("when", "factual", r"@subject\t(?P<verb>(?:fue|fueron) [a-zñáéíóú]+(?:[ad]|ert|it)[oa]s?|(?:se )?[a-zñ]+ó|se [a-zñ]+(?:on|jo))\t(?:en|el) (?P<answer>@date)(?: .*)?", "¿Cuándo {verb} {subject}?", "{answer}"),
        ("where", "factual", r"@subject\t(?P<verb>se (?:encuentran?|guardan?|almacenan?|instalan?|ubican?|sitúan?|registran?|conservan?)|están?(?: (?:ubicad|situad|guardad|instalad|almacenad)[oa]s?)?)\t(?P<answer>(?:en|bajo|dentro de|junto a|frente a) (?!(?:proceso|marcha|vigor|obras|función|riesgo|curso)\b)[^,;:()]{3,70})", "¿Dónde {verb} {subject}?", "{Answer}."),
        ("place", "factual", r"@subject\t(?P<verb>van?|se (?:tiran?|echan?|depositan?))\t(?P<answer>(?:al|a la|en el|en la) [^,;:()]{3,50})", "¿Dónde {verb} {subject}?", "{Answer}."),
        ("where", "factual", r"@subject\t(?P<verb>se (?:compran?|alquilan?|recogen?|devuelven?|descargan?|piden?|solicitan?|entregan?|presentan?)|(?:se )?pueden? (?:comprar|alquilar|recoger|devolver|descargar|pagar|pedir|solicitar|entregar|encontrar)(?:se)?)\t(?P<answer>(?:en|desde) (?:el|la|los|las) (?!plazo)[a-zñ][^,;:()\d]{3,60})", "¿Dónde {verb} {subject}?", "{Answer}."),
        ("cost", "factual", r"@subject\t(?P<verb>es|son|era)\tde (?P<answer>@money@per)", "¿De cuánto {verb} {subject}?", "{answer}"),
        ("cost", "factual", r"@subject\t(?P<verb>cuestan?|valen?|pagan?|cobran?|costó)\t(?P<answer>@money@per)", "¿Cuánto {verb} {subject}?", "{answer}"),
        ("cost", "factual", r"@subject\t(?P<verb>tienen?)\tun (?P<unit>coste|precio|descuento|recargo|límite) del? (?P<answer>@money@per)", "¿Qué {unit} {verb} {subject}?", "{answer}"),
        ("how_long", "factual", r"@subject\t(?P<verb>es|son)\tde (?P<answer>@num @unit)", "¿De cuánto tiempo {verb} {subject}?", "{answer}"),
        ("how_long", "factual", r"@subject\t(?P<verb>tardan?|duran?|duró)\t(?P<answer>(?:de |entre )?@num (?:(?:a|y) @num )?@unit)", "¿Cuánto {verb} {subject}?", "{answer}"),
        ("size", "factual", r"@subject\t(?P<verb>pesan?|miden?)\t(?P<answer>@num [a-zñáéíóú]+)", "¿Cuánto {verb} {subject}?", "{answer}"),
        ("how_many", "factual", r"@subject\t(?P<verb>(?!es\b|son\b|dura|tarda|cuesta|se )[a-zñáéíóú]+(?: [a-zñ]+[aei]r)?)\t(?P<with>con )?(?P<answer>@num (?!@unit(?: y .*)?$)(?P<unit>@units))(?P<rest>@where)(?: y .*)?", "¿{With}{many} {unit} {verb} {subject}{rest}?", "{answer}"),
        ("how_many", "factual", r"@subject\t(?P<verb>(?:se )?(?:pueden?|deben?) [a-zñ]+[aei]r(?:se)?)\t(?P<answer>(?:hasta |como máximo |al menos )?@num (?P<unit>@units))(?P<rest>@where)", "¿{many} {unit} {verb} {subject}{rest}?", "{answer}"),
        ("time", "factual", r"@subject\t(?P<verb>(?!(?:es|son|tienen?|van?|hay)\b)[^\t]+)\t(?P<rest>(?:[^,;:()\s\d]+ ?){0,5}?)\t@time", "{Wh} {verb} {subject} {rest}?", "{Answer}."),
    ],
    _NAMES,
)  # fmt: skip

TASK_VERBS = parse_pairs(
    "instalación=instalar configuración=configurar creación=crear eliminación=eliminar actualización=actualizar construcción=construir "
    "ejecución=ejecutar modificación=modificar importación=importar exportación=exportar activación=activar desactivación=desactivar "
    "comprobación=comprobar búsqueda=buscar conexión=conectar personalización=personalizar descarga=descargar edición=editar impresión=imprimir "
    "restauración=restaurar compilación=compilar copia=copiar administración=administrar preparación=preparar recuperación=recuperar "
    "devolución=devolver reserva=reservar renovación=renovar solicitud=solicitar supervisión=supervisar verificación=verificar"
)  # fmt: skip

_SOFTWARE = re.compile(
    r"\b(?:programa|herramienta|utilidad|biblioteca|aplicación|servidor|cliente|paquete|sistema|lenguaje|editor|protocolo|distribución|demonio|módulo|extensión|software|implementación|interfaz|plataforma)\b"
)

SPANISH = Grammar(
    language="es",
    patterns=PATTERNS,
    predicates=PREDICATES,
    apposition=re.compile(fill_names(_APPOSITION, _NAMES)),
    advice=re.compile(r"Si (?P<case>(?:no )?(?:se |ya )?(?!(?:quiere|desea|prefiere|necesita|es|hay|está)\b)[a-zñáéíóú]+[ae] [^,;:]{3,70}), (?:por favor, )?(?P<first>[a-zñáéíóú]{3,}[ea](?:se)?)(?P<rest> (?:a|al|con|el|la|los|las|un|una|de|en|por|su|lo|inmediatamente)\b[^;]{5,})"),
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
    links=to_word_set("de del en para"),
    wide_links=to_word_set("de del en para por con a al sin sobre entre"),
    vague_nouns=to_word_set(
        "resultado resultados repositorio detalles información objetivo objetivos idea problema problemas razón razones forma formas manera diferencia propósito punto resto respuesta pregunta paso "
        "pasos cosa cosas ejemplo ejemplos nota caso casos hecho solución elección opción ventaja desventaja excepción consecuencia efecto fin sección capítulo "
        "documento página tabla figura lista salida orden línea archivo fichero directorio valor número nombre tipo parte proceso método campo usuario usuarios "
        "argumento parámetro tiempo cambio cambios alternativa regla sistema programa paquete función clase objeto versión cadena variable datos documentación "
        "guía manual texto libro trabajo tarea comando herramienta motivo formato formatos"
    ),
    bad_starts=to_word_set(
        "quien quienes éste ésta éstos éstas ése ésa ésos ésas aquél aquélla mayoría ambas este esta esto estos estas ese esa eso esos esas aquel aquella dicho dicha él ella ellos ellas ello lo su sus cada todos todas ambos otro otra otros otras "
        "algunos algunas muchos muchas uno una-vez como si cuando mientras aunque porque pues pero sino y o ni también además así entonces luego finalmente primero "
        "segundo para por en a con sin desde hasta tras durante entre según sobre qué cuál quién cómo dónde no nunca solo sólo vea véase nota actualmente "
        "generalmente normalmente habitualmente hay existe existen es son puede pueden se le les más menos tal tales nada algo ahora hoy aquí quizá quizás "
        "básicamente obviamente igualmente asimismo alternativamente tampoco ya aún todavía recuerde tenga observe esto-es nosotros usted ejemplo cualquier ningún ninguna"
    ),
    question_pointers=re.compile(r"\b(?:[eé]st[eao]s?|és[eao]s?|es[eao]s?|aquel(?:l[ao]s?)?|dich[oa]s?|él|ellas?|ellos?|su|sus|nuestr[oa]s?|nos|aquí|arriba|abajo|siguientes?|anterior(?:es|mente)?|mism[oa]s?|tal|tales|citad[oa]s?|mencionad[oa]s?|usted|quiere|desea|desee|le|les|otr[oa]s?|\w+[aei]r(?:lo|la|los|las|le|les)|etc|ejemplo|capítulo|figura|(?:de|a) la (?:izquierda|derecha)|cualquiera|respectiv[oa]s?|similar(?:es)?|l[ií]neas? \d+|actual(?:es)?|(?:seleccionad|desead|elegid|especificad|marcad|adecuad|indicad)[oa]s?|correspondientes?)\b", re.IGNORECASE),
    reference_pointers=re.compile(r"\b(?:ellas?|ellos|[eé]st[eao]s?|és[eao]s?|más adelante|es[eao]s?|aquel(?:l[ao]s?)?|dich[oa]s?|ello|aquí|arriba|abajo|siguientes?|a continuación|anterior(?:es|mente)?|tales|citad[oa]s?|mencionad[oa]s?|próxim[oa] (?:sección|capítulo)|(?:sección|capítulo|figura|tabla) (?:[A-Z]\.)?\d|\w+(?:ar|er|ir)(?:lo|la|los|las)|similar|se (?:describe|explica|muestra|indica)n? (?:en|a|más)|como se muestra|(?:[ea]l|l[ao]s?) (?:demás|otr[oa]s?|resto)|respectivamente|igualmente|asimismo)\b", re.IGNORECASE),
    next_step=re.compile(rf"(?:{_IMPERATIVES}|luego|después|a continuación|ahora|entonces|repita|suelte|mantenga|oprima|haga|defina|indique)\b", re.IGNORECASE),
    first_person=re.compile(r"\b(?:nosotr[oa]s|nuestr[oa]s?|nos|\w{3,}[aei]mos)\b", re.IGNORECASE),
    leaning_start=re.compile(r"(?:(?:un |el )?(?:alias|complementario)|él|ella|ellos|ellas|lo|su|sus|le|les|igual|véase|vea|consulte|también|pero|y|o|así|entonces|además|nota|como|sí|no|similar|se (?:describe|explica|muestra|indica)n? (?:en|a|más)|como se muestra|equivalente|ídem|obsoleto|alias|sinónimo|ignorado|por ejemplo|p\. ?ej|esto|esta|este)\b", re.IGNORECASE),
    dangling_end=to_word_set("el la los las un una de del en a al por para con sin y o e que como es son su sus se si cuando desde hasta entre más p.ej etc"),
    openers=re.compile(r"(?:Sin embargo|No obstante|Por tanto|Por lo tanto|Además|Asimismo|También|De hecho|Finalmente|Por último|En general|Generalmente|En resumen|Básicamente|Históricamente|Desafortunadamente|Afortunadamente|Por otro lado|En la práctica|En otras palabras|Por consiguiente|Así pues), (?=\S)"),
    time_questions={"": "¿Cuándo", "hasta": "¿Hasta cuándo", "desde": "¿Desde cuándo", "durante": "¿Durante cuánto tiempo", "cada": "¿Cada cuánto", "dentro": "¿En qué plazo", "plazo": "¿En qué plazo"},
    task_verbs=TASK_VERBS,
    own_words={"su": "mi", "sus": "mis", "tu": "mi", "tus": "mis"},
    task_prefix=re.compile(r"(?:¿?Cómo (?:se )?)?(?P<task>[A-ZÁÉÍÓÚÑa-zñáéíóú]+(?:ar|er|ir)(?:se)? .+?)\??"),
    manual_heading=re.compile(r"opci[oó]n|descripci[oó]n|argumento|par[aá]metro", re.IGNORECASE),
    option_start=re.compile(r"(?:(?!\w+(?:[iou]que|gue|ice|zca|ione)\b)[A-ZÁÉÍÓÚ][a-zñáéíóú]*(?:a|e|ar|er|ir)|No|Solo|Sólo|Si|Cuando|Con|Al|En vez|El|Los \w+s|Las \w+s)\b"),
    value_columns=re.compile(r"(?:precio|coste|tarifa|fecha|año|puerto|capacidad|altura|longitud|peso|duración|licencia|dirección|teléfono|horario|unidad|formato|capital|idioma|rango|plazo|población|superficie|color|material|ubicación|profundidad|distancia|velocidad|tamaño)\b", re.IGNORECASE),
    verb_start=re.compile(r"(?:Contiene|Describe|Representa|Almacena|Muestra|Escribe|Imprime|Indica|Especifica|Define|Establece|Crea|Elimina|Borra|Añade|Lista (?:el|la|los|las|todos|todas|un|una)|Convierte|Comprueba|Lee|Abre|Cierra|Activa|Desactiva|Envía|Inicia|Detiene|Ejecuta|Usa|Utiliza|Hace|Actualiza|Instala|Calcula|Llama|Interpreta|Ignora|Incluye|Excluye|Fuerza|Permite|Limita|Suprime|Realiza|Busca|Selecciona|Cambia|Copia (?:el|la|los|las|todos|todas|un|una)|Mueve|Reemplaza|Restaura|Genera|Trata|Devuelve|Guarda|Carga|Verifica|Informa|Evita|Controla|Aplica|Mantiene|Omite|Determina|Produce|Obtiene|Configura|Habilita|Deshabilita|Sustituye|Salta|Espera|Asigna|Descarga|Desinstala|Presenta|Proporciona|Abandona|Termina|Sale|Modifica|Reinicia|Ordena|Quita|Pone|Agrega|Inserta|Suprime|Oculta|Edita|Importa|Exporta|Visualiza)\b|(?!Sobre|Durante|Entre|Desde|Ante|Mediante|Siempre|Aunque|Hasta|Contra|Para|Hacia|Tras|Cada|Una|Esta|Otra|Sea)[A-ZÁÉÍÓÚ][a-zñáéíóú]+[ae] (?:el|la|los|las|una?|todos|todas|automáticamente|si|al)\b"),
    third_person=re.compile(rf"(?i:(?!(?:{_IMPERATIVES})\b))(?!\w+(?:[iou]que|gue|ice|zca|ione|nda|mple|iera|ara)\b|(?:Existe|Compare|Inserte|Ajuste|Defina|Añada|Escriba|Agregue|Ingrese|Cree|Mantenga|Consulte|Especifique|Determine|Asigne|Localice|Guarde|Establezca|Escoja)\b)[A-ZÁÉÍÓÚ][a-zñáéíóú]+[ae]\b"),
    background_start=re.compile(r"(?:El valor (?:predeterminado|por omisión|por defecto)|Normalmente|Por omisión|Por defecto|De forma predeterminada|Habitualmente|Generalmente|Algunos|Algunas|Muchos|Actualmente|En|Hay|Existen?|Para|Desde|A menos|Sin|Usted|Puede|Aunque|Como|Debido|\S+ (?:es|son|era|está|tiene|puede|debe|normalmente|siempre|nunca|ejecuta|usa|utiliza|hace))\b"),
    self_reference=re.compile(r"Est[ea] (?:opción|directiva|orden|mandato|parámetro|función|variable|ajuste|campo|comando|método|botón|diálogo|ventana|herramienta|menú|casilla) (?:también |simplemente )?(?=(?!está\b|tiene\b|puede\b|debe\b)[a-zñáéíóú]{3,}[ae]\b)"),
    conditional_start=re.compile(r"(?:Si|Cuando|Mientras|En caso|Sin embargo|Pero|Salvo)\b"),
    telling_verbs=to_word_set("contiene especifica define indica almacena representa controla determina describe incluye proporciona establece"),
    finite_verbs=to_word_set("contiene proporciona especifica devuelve muestra representa define almacena describe imprime admite indica incluye genera comprueba ofrece") | to_word_set("es son está están fue ha han puede pueden debe deben tiene tienen permite se será dice determina existe"),
    noun_start=re.compile(r"(?:Una?|El|La|Los|Las|Uno de) [a-zñ`]"),
    attributes=(
        (_SOFTWARE, re.compile(r"\b(?:1[89]|20)\d\d\b|\bpublic|\blanz"), "¿Cuándo se publicó por primera vez {subject}?"),
        (_SOFTWARE, re.compile(r"\b(?:por|autor|autores|escri\w+|desarroll\w+|mantien\w*|manten\w*|cre[aóo]\w*)\b"), "¿Quién escribió originalmente {subject}?"),
        (_SOFTWARE, re.compile(r"\b(?:memoria|RAM|MB|GB|megabytes|gigabytes)\b"), "¿Cuánta memoria necesita {subject}?"),
        (re.compile(r"\b(?:empresa|cooperativa|fundación|sociedad|organización|hospital|fabricante|asociación)\b"), re.compile(r"\b(?:1[89]|20)\d\d\b|\bfund|desde"), "¿Cuándo se fundó {subject}?"),
    ),
    templates={
        "option": "¿Qué hace la opción {key} de {owner}?", "option_is": "¿Qué especifica la opción {key} de {owner}?", "does_in": "¿Qué hace {key} en {owner}?", "what_is_in": "¿Qué es {key} en {owner}?", "what_is": "¿Qué es {key}?",
        "purpose": "¿Para qué sirve {key}?", "cell": "¿Qué {column} tiene {key}?", "cell_for": "¿Qué {column} corresponde a {key}?",
        "task": "¿Cómo puedo {task}?", "who_is": "¿Quién es {role}?", "advice": "¿Qué debe hacer quien {case}?", "stands_for": "¿Qué significan las siglas {key}?", "follow_up": "¿Y {key}?",
        "frame_at": "En {owner}, {question}", "frame_tool": "Con {owner}, {question}", "frame_in": "En {owner}, {question}", "frame_page": "Según la página {title}, {question}", "quote": "«{}»", "section": "¿Qué dice {title} sobre {heading}?",
    },
    subject_fixes=((r"\bde el (?=[a-z`«])", "del "), (r"\ba el (?=[a-z`«])", "al ")),
)  # fmt: skip
