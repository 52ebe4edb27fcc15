"""Word classes of refusals in English and Spanish: who denies, what is denied, and the acts of finding and telling.

A trailing * stands for any ending. `refusals.py` says which classes together make a refusal. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from typing import Final

CLASSES: Final[dict[str, str]] = {
    "speaker": """
        i we me us our my
        sé puedo podemos tengo tenemos dispongo disponemos encuentro encontramos encontré he hemos pude pudimos cuento
        contamos logro logré conseguí creo veo vemos soy somos estoy lamento siento carezco carecemos necesito necesitaría me mis nuestra nuestro
        """,
    "negation": """
        not no none neither nor nothing never cannot nowhere without unable fail fails failed
        ningún ninguno ninguna nada nunca tampoco ni sin incapaz
        """,
    "lack": """
        lack lacks insufficient missing silent unclear unknown impossible unanswerable beyond outside unavailable absent
        undetermined unrelated irrelevant
        carece* carezco insuficiente* falta faltan silencio desconocid* imposible fuera allá indeterminad*
        """,
    "source": """
        document documents context contexts passage passages text texts source sources article articles material materials
        excerpt excerpts chunk chunks snippet snippets documentation corpus
        documento* contexto* pasaje* texto* fuente* artículo* fragmento* extracto* documentación
        """,
    "paper": """
        manual report contract policy guide page website menu file transcript knowledge-base paragraph leaflet brochure
        handbook booklet instructions notice catalogue paper study book chapter section letter email
        informe contrato política guía página menú archivo párrafo web base prospecto folleto manual instrucciones aviso
        catálogo estudio libro capítulo sección carta correo
        """,
    "information": """
        information info detail details mention answer answers data reference references indication indications record
        records result results evidence passage passages context anything
        información detalle* mención menciones respuesta* dato* referencia* indicación indicaciones constancia resultado*
        evidencia* prueba* pasaje* contexto
        """,
    "question": "question questions query pregunta preguntas consulta",
    "know": """
        know answer answered answers find found tell determine determined determining locate located identify identified
        verify verified confirm respond help assist say sure certain idea information
        sé sab* responder* respond* contestar* contest* determin* encontr* encuentr* hall* localiz* identific* verific*
        decir* ayudar* averigu* afirmar* segur* certeza idea confirmar*
        """,
    "tell": """
        mention mentions mentioned mentioning state states stated specify specifies specified say says said tell tells
        contain contains contained include includes included give gives given provide provides provided address addresses
        addressed discuss discusses discussed cover covers covered describe describes described explain explains explained
        list listed appear appears refer refers referred indicate indicates indicated offer offers present answer answers
        go goes make makes made touch touches elaborate elaborates comment comments deal deals talk talks speak speaks
        found available disclose disclosed clarify clarifies reveal reveals relevant related sufficient enough
        mencion* indic* especific* dice dicen dicho conti* inclu* proporcion* da dan dado aclar* ofrec* detall* respond*
        cubr* describ* explic* trat* figur* aparec* consta constan encuentr* encontr* habla* recog* refer* refier*
        entra entran abord* pronuncia* toca tocan disponib* relevante* relacionad* suficiente* señal* responde* especificad* mencionad* hace hacen revel*
        """,
    "unclear": "unknown unclear unsure clear known certain desconocid* claro clara seguro segura sabe conoce",
    "filler": """
        it its this that these those the a an any is are was were be been has have had do does did can could would by in on
        of to from for with at as about so but and or there here sorry afraid apologies apologize unfortunately regrettably
        just really please your you what which one way more need needed based provided given information enough available requested
        el la los las lo un una esto eso este esta ese esa es son está están fue ha han se de del en con para por que a al y
        o pero te le tu su perdón disculpa disculpe siento lamento lamentablemente desafortunadamente temo más dado dada
        dados dadas proporcionad* disponible* solicitad* puede pueden pudo hay qué cuál forma manera modo
        """,
}
"""Words by class; a word may be of several."""

IDIOMS: Final = (
    r"^n/[ad]\.?$",
    r"\bas an? (?:ai|large language model|language model)\b",
    r"\bdepends on (?:many|several|various) (?:things|factors)\b.{0,30}$",
    r"\bcomo (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje)\b",
    r"\bdepende de (?:muchos|varios|diversos) factores\b.{0,30}$",
    r"\bnecesitar[ií]a(?:mos)? más (?:información|contexto|datos)\b",
    r"\bwould need more (?:information|context|details)\b",
    r"^(?:(?:i'm|i am) (?:very |so )?sorry|sorry|lo siento(?: mucho)?|lo lamento)\W*$",
    r"\bnot (?:\w+ly )?(?:mentioned|stated|specified|indicated)\W*$",
    r"\bno (?:se (?:menciona|indica|especifica|detalla|aclara)n?|está (?:indicad|especificad)[oa])\W*$",
    r"\b(?:nothing|nada) (?:in|en) (?:the|any|el|la|los|las|ning\w+) .*\b(?:about|on|regarding|sobre|acerca|respecto)\b",
    r"\b(?:it|they) (?:do|does|did) not (?:\w+ )?(?:say|mention|specify|state)\b",
    r"^no (?:lo |se )?(?:dice|menciona|especifica|indica)n?\b",
    r"\b(?:no|any|ninguna) (?:entry|entrada) (?:about|on|for|sobre|para|acerca)\b",
)
"""Refusals that no combination of classes shows."""

IDIOM_HINTS: Final = (
    "n/", "as a", "depend", "como ", "necesitar", "need more", "sorry", "lo siento", "lo lamento",
)  # fmt: skip
"""No idiom stands without one of these or a word that denies."""

ASIDES: Final = (
    r"^(?:i|we)(?:'ve| have)? (?:looked|searched|checked|read|reviewed|went|found)\b|^(?:he|hemos) (?:revisado|buscado|mirado|leído|consultado|encontrado)\b|^encontr(?:é|amos)\b",
    r"^(?:i|we)(?:'d| would|'m| am)? (?:can|could|only|suggest|recommend|hope|apologi[sz]e|be happy|happy to|here to|limited)\b",
    r"^my (?:knowledge|sources|training|information)\b|^mis? (?:fuentes|conocimiento|información)\b",
    r"^(?:s[oó]lo )?(?:puedo|podemos|tengo|tenemos|estoy aquí|estoy para)\b|^(?:te|le|os|les) (?:recomiendo|sugiero)\b",
    r"^(?:please |por favor,? )?(?:consult|ask|contact|check|refer to|see|try|let me know|provide|rephrase|"
    r"consult[ae]|contact[ae]|pregunt[ae]|póngase|ponte|prueb[ae]|revis[ae]|dime|proporcion[ae])\b",
    r"^(?:the|these|this|both|all|el|la|los|las|ambos)?\s*(?:given |provided |retrieved )?"
    r"(?:documents?|contexts?|passages?|texts?|sources?|articles?|excerpts?|it|they|documentos?|contextos?|pasajes?|textos?|"
    r"fuentes?|artículos?|fragmentos?)(?: \w+)?(?: only| mainly| just| solo| sólo| únicamente)? "
    r"(?:talks?|discuss(?:es)?|focus(?:es)?|describes?|mentions?|is about|are about|provides?|contains?|covers?|"
    r"habla|hablan|tratan?|describen?|mencionan?|se centran?|contienen?|proporcionan?)\b",
)
"""Sentences that may follow a refusal without answering: where else to ask, what the sources are about instead."""
