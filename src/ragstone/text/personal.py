"""Personal data in a text, found by its shape or by the words before it, each piece replaced by what it is:
`[email]`.

`remove_personal` is a redaction hook, for logs of questions and for the monitor. Shapes do not find every name:
where that
matters, give a hook of your own."""

from __future__ import annotations

import re

_NAME = r"[A-ZÁÉÍÓÚÑÇÄÖÜ][\w'’-]+"
_ANY_NAME = r"[^\W\d_][\w'’-]+"
_CODE = r"(?=[\w/-]*\d)[A-Za-z0-9][\w/-]{3,}"

_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "[email]",
        re.compile(r"[\w.+'-]+\s?(?:@|\(at\)|\[at\])\s?[\w-]+(?:\.[\w-]+)+", re.IGNORECASE),
    ),
    ("[link]", re.compile(r"\bhttps?://\S+[?&][\w-]+=\S+")),
    ("[account]", re.compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){3,7}(?:[ -]?[A-Z0-9]{1,3})?\b")),
    ("[card]", re.compile(r"\b\d{4}(?:[ .-]?\d{4}){2}[ .-]?\d{1,7}\b")),
    ("[id]", re.compile(r"\b(?:\d{3}-\d{2}-\d{4}|[XYZ]?-?\d{7,8}-?[A-Z])\b", re.IGNORECASE)),
    ("[address]", re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}\b")),
    (
        "[phone]",
        re.compile(
            r"(?<![\w.,])(?:\+|00)\d{1,3}(?:[ ./()-]{0,2}\d){6,13}\b|(?<![\w.,/-])\(?\d{2,4}\)?(?:[ "
            r"./-]\d{2,4}){2,4}(?![\w/-])|(?<![\w.,-])\d{9,11}\b"
        ),
    ),
    (
        "[address]",
        re.compile(
            rf"\b\d{{1,5}}[a-z]? (?:{_NAME} ){{1,3}}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Way|Court"
            rf"|Close|Square|Place|Boulevard|Blvd)\b\.?"
            r"|\b(?:calle|c/|avenida|avda\.?|paseo|plaza|pza\.?|camino|ronda|travesía) (?:de la |de los |de las "
            r"|del |de |la |el )?[\w'’áéíóúñ-]+(?: [A-ZÁÉÍÓÚÑ][\w'’-]+){0,3},? (?:n[º.°]? ?)?\d{1,4}(?:,? "
            r"?\d{1,2}[ºª]? ?[A-Za-z]?\b)?",
            re.IGNORECASE,
        ),
    ),
)
_CUED: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "[number]",
        re.compile(
            rf"(?P<cue>\b(?:order|booking|reservation|customer|client|account|policy|member(?:ship)?|invoice"
            rf"|ticket|case|tracking|reference|ref|passport|patient|contract|pedido|reserva|cliente|cuenta|póliza"
            rf"|socio|factura|expediente|seguimiento|referencia|pasaporte|contrato|dni|nie|nif|iban|ssn)"
            rf"(?: (?:number|num|nr|no|code|id|número|núm|código|de))*\.?(?: (?:is|es))?[ :#º]*)(?P<value>{_CODE})",
            re.IGNORECASE,
        ),
    ),
    ("[number]", re.compile(rf"(?P<cue>#|\bnº ?)(?P<value>{_CODE})", re.IGNORECASE)),
    (
        "[date]",
        re.compile(
            r"(?P<cue>\b(?:born(?: on)?|date of birth|dob|birthday(?: is)?|nac[ií](?: el)?|nacid[oa](?: el)?"
            r"|fecha de nacimiento)(?: is| es)?[ :]*)(?P<value>\d{1,2}[./ -]\w+[./ -]\d{2,4}|\d{4}-\d{2}-\d{2}"
            r"|\w+ \d{1,2},? \d{4}|\d{1,2} de \w+ de \d{4})",
            re.IGNORECASE,
        ),
    ),
    (
        "[name]",
        re.compile(
            rf"(?P<cue>\b(?i:my (?:full )?name(?:['’]s| is)|name:|me llamo|mi nombre(?: completo)? es|nombre:|se "
            rf"llama|(?:is|was) called)[ :]+)(?P<value>{_ANY_NAME}(?: (?:de |del |la |van |von )*{_NAME}| "
            rf"(?!(?:and|but|y|i|my|the|from|con|pero|soy|mi|tengo|quiero|can|how|what"
            rf"|i['’]m)\b){_ANY_NAME}(?=\s*(?:[,.;!?]|$))){{0,3}})"
        ),
    ),
    (
        "[name]",
        re.compile(
            rf"(?P<cue>\b(?i:this is|i am|i['’]m|soy|le habla|habla|on behalf of|signed|regards,|best,|saludos,"
            rf"|atentamente,|thanks,|gracias,|para mi (?:hij[oa]|madre|padre)|my (?:wife|husband|son|daughter"
            rf"|mother|father|friend|colleague|boss)|mi (?:mujer|marido|hij[oa]|madre|padre"
            rf"|jef[ea])),?\s+)(?P<value>{_NAME}(?: (?:de |del |la |van |von )*{_NAME}){{0,3}})(?=\s*(?:[,.;!?)]|$"
            rf"| (?:and|from|y|de|with|has|is|wants|needs|con|tiene)\b))"
        ),
    ),
    (
        "[name]",
        re.compile(
            rf"(?P<cue>\b(?:Mr|Mrs|Ms|Miss|Dr|Sr|Sra|Srta|Don|Doña|D)\.? )(?P<value>{_NAME}(?: (?:de |del "
            rf")?{_NAME}){{0,2}})"
        ),
    ),
)


def remove_personal(text: str, field: str = "") -> str:
    """The text with personal data replaced by what it is; `field` is there because redaction hooks are given it."""
    for kind, shape in _SHAPES:
        text = shape.sub(kind, text)
    for kind, cued in _CUED:
        text = cued.sub(rf"\g<cue>{kind}", text)
    return text
