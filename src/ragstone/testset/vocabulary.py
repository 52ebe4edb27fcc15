"""Closed lists that reading a sentence by rule needs, by language."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


NUMBER_WORDS = {
    "en": word_set(
        "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
        "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen"
    ),
    "es": word_set(
        "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho "
        "diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien mil millones doscientos trescientos quinientos"
    ),
}

PLURALS = {
    "en": word_set("people children men women feet police cattle sheep miles mice teeth"),
    "es": frozenset[str](),
}

UNIT_STOPS = {
    "en": word_set(
        "a an the and or but of in on at by to for from with per each every as than that which who is are was were has have had "
        "more less fewer further longer later earlier before after ago times its their his her other others others' this these those "
        "was be can may not only plus minus until within during thousand hundred others"
    ),
    "es": word_set(
        "y o u e de del en a al por para con que como es son fue más menos veces su sus los las el la un una lo otros otras se no sin "
        "antes después tras puntos-es mil entonces ellos ellas estos estas esos esas"
    ),
}

NAME_LINKS = {
    "en": word_set("of de la von van du del da bin and-not di le den der ibn"),
    "es": word_set("de del la las los von van du da bin di le den der y-not"),
}

ROLES = word_set(
    "mr mrs ms dr sir lord lady king queen prince princess emperor empress pope saint president minister chancellor general captain colonel "
    "professor poet author writer singer actor actress director composer painter architect engineer inventor physicist chemist scientist "
    "philosopher historian economist mathematician explorer theologian bishop archbishop cardinal quarterback linebacker coach lineman footballer "
    "shaman khan noble senator governor mayor secretary judge lawyer activist musician guitarist vocalist producer missionary monk sultan duke "
    "count baron footballer journalist biologist geologist astronomer designer "
    "rey reina príncipe princesa emperador emperatriz papa santo santa san presidente presidenta ministro ministra canciller general capitán coronel profesor profesora "
    "poeta autor autora escritor escritora cantante actor actriz director directora compositor compositora pintor pintora arquitecto arquitecta ingeniero ingeniera inventor "
    "físico física químico filósofo historiador historiadora economista matemático explorador teólogo obispo arzobispo cardenal mariscal apoyador entrenador "
    "chamán senador gobernador alcalde alcaldesa secretario juez abogado activista músico guitarrista vocalista productor misionero monje sultán duque conde barón "
    "futbolista exfutbolista periodista biólogo geólogo astrónomo diseñador liniero tacle esquinero don doña señor señora doctor doctora"
)

GIVEN_NAMES = word_set(
    "adam albert alan alex alexander alfred alice andrew andy anna anne anthony antoine arthur barack ben benjamin bernard bill billy bob brian bruce carl carlos "
    "charles chris christian christopher claude daniel david denis dennis diego donald douglas edmund edward edwin elizabeth emily emma eric ernest eugene "
    "felipe fernando francis francisco frank franklin franz frederick friedrich gary gaius george gerald gilbert giovanni gordon gregory guillermo gustav harold harry heinrich "
    "helen henri henry herbert hermann howard hugh hugo isaac isabel ivan jack jacques james jan jane jared jason javier jean jeremy jim jimmy joan joe johann "
    "john jonathan jorge joseph josé josh juan julia julian julie julius karl kate katherine keith kenneth kevin kurt larry laura lawrence leo leon leonard leonardo "
    "lewis louis lucas luis luke lyndon manuel marco margaret maria maría mario mark martin martín mary matthew max maurice michael michelangelo miguel mike napoleon nancy "
    "nathan nelson nicholas nicolas nikola noah oliver oscar otto pablo patrick paul pedro percy peter philip pierre rafael ralph ray raymond rené richard robert "
    "roger ronald rosa roy rudolf ryan sam samuel sarah scott sebastian simon sofia stephen steve steven stewart susan teresa theodore thomas tim timothy tom tony victor "
    "vincent virginia vladimir walter wilhelm will william winston wolfgang woodrow wernher dudley trevor marlee colin jon brian rose martha hans erich emil joan jane ruth grace olivia sophie lucy clara pilar carmen elena ana marta lucía rosario enrique alberto ramón álvaro andrés sergio gadifer marie ida tomas tomás ingrid greta astrid sven lars erik nils olaf anders piet klaus jürgen ursula heidi petra stefan matteo luca giulia marco paolo chiara francesca antonio lorenzo bruno camille chloé amélie sophie luc marcel claire hélène gérard monique yves aisha fatima omar hassan ahmed mohamed ali ibrahim yusuf layla nadia amir leila rashid kofi kwame amina priya raj anil sunita arjun deepak lakshmi ravi mei ling wei hiroshi yuki kenji akira sakura haruto min-jun jin nora ruth esther judith naomi rachel rebecca leah abigail hannah sarah deborah agnes beatrice cecilia dora edith florence gertrude harriet iris ivy jessica jennifer karen linda megan melissa nicole olga pamela patricia rita sandra sharon sheila stella sylvia tracy ursula vera victoria wendy yvonne zoe aaron abraham albert andrea ángel arturo beatriz begoña blanca cristina daniela dolores eduardo emilio ernesto esteban eva félix gabriel gloria gonzalo guadalupe héctor ignacio inés irene jaime joaquín josefina julián lorena luz manuela marcos mercedes mónica natalia nuria olga óscar patricia paula raquel raúl ricardo roberto rocío rodrigo rubén salvador santiago silvia sonia susana tomás vicente yolanda hakeem ronnie demarcus cam peyton kony kawann"
)

MONTHS_AND_DAYS = word_set(
    "january february march april may june july august september october november december monday tuesday wednesday thursday friday "
    "saturday sunday enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)

CUT_SHORT = word_set("st sr sra dr dra mr mrs ms núm no rev gen col vol ed fig art pág")
"""Abbreviations behind whose point a sentence was cut."""

PREPOSITIONS = {
    "en": word_set(
        "in on at from to until till by for with within during between after before under since through into onto over across along around "
        "against among about as per without near off toward towards throughout upon beyond behind inside outside despite above below beside opposite"
    ),
    "es": word_set(
        "en a al de del desde hasta por para con sin sobre bajo entre durante tras según contra hacia ante mediante dentro fuera junto antes después"
    ),
}

DETERMINERS = {
    "en": word_set(
        "the a an this that these those its their his her our my your each every some any all both no another many most several few such"
    ),
    "es": word_set(
        "el la los las un una unos unas este esta estos estas ese esa esos esas su sus cada todo toda todos todas algún alguna algunos algunas otro otra otros otras muchos muchas varios varias ningún ninguna"
    ),
}

UNCLEAR = {
    "en": word_set(
        "this these those such former latter he she him her his hers they them their theirs it its we us our ours here former above below following "
        "aforementioned said another other others latter i me my"
    ),
    "es": word_set(
        "este esta esto estos estas ese esa eso esos esas aquel aquella dicho dicha dichos dichas ello ella él ellos ellas aquí anterior siguiente "
        "mismo misma mismos mismas tal tales ambos ambas nosotros nos nuestro nuestra nuestros nuestras le les lo su sus"
    ),
}
"""Words that point outside a sentence: a question must not lean on them."""
