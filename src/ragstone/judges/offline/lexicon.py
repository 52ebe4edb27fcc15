"""Closed word classes of English and Spanish that the offline judge reads by rule, not by learning. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from itertools import combinations
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP: Final[dict[str, frozenset[str]]] = {
    "en": _words(
        "a an the this that these those and or but if then than so as of at by for with about into through "
        "to from in on off out over under up down again is are was were be been being am do does did doing "
        "have has had having will would shall should can could may might must i me my we us our you your he "
        "him his she her hers it its they them their theirs what which who whom whose when where why how "
        "there here also just very too such own same other another some any each both all more most many "
        "much few only while during before after because until since though although however therefore "
        "its it's itself himself herself themselves one ones per via upon within among between s t re ve ll d m"
    ),
    "es": _words(
        "el la los las lo un una unos unas y e o u pero si de del al a ante bajo con contra desde durante en "
        "entre hacia hasta para por según sobre tras que qué quien quién quienes cual cuál cuales cuyo como "
        "cómo cuando cuándo donde dónde es son era eran fue fueron ser sido siendo está están estaba estaban "
        "estar ha han había habían haber hay he hemos yo tú él ella ello nosotros ellos ellas usted ustedes "
        "me te se nos os le les mi mis tu tus su sus nuestro nuestra este esta esto estos estas ese esa eso "
        "esos esas aquel aquella aquellos aquellas más muy también ya aún todo toda todos todas otro otra "
        "otros otras mismo misma tanto tan porque pues así entonces mientras aunque además sea sean será "
        "serán puede pueden podía poder debe deben cada uno"
    ),
}

NEGATIONS: Final = _words(
    "no not never none nobody nothing neither nor cannot without unable lack lacks lacking false n't fails "
    "failed refuse refused denied denies nunca jamás nadie nada ninguno ninguna ningún tampoco sin ni "
    "falso carece carecen imposible aint dont doesnt didnt isnt wasnt arent wont cant impossible barely hardly "
    "apenas unlikely improbable"
)

MONTHS: Final[dict[str, int]] = {
    name: number
    for number, names in enumerate(
        (
            "january jan enero",
            "february feb febrero",
            "march mar marzo",
            "april apr abril",
            "may mayo",
            "june jun junio",
            "july jul julio",
            "august aug agosto",
            "september sept sep septiembre setiembre",
            "october oct octubre",
            "november nov noviembre",
            "december dec diciembre",
        ),
        1,
    )
    for name in names.split()
}
ONLY_CAPITALISED: Final = _words(
    "may march mar jan jun jul sep dec oct nov apr aug feb sat sun mon"
)
"""Month and day names that are other words when written small."""

WEEKDAYS: Final[dict[str, int]] = {
    name: number
    for number, names in enumerate(
        (
            "monday lunes",
            "tuesday martes",
            "wednesday miércoles",
            "thursday jueves",
            "friday viernes",
            "saturday sábado",
            "sunday domingo",
        ),
        1,
    )
    for name in names.split()
}

NUMBER_WORDS: Final[dict[str, int]] = {
    word: value
    for value, words in {
        0: "zero cero",
        2: "two dos",
        3: "three tres",
        4: "four cuatro",
        5: "five cinco",
        6: "six seis",
        7: "seven siete",
        8: "eight ocho",
        9: "nine nueve",
        10: "ten diez",
        11: "eleven once",
        12: "twelve doce",
        13: "thirteen trece",
        14: "fourteen catorce",
        15: "fifteen quince",
        16: "sixteen dieciséis",
        17: "seventeen diecisiete",
        18: "eighteen dieciocho",
        19: "nineteen diecinueve",
        20: "twenty veinte",
        30: "thirty treinta",
        40: "forty cuarenta",
        50: "fifty cincuenta",
        60: "sixty sesenta",
        70: "seventy setenta",
        80: "eighty ochenta",
        90: "ninety noventa",
    }.items()
    for word in words.split()
}
"""Number words that are hardly ever anything else; `one` and `uno` are left out."""

MAGNITUDES: Final[dict[str, int]] = {
    "hundred": 100,
    "cien": 100,
    "cientos": 100,
    "thousand": 1000,
    "mil": 1000,
    "k": 1000,
    "million": 10**6,
    "millions": 10**6,
    "millón": 10**6,
    "millones": 10**6,
    "mn": 10**6,
    "billion": 10**9,
    "billions": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
    "trillions": 10**12,
}

_SPELLINGS: Final[dict[str, str]] = {
    word: words.split()[0]
    for words in (
        "percent porcentaje por-ciento pct",
        "united-states usa u.s eeuu",
        "kilometer km kilometre kilometers kilometres kilómetro kilómetros",
        "kilogram kg kilograms kilogramo kilogramos",
        "meter metre meters metres metro metros",
        "hour hr hrs hours hora horas",
        "minute min mins minutes minuto minutos",
        "business hábiles laborables",
        "dollar dollars usd dólar dólares",
        "euro euros eur",
        "television tv televisión",
        "doctor dr",
        "takeout take-out takeaway",
    )
    for word in words.split()
}

_IRREGULAR = """
    arise arose arisen/awake awoke awoken/bear bore borne/beat beaten/become became/begin began begun/bend bent/bind bound
    bite bit bitten/bleed bled/blow blew blown/break broke broken/bring brought/build built/buy bought/catch caught
    choose chose chosen/come came/deal dealt/dig dug/draw drew drawn/drink drank drunk/drive drove driven/eat ate eaten
    fall fell fallen/feed fed/feel felt/fight fought/find found/flee fled/fly flew flown/forbid forbade forbidden
    forget forgot forgotten/freeze froze frozen/get got gotten/give gave given/go went gone/grow grew grown/hang hung
    hear heard/hide hid hidden/hold held/keep kept/know knew known/lay laid/lead led/leave left/lend lent/lose lost
    make made/mean meant/meet met/pay paid/ride rode ridden/ring rang rung/rise rose risen/run ran/say said/see saw seen
    seek sought/sell sold/send sent/shake shook shaken/shine shone/shoot shot/show shown/sing sang sung/sink sank sunk
    sit sat/sleep slept/speak spoke spoken/spend spent/stand stood/steal stole stolen/stick stuck/strike struck/swim swam
    take took taken/teach taught/tear tore torn/tell told/think thought/throw threw thrown/understand understood
    bus buses/wake woke woken/wear wore worn/win won/write wrote written/withdraw withdrew withdrawn
"""
_SPANISH_STEMS = """
    cerr cierr/empez empiez/comenz comienz/abr abiert apertur/mor muer mur muert/pod pued pud/ten tien tuv tend/hac hic hiz hech
    dec dic dij dich/pon pus puest/ven vien vin/quer quier quis/sab sup/conduc conduj/produc produj produccion/eleg elig eleccion/ped pid
    serv sirv/segu sigu/dorm duerm durm/jug jueg/volv vuelv vuelt/cost cuest/encontr encuentr/perd pierd
    escrib escrit/romp rot/cubr cubiert/mostr muestr/prob prueb/mov muev/defend defiend/extend extiend/mid med
    rep repit repet/constru construy construccion/inclu incluy/destru destruy destruccion/ca cay/ofrec ofrezc/nac nazc nacimient/acost acuest/reun reún
    recomend recomiend/calent calient/vend vendi/sofre sofri/negar nieg neg/cre crei
    devolv devolu devuelt devuelv/traduc traduj traduccion/reduc reduj reduccion/introduc introduj introduccion
    inscrib inscripcion inscrit/describ descripcion descrit/decid decision/permit permis/emit emision/admit admision
    conced concesion/proteg proteccion/resolv resolu resuelv resuelt/dur duracion/solicit solicitud/crec crezc crecimient
    suger sugir sugier sugerent/prefer prefir prefier preferent/propon propus propuest/respond respuest
"""
_OPPOSED = """
    increase/decrease increased/decreased increasing/decreasing rise/fall rose/fell higher/lower high/low
    above/below more/less most/least before/after first/last early/late earlier/later include/exclude
    including/excluding includes/excludes included/excluded accept/reject accepted/rejected win/lose won/lost
    open/closed opened/closed start/end begin/end began/ended buy/sell bought/sold gain/loss positive/negative
    good/bad better/worse best/worst large/small larger/smaller big/small long/short longer/shorter old/new
    older/younger oldest/youngest young/old fast/slow faster/slower hot/cold north/south east/west northern/southern
    eastern/western left/right male/female man/woman men/women husband/wife son/daughter father/mother
    brother/sister king/queen boy/girl true/false always/never all/none everyone/nobody allow/prohibit
    allowed/prohibited allowed/forbidden permit/forbid permitted/prohibited approve/deny approved/denied
    success/failure succeed/fail succeeded/failed support/oppose supported/opposed agree/disagree agreed/disagreed
    possible/impossible likely/unlikely able/unable easy/difficult easy/hard cheap/expensive strong/weak
    stronger/weaker safe/dangerous public/private inside/outside indoor/outdoor indoors/outdoors import/export
    appear/disappear appeared/disappeared alive/dead love/hate loved/hated like/dislike happy/sad present/absent
    major/minor maximum/minimum majority/minority victory/defeat with/without remember/forget used/unused
    known/unknown legal/illegal complete/incomplete full/empty free/paid up/down upper/lower many/few
    guilty/innocent optimistic/pessimistic advantage/disadvantage worsen/improve worsened/improved create/destroy
    created/destroyed build/destroy built/destroyed enter/leave arrive/depart arrived/departed birth/death born/died
    war/peace friend/enemy friends/enemies ally/enemy allies/enemies rich/poor wealthy/poor simple/complex
    direct/indirect superior/inferior internal/external domestic/foreign urban/rural ancient/modern near/far
    common/rare often/rarely frequently/rarely voluntary/mandatory optional/mandatory optional/required
    similar/different equal/unequal united/divided warm/cool active/inactive expand/shrink grow/shrink
    growth/decline ascend/descend deep/shallow upstream/downstream front/rear front/back expand/contract sink/float
    lend/borrow accept/refuse accept/decline pass/fail thick/thin wide/narrow heavy/light bright/dark wet/dry
    clean/dirty loud/quiet noisy/quiet soft/hard tight/loose raw/cooked vertical/horizontal temporary/permanent
    partial/total junior/senior attack/defend hire/fire hire/dismiss inhale/exhale profit/loss top/bottom odd/even
    solid/liquid edible/poisonous transparent/opaque morning/evening day/night acquit/convict
    confirm/deny admit/deny allow/ban permit/ban approve/reject heat/cool accelerate/brake praise/criticize
    ascending/descending enable/disable hide/show lock/open start/stop begin/stop keep/remove add/remove
    follow/precede followed/preceded raise/lower
    oppose/back sweet/bitter smooth/rough early/late mandatory/voluntary compulsory/optional compulsory/voluntary
    aumentar/disminuir aumentó/disminuyó aumento/disminución subir/bajar subió/bajó mayor/menor mayores/menores
    más/menos mejor/peor antes/después primero/último primera/última incluye/excluye abierto/cerrado abierta/cerrada
    ganar/perder ganó/perdió empezar/terminar comenzó/terminó grande/pequeño grandes/pequeños largo/corto alto/bajo
    alta/baja viejo/joven norte/sur este/oeste hombre/mujer hombres/mujeres padre/madre hermano/hermana hijo/hija
    verdadero/falso siempre/nunca todos/ninguno permitido/prohibido permite/prohíbe aceptar/rechazar aceptó/rechazó
    apoya/rechaza posible/imposible fácil/difícil barato/caro fuerte/débil público/privado pública/privada
    dentro/fuera vivo/muerto máximo/mínimo mayoría/minoría victoria/derrota con/sin usado/nuevo legal/ilegal
    completo/incompleto lleno/vacío interior/exterior positivo/negativo positiva/negativa importación/exportación
    éxito/fracaso favor/contra rápido/lento bueno/malo buena/mala muchos/pocos muchas/pocas mucho/poco mucha/poca
    mejores/peores mejorar/empeorar mejoró/empeoró aumenta/disminuye aumentan/disminuyen aumentaron/disminuyeron
    crecer/decrecer creció/decreció crecimiento/descenso ascender/descender ascendió/descendió ascenso/descenso
    subida/bajada suben/bajan altos/bajos altas/bajas superiores/inferiores largos/cortos larga/corta
    primeros/últimos primeras/últimas primer/último temprano/tarde anterior/posterior anteriores/posteriores
    antiguo/moderno antigua/moderna empezó/acabó empezó/terminó comenzar/terminar comienzo/final inicio/final
    inicio/fin principio/fin abrir/cerrar abrió/cerró entrar/salir entró/salió entrada/salida crear/destruir
    creó/destruyó creación/destrucción construir/destruir construyó/destruyó mantener/abandonar mantuvo/abandonó
    conservar/perder perder/conseguir ganaron/perdieron comprar/vender compró/vendió incluir/excluir
    incluyen/excluyen permitir/prohibir permitió/prohibió permitida/prohibida aceptada/rechazada aceptado/rechazado
    aprobar/rechazar aprobó/rechazó apoyar/rechazar apoyó/rechazó unir/separar unidos/separados unir/dividir
    aliado/enemigo aliados/enemigos amigo/enemigo amigos/enemigos guerra/paz amor/odio optimismo/pesimismo
    optimista/pesimista alegre/triste alegría/tristeza feliz/triste fuertes/débiles fortalecer/debilitar rico/pobre
    ricos/pobres riqueza/pobreza caliente/frío cálido/frío cálidos/fríos seguro/peligroso segura/peligrosa
    fáciles/difíciles probable/improbable capaz/incapaz útil/inútil común/raro frecuente/infrecuente
    frecuentemente/raramente conocido/desconocido conocida/desconocida conocidos/desconocidos aparecer/desaparecer
    apareció/desapareció recordar/olvidar obligatorio/voluntario obligatoria/voluntaria obligatorio/opcional
    ventaja/desventaja ventajas/desventajas beneficio/perjuicio beneficios/pérdidas positivos/negativos
    positivas/negativas públicos/privados públicas/privadas interno/externo interna/externa nacional/extranjero
    norteño/sureño oriental/occidental orientales/occidentales izquierda/derecha urbano/rural urbana/rural
    masculino/femenino masculina/femenina niño/niña marido/esposa rey/reina culpable/inocente acuerdo/desacuerdo
    igual/distinto iguales/distintos iguales/diferentes igualdad/desigualdad parecido/distinto idénticos/diferentes
    similar/diferente similares/diferentes completa/incompleta completos/incompletos gratis/pago gratuito/pagado
    llena/vacía rápida/lenta rápidos/lentos cerca/lejos cercano/lejano arriba/abajo delante/detrás simple/complejo
    sencillo/complicado directo/indirecto directa/indirecta principal/secundario principal/secundaria
    delantero/trasero delantera/trasera hundir/flotar elogio/crítica elogio/abucheo encender/apagar mojado/seco
    húmedo/seco húmeda/seca ancho/estrecho grueso/fino pesado/ligero claro/oscuro limpio/sucio ruidoso/silencioso
    blando/duro crudo/cocido permanente/temporal total/parcial contratar/despedir ganancia/pérdida
    día/noche par/impar sólido/líquido comestible/venenoso transparente/opaco adelantar/retrasar dulce/amargo
    autorizar/prohibir aprobar/suspender absolver/condenar admitir/negar confirmar/desmentir elogiar/criticar
    acelerar/frenar calentar/enfriar habitado/vacío ocupado/libre añadir/quitar prestar/devolver atacar/defender
    oponer/apoyar opuso/apoyó
    seguir/preceder superior/inferior profundo/superficial áspero/suave obligatorio/optativo
    importante/irrelevante activo/pasivo activa/pasiva vida/muerte nacer/morir nació/murió nacimiento/muerte
"""


def _first_of(groups: str) -> dict[str, str]:
    """Every later word of a group to its first."""
    rows = (group.split() for line in groups.split("\n") for group in line.split("/"))
    return {word: first for first, *others in filter(None, rows) for word in others}


SAME: Final = _SPELLINGS | _first_of(_IRREGULAR)
"""Spellings and forms of one thing, to the first of them."""
SAME_STEMS: Final = {"es": _first_of(_SPANISH_STEMS)}
"""Stems of one verb, which changes its vowel or its root, to the first of them."""
_EXCLUSIVE = """
    red blue green yellow orange purple brown black white grey pink
    rojo azul verde amarillo naranja morado marrón negro blanco gris rosa
    breakfast lunch dinner
    desayuno almuerzo cena
    mother father brother sister son daughter uncle aunt grandfather grandmother
    madre padre hermano hijo tío abuelo
    gold silver bronze copper iron steel wood stone glass plastic
    oro plata bronce cobre hierro acero madera piedra vidrio plástico
    train bus car plane ship bicycle
    tren autobús coche avión barco bicicleta
    dog cat horse cow sheep pig goat
    perro gato caballo vaca oveja cerdo cabra
    spring summer autumn winter
    primavera verano otoño invierno
    attic cellar kitchen bathroom bedroom
    ático sótano cocina baño dormitorio
"""
"""A line of words of one kind, of which one excludes the others in the same place of a sentence."""
ANTONYMS: Final[tuple[tuple[str, str], ...]] = (
    *((one, other) for one, _, other in (pair.partition("/") for pair in _OPPOSED.split())),
    *(pair for line in _EXCLUSIVE.splitlines() for pair in combinations(line.split(), 2)),
)
"""Words that say the contrary of each other."""

UNITS: Final[dict[str, str]] = {
    word: words.split()[0]
    for words in (
        "second seconds segundo segundos",
        "minute minutes minuto minutos",
        "hour hours hora horas",
        "day days día días",
        "week weeks semana semanas",
        "month months mes meses",
        "year years año años",
        "percent %",
        "km kilometers kilometres kilometer kilómetros kilómetro",
        "mile miles milla millas",
        "meter meters metres metre metros metro",
        "foot feet pie pies",
        "inch inches pulgada pulgadas",
        "kg kilograms kilogram kilos kilogramos",
        "pound pounds libra libras",
        "dollar dollars dólar dólares",
        "euro euros",
        "gram grams gramo gramos",
        "liter liters litres litro litros",
    )
    for word in words.split()
}
"""Words that count something, to one name each."""

SYMMETRIC: Final = {
    "en": "marry meet border resemble equal differ play join face divorce compete collaborate tie match same similar",
    "es": "casar encontrar limitar parecer igualar jugar unir divorciar competir colaborar empatar igual similar",
}
"""Words around which two things may change places."""

PARTICIPLES: Final = _words(
    "built made led won sold bought found founded held told heard sent spent taught caught brought thought fought"
    " sought lost left kept met paid said set put cut hit hurt read shot shown done gone known grown drawn sung begun"
    " hecho hecha hechos hechas escrito escrita escritos escritas dicho visto vista vistos vistas puesto puesta abierto"
    " abierta cubierto cubierta muerto muerta roto rota vuelto vuelta descrito descrita compuesto compuesta"
)
"""Irregular past participles."""

NEGATIVE_PREFIXES: Final = ("un", "in", "im", "il", "ir", "dis", "non", "des", "de")
"""Beginnings that turn a word round, in either language."""

_ADJECTIVES = """
    long short high low old young new fast slow safe large small big strong weak cheap warm cool hot cold heavy light
    early late easy hard near far rich poor wide narrow deep shallow thick thin loud quiet soft close dark bright tall
    quick great few clean dirty busy happy sad simple wet dry full empty
"""


def _grade() -> dict[str, tuple[int, str]]:
    """English comparatives (1) and superlatives (3), with the words that they are of."""
    grades = {
        "better": (1, "good"), "best": (3, "good"), "worse": (1, "bad"), "worst": (3, "bad"), "further": (1, "far"),
        "farther": (1, "far"), "farthest": (3, "far"), "more": (1, "more"), "less": (-1, "more"),
        "fewer": (-1, "more"), "más": (1, "más"), "menos": (-1, "más"),
    }  # fmt: skip
    for word in ("mayor", "menor", "mejor", "peor", "superior", "inferior"):
        grades |= {word: (1, word), word + ("s" if word[-1] in "aeo" else "es"): (1, word)}
    for word in _ADJECTIVES.split():
        stem = word[:-1] + "i" if word[-1] == "y" else word.removesuffix("e")
        if stem == word and stem[-1] in "gdnt" and stem[-2] in "aeiou" and stem[-3] not in "aeiou":
            stem += stem[-1]
        grades |= {stem + "er": (1, word), stem + "est": (3, word)}
    return grades


GRADES: Final = _grade()
"""Words of comparison → their degree and the word that they compare."""
