"""Spanish tables for question making."""

from __future__ import annotations

import re

from ragstone.testset.offline.grammar import DATE, NUMBER, Grammar, compile_patterns, pairs, words
from ragstone.testset.vocabulary import NUMBER_WORDS

_TOLD = "|".join(
    [
        "contiene",
        "proporciona",
        "especifica",
        "controla",
        "determina",
        "devuelve",
        "muestra",
        "representa",
        "define",
        "requiere",
        "almacena",
        "activa",
        "desactiva",
        "realiza",
        "describe",
        "imprime",
        "admite",
        "ofrece",
        "indica",
        "incluye",
        "establece",
        "abarca",
        "contienen",
        "proporcionan",
        "muestran",
        "definen",
        "ofrecen",
        "indican",
        "incluyen",
    ]
)
_MADE = "fundad|cread|publicad|introducid|construid|inaugurad|establecid|diseñad|desarrollad|lanzad|renombrad|inventad|descubiert|adoptad|anunciad|restaurad|escrit|mantenid|liberad"
_MADE_SE = "fundó|creó|publicó|introdujo|construyó|inauguró|estableció|diseñó|desarrolló|lanzó|inventó|descubrió|adoptó|anunció|restauró|escribió|liberó"
_PLACED = "se encuentran?|se guardan?|se almacenan?|se instalan?|se ubican?|se sitúan?|están? (?:ubicad|situad|guardad|instalad|almacenad)[oa]s?|se registran?|se conservan?"
_DO = "use|utilice|emplee|ejecute|pulse|escriba|seleccione|puede|debe|debería|basta|hay que|haga|añada|edite|elija|abra|introduzca|presione|instale|cree|configure|marque|vaya|llame|active|inicie|es necesario|tiene que|se (?:usa|utiliza|puede|debe|ejecuta|emplea)|teclee|arrastre|cambie|dé|pida|acuda|rellene|consulte con|presente"

PATTERNS = compile_patterns(
    [
        ("definition", "conceptual", r"(?P<subject>@np) (?P<verb>es|son) (?:una?|unos|unas|un[oa] de l[oa]s) (?!(?:buena?|mal[ao]?|poco|gran|problema|error|parte|ejemplo|lista|caso|cuestión|tarea|buen|muy|simple|forma|manera|opción|mejor)\b)(?P<rest>.{25,})", "¿Qué {verb} {subject}?", ""),
        ("purpose", "conceptual", r"(?P<subject>@np) (?P<verb>se usan?|se utilizan?|se emplean?|sirven?) (?:(?:normalmente|principalmente|habitualmente|generalmente|también) )?para (?P<rest>[a-zñ]+(?:ar|er|ir)(?:se)? .{8,})", "¿Para qué {verb} {subject}?", ""),
        ("allow", "conceptual", r"(?P<subject>@np) (?P<verb>permiten?) (?:(?:al usuario|a los usuarios|al administrador) )?(?P<rest>[a-zñ]+(?:ar|er|ir)(?:se)? .{12,})", "¿Qué {verb} hacer {subject}?", ""),
        ("tells", "conceptual", rf"(?P<subject>@np) (?P<verb>{_TOLD}) (?P<rest>@object.{{8,}})", "¿Qué {verb} {subject}?", ""),
        ("consists", "conceptual", r"(?P<subject>@np) (?P<verb>consta|se compone|constan|se componen) de (?P<rest>.{12,})", "¿De qué {verb} {subject}?", ""),
        ("stands_for", "factual", r"(?P<subject>[A-Z][A-Za-z]*[A-Z][A-Za-z]*) significa (?P<answer>[^,;()]{6,60})\.", "¿Qué significa {subject}?", "{answer}."),
        ("where", "factual", rf"(?P<subject>@np) (?P<verb>{_PLACED}) (?P<answer>(?:en|bajo|dentro de) [^,;:()]{{3,70}})\.", "¿Dónde {verb} {subject}?", "{Answer}."),
        ("when", "factual", rf"(?P<subject>@np) (?P<verb>fue|fueron) (?P<pp>(?:{_MADE})[oa]s?) (?:en|el) (?P<answer>@date)\b(?P<rest>.*)", "¿Cuándo {verb} {pp} {subject}?", "{answer}"),
        ("when", "factual", rf"(?P<subject>@np) (?P<verb>se (?:{_MADE_SE})|abrió|cerró|comenzó|empezó|terminó) (?:en|el) (?P<answer>@date)\b(?P<rest>.*)", "¿Cuándo {verb} {subject}?", "{answer}"),
        ("who", "factual", rf"(?P<subject>@np) (?P<verb>fue|fueron|es|son) (?P<pp>(?:{_MADE})[oa]s?) por (?P<answer>@name)(?P<rest>(?: en @date\b.*|[,;] .*|)\.)", "¿Por quién {verb} {pp} {subject}?", "{answer}"),
        ("how_many", "factual", r"(?P<subject>@np) (?P<verb>tiene|contiene|incluye|ofrece|dispone de|cuenta con) (?P<answer>@num (?P<unit>[a-zñáéíóú]{3,}(?P<gender>os|as|iones|dades|ores)))(?P<rest>(?:[,;.]| (?:de|para|en|y|con|que|a|por)\b).*)", "¿{many} {unit} {verb} {subject}?", "{answer}"),
        ("cost", "factual", r"(?P<subject>@np) (?P<verb>cuestan?) (?P<answer>(?:[$€£]\d[\d.,]*|\d[\d.,]*(?: (?:millones de))? (?:euros?|dólares|libras|céntimos))(?<![.,])(?: (?:al|por|cada) [a-zñáéíóú]+)?)(?P<rest>(?:[,;.]| y\b).*)", "¿Cuánto {verb} {subject}?", "{answer}"),
        ("how_long", "factual", r"(?P<subject>@np) (?P<verb>tardan?|duran?) (?:de |entre )?(?P<answer>@num (?:(?:a|y) @num )?(?:segundos|minutos|horas|días|semanas|meses|años)(?: (?:laborables|hábiles|naturales))?)(?P<rest>(?:[,;.]| y\b).*)", "¿Cuánto {verb} {subject}?", "{answer}"),
        ("default", "factual", r"El valor (?:predeterminado|por omisión|por defecto) (?:de|para) (?:la |el )?(?P<subject>(?:(?:opción|parámetro|variable) )?`[^`]+`|[\w.-]*[_.-][\w.-]+) es (?P<answer>[^,;:()]{1,40})\.", "¿Cuál es el valor predeterminado de {subject}?", "{Answer}."),
        ("how_to", "how_to", rf"(?:Para|Si (?:quiere|desea|necesita)) (?P<subject>(?!ello|esto|eso|más|que|hacer(?:lo|la)\b|ser\b|obtener más)[a-zñ]+(?:ar|er|ir)(?:se)? [^,;:]{{6,90}}), (?P<answer>(?:{_DO})\b.{{8,}}[^:])", "¿Cómo puedo {subject}?", "{Answer}"),
        ("how_to", "how_to", r"(?:Puede|Se puede|Es posible) (?P<subject>(?!ser\b|usar|utilizar|ver\b|encontrar|consultar|haber|que\b)[a-zñ]+(?:ar|er|ir) [^,;:]{8,80}?) (?P<answer>(?:mediante|usando|utilizando|con la (?:orden|opción|herramienta)|con el (?:comando|programa|botón)|con `|a través de|ejecutando|pulsando|haciendo) [^;:]{6,})", "¿Cómo puedo {subject}?", "{Answer}"),
        ("condition", "detail", r"(?:Si|Cuando) (?P<subject>(?:el |la |un |una )?(?:[a-zñáéíóú]+ )?`[^`]+` (?:no )?(?:se|es|está|tiene|existe|contiene)\b[^,;:]{0,60}), (?:entonces )?(?P<answer>(?:el|la|los|las|un|una|se|no|solo|todos|todas|`)[^:]{15,})", "¿Qué ocurre si {subject}?", ""),
    ],
    {
        "np": r"[^,;:()]{2,60}?",
        "date": DATE["es"],
        "num": NUMBER.format(words="|".join(sorted(NUMBER_WORDS["es"]))),
        "name": r"(?:(?:el|la) )?[A-ZÁÉÍÓÚÑ][\w’.-]+(?: (?:(?:de|del|y|la|van|von) )*[A-ZÁÉÍÓÚÑ][\w’.-]*)*(?<!\.)",
        "object": r"(?:una?|el|la|los|las|todos|todas|cada|ambos|varios|varias|muchos|algunos|algunas|información|soporte|dos|tres|cuatro|si|cómo|qué|dónde|cuántos|cuántas|`)[ \w`]",
    },
)  # fmt: skip

LIST_INTRO = compile_patterns(
    [
        ("list", "detail", r"(?P<subject>@np) (?P<verb>admite|proporciona|incluye|ofrece|tiene|contiene|usa|acepta|reconoce|define|dispone de) (?:los|las) siguientes (?P<unit>[a-zñáéíóú]+s(?: [a-zñáéíóú]+s)?):", "¿Qué {unit} {verb} {subject}?", ""),
        ("list", "detail", r"(?:Los|Las) siguientes (?P<unit>[a-zñáéíóú]+s) (?P<verb>están (?:disponibles|admitid[oa]s|definid[oa]s)) (?P<subject>(?:en|para|con) [^:;,]{3,50}):", "¿Qué {unit} {verb} {subject}?", ""),
    ],
    {"np": r"[^,;:()]{2,60}?"},
)  # fmt: skip

TASK_VERBS = pairs(
    "instalación=instalar configuración=configurar creación=crear eliminación=eliminar actualización=actualizar construcción=construir "
    "ejecución=ejecutar modificación=modificar importación=importar exportación=exportar activación=activar desactivación=desactivar "
    "comprobación=comprobar búsqueda=buscar conexión=conectar personalización=personalizar descarga=descargar edición=editar impresión=imprimir "
    "restauración=restaurar compilación=compilar copia=copiar administración=administrar preparación=preparar recuperación=recuperar "
    "devolución=devolver reserva=reservar renovación=renovar solicitud=solicitar supervisión=supervisar verificación=verificar"
)  # fmt: skip

SPANISH = Grammar(
    language="es",
    patterns=PATTERNS,
    base_forms={},
    articles=words("el la los las un una unos unas"),
    closed_words=words(
        "este esta esto estos estas ese esa eso esos esas aquel aquella dicho dicha dichos dichas que quien cuyo cuya cual cuales cuando donde como porque "
        "aunque mientras si pues pero sino y e o u ni él ella ellos ellas ello nosotros usted ustedes yo tú su sus mi mis tu tus nuestro nuestra nuestros "
        "nuestras me te se nos le les lo es son era eran fue fueron ser sido siendo está están estar hay ha han haber había tiene tienen puede pueden debe "
        "deben no nunca solo sólo también muy más menos ya aún todavía siempre normalmente generalmente actualmente habitualmente a al por para con desde "
        "hasta entre durante sin según sobre tras cada algún algunos algunas alguna muchos muchas todos todas todo ambos ambas otro otra otros otras tal "
        "tales mismo misma primer primero primera segundo segunda último última siguiente siguientes anterior anteriores uno vea véase use nota así además "
        "permite contiene usa utiliza proporciona ahora aquí allí entonces luego únicamente"
    ),
    links=words("de del en para"),
    vague_nouns=words(
        "resultado resultados objetivo objetivos idea problema problemas razón razones forma formas manera diferencia propósito punto resto respuesta pregunta paso "
        "pasos cosa cosas ejemplo ejemplos nota caso casos hecho solución elección opción ventaja desventaja excepción consecuencia efecto fin sección capítulo "
        "documento página tabla figura lista salida orden línea archivo fichero directorio valor número nombre tipo parte proceso método campo usuario usuarios "
        "argumento parámetro tiempo cambio cambios alternativa regla sistema programa paquete función clase objeto versión cadena variable datos documentación "
        "guía manual texto libro trabajo tarea comando herramienta motivo"
    ),
    bad_starts=words(
        "este esta esto estos estas ese esa eso esos esas aquel aquella dicho dicha él ella ellos ellas ello lo su sus cada todos todas ambos otro otra otros otras "
        "algunos algunas muchos muchas uno una-vez como si cuando mientras aunque porque pues pero sino y o ni también además así entonces luego finalmente primero "
        "segundo para por en a con sin desde hasta tras durante entre según sobre qué cuál quién cómo dónde no nunca solo sólo vea véase nota actualmente "
        "generalmente normalmente habitualmente hay existe existen es son puede pueden se le les más menos tal tales nada algo ahora hoy aquí quizá quizás "
        "básicamente obviamente igualmente asimismo alternativamente tampoco ya aún todavía recuerde tenga observe esto-es nosotros usted ejemplo cualquier ningún ninguna"
    ),
    question_pointers=re.compile(r"\b(?:est[eao]s?|es[eao]s?|aquel(?:l[ao]s?)?|dich[oa]s?|él|ellas?|ellos?|su|sus|nuestr[oa]s?|nos|aquí|arriba|abajo|siguientes?|anterior(?:es|mente)?|mism[oa]s?|tal|tales|citad[oa]s?|mencionad[oa]s?|usted|le|les|otr[oa]s?|\w+[aei]r(?:lo|la|los|las|le|les)|etc|ejemplo|capítulo|figura|cualquiera|similar(?:es)?)\b", re.IGNORECASE),
    reference_pointers=re.compile(r"\b(?:est[eao]s?|es[eao]s?|aquel(?:l[ao]s?)?|dich[oa]s?|ello|aquí|arriba|abajo|siguientes?|a continuación|anterior(?:es|mente)?|tales|citad[oa]s?|mencionad[oa]s?|próxim[oa] (?:sección|capítulo)|(?:sección|capítulo|figura|tabla) \d+|\w+(?:ar|er|ir)(?:lo|la|los|las)|similar|se (?:describe|explica|muestra|indica)n? (?:en|a|más)|como se muestra|respectivamente|nuestr[oa]s?|nos|igualmente|asimismo)\b", re.IGNORECASE),
    leaning_start=re.compile(r"(?:él|ella|ellos|ellas|lo|su|sus|le|les|igual|véase|vea|consulte|también|pero|y|o|así|entonces|además|nota|como|sí|no|similar|se (?:describe|explica|muestra|indica)n? (?:en|a|más)|como se muestra|equivalente|ídem|obsoleto|alias|sinónimo|ignorado|por ejemplo|p\. ?ej|esto|esta|este)\b", re.IGNORECASE),
    dangling_end=words("el la los las un una de del en a al por para con sin y o e que como es son su sus se si cuando desde hasta entre más p.ej etc"),
    openers=re.compile(r"(?:Sin embargo|No obstante|Por tanto|Por lo tanto|Además|Asimismo|También|De hecho|Finalmente|Por último|En general|Generalmente|En resumen|Básicamente|Históricamente|Desafortunadamente|Afortunadamente|Por otro lado|En la práctica|En otras palabras|Por consiguiente|Así pues), (?=\S)"),
    task_verbs=TASK_VERBS,
    task_prefix=re.compile(r"(?:¿?Cómo (?:se )?)?(?P<task>[A-ZÁÉÍÓÚÑa-zñáéíóú]+(?:ar|er|ir)(?:se)? (?!o\b|y\b).+?)\??"),
    instructions=re.compile(rf"(?:Para [a-zñ]+(?:ar|er|ir)\b[^,]+, (?:{_DO})\b|(?:Puede|Debe|Es necesario|Hay que|Tiene que) [a-zñ]+(?:ar|er|ir)|(?:{_DO}) )", re.IGNORECASE),
    option_heading=re.compile(r"\b(?:opciones|parámetros|argumentos|ajustes|preferencias)\b", re.IGNORECASE),
    list_intro=LIST_INTRO,
    description_columns=words("descripción significado propósito explicación función acción efecto resumen"),
    verb_start=re.compile(r"(?:Contiene|Describe|Representa|Almacena|Muestra|Escribe|Imprime|Indica|Especifica|Define|Establece|Crea|Elimina|Borra|Añade|Lista|Convierte|Comprueba|Lee|Abre|Cierra|Activa|Desactiva|Envía|Inicia|Detiene|Ejecuta|Usa|Utiliza|Hace|Actualiza|Instala|Calcula|Llama|Interpreta|Ignora|Incluye|Excluye|Fuerza|Permite|Limita|Suprime|Realiza|Busca|Selecciona|Cambia|Copia|Mueve|Reemplaza|Restaura|Genera|Trata|Devuelve|Guarda|Carga|Verifica|Informa|Evita|Controla|Aplica|Mantiene|Omite|Determina|Produce|Obtiene|Configura|Habilita|Deshabilita|Sustituye|Salta|Espera|Asigna|Descarga|Desinstala|Presenta|Proporciona|Abandona|Termina|Sale|Modifica|Reinicia|Ordena|Quita|Pone|Agrega)\b"),
    telling_verbs=words("contiene especifica define indica almacena representa controla determina describe lista incluye proporciona establece"),
    noun_start=re.compile(r"(?:Una?|El|La|Los|Las|Uno de) [a-zñ`]"),
    templates={
        "option": "¿Qué hace la opción {key} de {owner}?", "option_is": "¿Qué especifica la opción {key} de {owner}?", "does": "¿Qué hace {key}?", "does_in": "¿Qué hace {key} en {owner}?", "tells": "¿Qué {verb} {key}?", "what_is": "¿Qué es {key}?",
        "purpose": "¿Para qué sirve {key}?", "default_of": "¿Cuál es el valor predeterminado de {key}?", "cell": "¿Cuál es {column} de {key}?",
        "task": "¿Cómo puedo {task}?", "stands_for": "¿Qué significan las siglas {key}?", "follow_up": "¿Y {key}?",
        "compare": "¿Qué hacen las opciones {key} y {other} de {owner}?", "compare_terms": "¿Qué diferencia hay entre {key} y {other}?",
        "frame_at": "En {owner}, {question}", "frame_tool": "Con {owner}, {question}", "quote": "«{}»", "both": "{key}: {value}",
    },
    subject_fixes=((r"\bde el (?=[a-z`«])", "del "), (r"\ba el (?=[a-z`«])", "al ")),
)  # fmt: skip
