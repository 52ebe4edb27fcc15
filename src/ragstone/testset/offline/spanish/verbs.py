"""Spanish finite verb forms of the third person, and what may follow them in a verb group."""

from __future__ import annotations

import re
from functools import lru_cache

from ragstone.testset.vocabulary import word_set

_COMMON = """
es son era eran fue fueron será serán sería serían está están estaba estaban estuvo estuvieron estará estarán
ha han había habían habrá habrán hubo hay tiene tienen tenía tenían tuvo tuvieron tendrá tendrán
puede pueden podía podían pudo pudieron podrá podrán podría podrían debe deben debía debían deberá deberán debería deberían debió
suele suelen solía solían va van iba iban irá irán hace hacen hizo hicieron hacía hacían hará harán dice dicen dijo dijeron decía decían
da dan dio dieron daba daban dará viene vienen vino vinieron venía venían vendrá sale salen salió salieron saldrá
pone ponen puso pusieron ponía ponían trae traen trajo trajeron quiere quieren quiso quisieron quería querían sabe saben supo supieron
conoce conocen conoció conocieron ve ven vio vieron veía veían cae caen cayó cayeron oye oyen oyó leyó leyeron cree creen creyó creyeron
pierde pierden perdió perdieron sigue siguen siguió siguieron pide piden pidió pidieron sirve sirven sirvió sirvieron mide miden midió
empieza empiezan empezó empezaron comienza comienzan comenzó comenzaron cierra cierran cerró cerraron cuesta cuestan costó costaron
vuelve vuelven volvió volvieron encuentra encuentran encontró encontraron muestra muestran mostró mostraron cuenta cuentan contó contaron
muere mueren murió murieron nace nacen nació nacieron duerme duermen mueve mueven movió movieron resuelve resuelven devuelve devuelven
convierte convierten convirtió convirtieron prefiere prefieren sugiere sugieren sugirió sugirieron refiere refieren requiere requieren requirió adquiere adquirió
mantiene mantienen mantuvo mantuvieron contiene contienen contuvo obtiene obtienen obtuvo obtuvieron sostiene sostienen sostuvo sostuvieron
propone proponen propuso propusieron compone componen dispone disponen supone suponen supuso impone impuso expone expuso opuso opusieron
conduce conducen condujo condujeron produce producen produjo produjeron introduce introdujo introdujeron reduce reducen redujo redujeron traduce tradujo
incluye incluyen incluyó incluyeron construye construyen construyó construyeron destruye destruyó destruyeron contribuye contribuyó contribuyeron
constituye constituyen constituyó distribuye distribuyen distribuyó sustituye sustituyen sustituyó atribuye atribuyó huyó huyeron
rige rigen elige eligen eligió eligieron corrige exige exigen exigió consigue consiguen consiguió consiguieron persigue repite repiten
despide viste ríe siente sienten sintió hierve advierte advirtió invierte invirtió defiende defienden defendió defendieron enciende extiende extienden extendió
atiende atienden entiende entienden entendió pretende depende dependen tiende tienden prueba prueban probó aprueba aprueban aprobó aprobaron cuelga
juega juegan jugó jugaron llueve conviene convino interviene intervino proviene provienen previene caduca caducan cabe caben cupo
actúa actúan sitúa sitúan continúa continúan evalúa evalúan varía varían envía envían amplía amplían constituía constituían atraía atraían
manifiesta manifiestan recomienda recomiendan sobrevive sobreviven sobrevivió sobrevivieron competía compite compiten equivale equivalen mide miden remonta remontan
distingue distinguen distinguió deduce deducen desvía desvían detiene detienen detuvo detuvieron disuelve disolvió acoge acogen acogió atrae atraen atrajo atrajeron
abre abren abrió abrieron cubre cubren cubrió cubrieron descubrió descubrieron escribe escriben escribió escribieron
"""

_AR = """
abandonar abarcar absorber acabar aceptar acompañar acordar activar actuar adelantar admitir adoptar afectar afirmar agregar alcanzar alojar alquilar alterar ampliar
anotar anular anunciar apagar aparcar apoyar aplicar apuntar argumentar arrojar atacar atrapar aumentar avanzar avisar ayudar bajar bastar batir bloquear buscar cambiar cancelar capturar
cargar casar causar celebrar citar clasificar cobrar colaborar colocar combinar compilar completar comprar comunicar concentrar confirmar considerar conquistar consultar contratar controlar crear cruzar
cultivar dañar declarar dedicar dejar demostrar derrotar desarrollar descansar descontar designar desplazar destacar destinar determinar dibujar diseñar disfrutar dominar durar
ejecutar elaborar eliminar encabezar encargar enfrentar enseñar entrar entregar enviar escapar especializar esperar establecer estimar estudiar evitar examinar experimentar explicar explorar explotar expresar
fabricar facilitar faltar financiar firmar formar forzar fracasar fundar funcionar ganar garantizar gastar generar gestionar gobernar grabar guardar hablar hallar heredar identificar implicar importar
incorporar indicar iniciar informar ingresar instalar intentar interceptar interpretar inventar investigar invitar jugar juntar juzgar lanzar liberar liderar limitar llamar llegar llenar llevar localizar lograr luchar
mandar manejar marcar matar mejorar mencionar mostrar multar nombrar necesitar negar nombrar observar ocupar ofrecer operar organizar otorgar pagar participar pasar pensar perdonar planificar plantar plantear
practicar preparar presentar prestar proclamar programar prohibir protagonizar provocar publicar quedar quemar realizar rebajar rechazar reclamar reconocer recuperar reforzar registrar reflejar regalar regresar reembolsar relacionar
rellenar renovar reparar representar reservar respetar respaldar retener retirar revisar rodear sacar salvar señalar separar significar situar solicitar soportar subrayar sumar superar suministrar tardar terminar tomar
trabajar transformar transportar trasladar tratar unificar usar utilizar valorar variar viajar vigilar visitar votar abonar acampar adjuntar cosechar cotizar dirigar educar emplear emigrar encajar estrenar evolucionar fijar filmar
habitar igualar ilustrar impulsar inaugurar influenciar integrar inspirar justificar legalizar matricular montar motivar negociar notificar originar patrocinar perjudicar pesar ratificar recaudar recoger redactar renunciar repostar reportar
saltar sancionar simbolizar sofocar sumergir sospechar tolerar trazar triunfar ubicar vincular volcar alertar apreciar arreglar asignar atracar aterrizar aportar citar convocar coronar decretar derribar desembarcar detallar dictar
"""
_MORE_AR = """
opinar proporcionar constar oscilar girar originar conectar adaptar apoderar asegurar asignar basar caracterizar compensar condenar conservar contestar criticar debutar delegar demandar
denominar derivar desplegar detectar donar editar emanar estimular etiquetar exportar frenar habitar impulsar inaugurar instaurar integrar legislar migrar modificar motivar obligar ocasionar
ordenar orientar penetrar perjudicar poblar precisar presionar privatizar protestar ramificar ratificar redactar rescatar restaurar retrasar revelar sancionar simbolizar sintetizar sobrepasar
subvencionar trazar triunfar ubicar vincular violar albergar agrupar aislar alegar alentar alimentar almacenar analizar animar apelar aportar apostar aprovechar arrestar asesinar asociar
autorizar calcular calificar comandar comerciar comprobar condicionar configurar conllevar contaminar contemplar convocar coronar cuestionar culminar culpar debilitar decretar delimitar
denunciar desafiar desempeñar desencadenar devastar diagnosticar diferenciar dotar duplicar elevar embarcar empujar encarcelar entrenar equipar erradicar evacuar exiliar exterminar fomentar
fortificar frecuentar ilustrar imitar implantar implementar inspirar instar interactuar intercambiar jurar justificar legalizar manipular matricular mezclar moldear nadar narrar navegar
nominar notificar obstaculizar ocultar optar patentar patrocinar pescar predominar preservar proyectar recaudar reclutar recopilar reinar relatar renunciar replicar reportar resaltar
retomar rivalizar saquear seleccionar simular sospechar talar testificar tolerar torturar transitar usurpar vetar zarpar abordar acceder acelerar acumular adjudicar administrar
afrontar agotar agravar alcanzar amenazar anexionar apreciar aterrizar atraer bombardear captar comentar compensar complementar conciliar confiar congelar conquistar consolidar contabilizar
contrarrestar deber decorar depositar descartar descender despegar desplomar desestimar dimitir emigrar encargar engañar enterrar escalar esclavizar estallar excavar facilitar fallar
golpear habilitar igualar imponer importar inclinar incrementar indemnizar infectar iluminar inundar inyectar lamentar liquidar manchar mitigar molestar nacionalizar naufragar neutralizar
"""

_ER_IR = """
absorber aparecer aprender atender beber carecer ceder comer comprender conceder conocer correr corresponder crecer deber depender desaparecer ejercer emprender entender establecer exceder
favorecer fortalecer merecer nacer ofrecer parecer permanecer pertenecer poseer prender pretender proceder prometer proteger reconocer recoger responder romper someter sorprender suceder surgir temer tejer vencer vender verter
abrir acudir admitir añadir aplaudir asistir asumir compartir concluir confundir consistir consumir cubrir cumplir decidir definir describir descubrir difundir dirigir discutir dividir emitir escribir existir exprimir
expedir fundir imprimir impedir insistir interrumpir invadir ocurrir partir permitir persistir pervivir prohibir reabrir recibir reunir repartir residir resistir restringir subir sufrir sustituir transmitir unir vivir compartir extinguir
influir distribuir restituir construir excluir incluir disminuir
"""

_ENDINGS_AR = ("a", "an", "ó", "aron", "aba", "aban", "ará", "arán", "aría", "arían")
_ENDINGS_ER = ("e", "en", "ió", "ieron", "ía", "ían")
_IRREGULAR_PARTICIPLES = word_set(
    "abierto abierta abiertos abiertas cubierto cubierta cubiertos cubiertas dicho dicha "
    "escrito escrita escritos escritas hecho hecha hechos hechas muerto muerta muertos "
    "muertas puesto puesta puestos puestas resuelto roto rota rotos rotas visto vista vistos "
    "descritos descritas vistas vuelto impreso impresa electo electa descrito descrita devuelto devuelta "
    "compuesto compuesta compuestos compuestas propuesto propuesta dispuesto impuesto opuesto "
    "descubierto descubierta"
)
CLITICS = word_set("se lo la los las le les me nos os te")
PASSIVE = word_set("fue fueron es son era eran será serán ha han había habían")
MODALS = word_set(
    "puede pueden podía podían podrá podrán podría podrían pudo pudieron debe deben debía "
    "debían deberá deberán debería deberían suele suelen solía solían"
)
_PARTICIPLE = re.compile(r"[^\W\d_]{2,}(?:ad|id|íd)[oa]s?$")
_INFINITIVE = re.compile(r"[^\W\d_]{1,}[aei]r(?:se|lo|la|los|las|le|les)?$")
_GERUND = re.compile(r"[^\W\d_]{2,}(?:ando|iendo|yendo)$")


@lru_cache(maxsize=1)
def _finite() -> frozenset[str]:
    found = set(_COMMON.split())
    for infinitive in (*_AR.split(), *_MORE_AR.split()):
        if infinitive.endswith("ar"):
            found |= {infinitive[:-2] + ending for ending in _ENDINGS_AR}
    for infinitive in [*_ER_IR.split(), *(one for one in _AR.split() if not one.endswith("ar"))]:
        stem, vowel = infinitive[:-2], infinitive[-2]
        if stem.endswith("u") and vowel == "i":
            found |= {stem + end for end in ("ye", "yen", "yó", "yeron", "ía", "ían")}
        else:
            found |= {stem + ending for ending in _ENDINGS_ER}
        found |= {infinitive + ending for ending in ("á", "án", "ía", "ían")}
    return frozenset(found)


_NO_VERB = word_set("parte parten influencia fuente cuente")


def finite(word: str) -> bool:
    """Whether a lower-case word can be a finite verb of the third person."""
    if word in _NO_VERB:
        return False
    if word in _finite():
        return True
    # preterites and futures carry an accent that hardly any noun has
    endings = ("aron", "ieron", "ará", "arán", "ó", "aban", "arían", "erían", "irían")
    return len(word) > 4 and word.endswith(endings)


def participle(word: str) -> bool:
    """Whether a word can be a participle."""
    return word in _IRREGULAR_PARTICIPLES or _PARTICIPLE.match(word) is not None


_NO_INFINITIVE = word_set(
    "cualquier mujer ayer taller alquiler lugar hogar mar bar par azúcar militar familiar "
    "popular similar singular particular escolar solar lunar nuclear celular regular circular "
    "polar titular auxiliar poder-no ejemplar pilar altar collar dólar estelar molecular "
    "vascular muscular carácter cáncer líder primer tercer"
)


def infinitive(word: str) -> bool:
    """Whether a word can be an infinitive, with or without pronouns behind."""
    return word not in _NO_INFINITIVE and _INFINITIVE.match(word) is not None


def gerund(word: str) -> bool:
    """Whether a word can be a gerund."""
    return _GERUND.match(word) is not None
