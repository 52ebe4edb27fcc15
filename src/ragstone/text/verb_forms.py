"""Verb forms of English and Spanish: closed tables and endings, for reading clauses without a part-of-speech tagger."""

from __future__ import annotations

from typing import Final

EN_AUXILIARIES: Final = """
is are was were am has have had will would can could may might must shall should do does did cannot isn't aren't wasn't
weren't hasn't haven't hadn't won't wouldn't can't couldn't mustn't shouldn't don't doesn't didn't
"""
EN_BASES: Final = """
accept access achieve acquire act adapt add address adopt affect agree aim allow announce appear apply appoint approve argue
arrive ask assign assist attack attempt attend attract avoid award base be become begin believe belong break bring build
buy call cancel capture carry cause celebrate change charge check choose claim climb close collect combine come comment
commit compare compete complete comprise concern conduct confirm connect consist construct contain continue contribute
control convert cook cost cover create cross cut deal decide declare decline decrease define deliver demand deny depart
depend describe design destroy determine develop die direct discover discuss divide donate draw drink drive drop earn eat
edit elect employ enable encourage end enjoy ensure enter establish evaluate exceed exchange exist expand expect explain
explore export express extend face fail fall feature feed feel fight fill find finish fit fly focus follow force form found
gain gather generate get give go govern graduate grant grow guarantee handle hang happen head hear help hire hit hold host
house identify implement improve include increase indicate influence inform inherit inspire install intend introduce invade
invent invest invite involve issue join judge jump keep kill know lack last launch lead learn leave let lie limit link
listen live locate look lose love maintain make manage mark marry mean measure meet mention merge miss monitor move name
need note notice notify obtain occupy occur offer open operate oppose order organize organise own paint participate pass
pay perform permit place plan play point possess practise practice prefer prepare present preserve prevent process produce
promise promote protect prove provide publish pull purchase push put raise range reach read rebuild receive recognize
recognise recommend record recover reduce refer reflect refuse register reject release rely remain remove renew rent repair
repeat replace report represent require rescue reside resign resolve respond restore result retain retire return reveal rise
rule run save say see seem sell send separate serve set settle share shoot show sign sing sit sleep speak specialize
specialise spend sponsor spread stand star start state stay stop store stretch strike study submit succeed suffer suggest
supply support surround survive take talk teach tell tend test think threaten throw train transfer transform translate
travel treat try turn understand upgrade use value vary view visit vote wait walk want warn wash watch wear weigh win wish
work write yield
"""
EN_NOUN_LIKE: Final = """
access act address aim attack attempt award base break build call cause change charge check claim climb close comment
concern control cook cost cover cross cut deal decline decrease demand design dish draw drink drive drop end exchange
experience export face fall feature feed fight fill find fit fly focus force form gain grant guarantee hang head help hire
hit hold host house influence issue judge jump kill lack last launch lead leave lie limit link look love mark measure miss
monitor move name need note notice offer open order paint pass pay place plan play point practice present process produce
promise purchase push put raise range reach read record release rent repair repeat report rescue result return rise rule run
save say sell set settle share shoot show sign sit sleep sponsor spread stand star start state stay stop store stretch
strike study supply support talk tell test think throw train transfer travel treat try turn upgrade use value view visit vote
wait walk want wash watch wear win wish work yield
"""
"""Bases whose form in -s is as often a plural noun."""
EN_PASTS: Final = """
arose ate awoke became began bore broke came chose drank drew drove fell flew forgave forgot froze gave grew knew overcame
overtook rang ran rode rose sang sank saw shook spoke sprang stole swam swore took threw tore undertook went withdrew woke
wore wrote
"""
EN_PAST_PARTICIPLES: Final = """
bent bound bought bred broadcast brought built burnt cast caught cost cut dealt dug fed felt fled fought found had heard held
hit hung hurt kept knelt laid learnt led left lent let lit lost made meant met paid put read rebuilt said sat sent set shed
shot shut slept slid sold sought spent split spread sprung spun stood struck stuck swept swung taught thought told
understood wept won
"""
"""Forms that are both past and participle."""
EN_PARTICIPLES: Final = """
arisen beaten become been begun bitten blown born borne broken chosen come done drawn driven drunk eaten fallen flown
forbidden forgiven forgotten frozen given gone grown hidden known overcome ridden risen run rung seen sewn shaken shown
spoken stolen sung sunk sworn swum taken thrown torn undertaken withdrawn woken worn woven written
"""
EN_NO_PARTICIPLES: Final = (
    "hundred sacred naked wicked rugged beloved kindred infrared united limited aged so-called red"
)
EN_MODALS: Final = "will would can could may might must shall should to cannot can't won't didn't don't doesn't did do does"
"""Words that a base form follows."""

ES_FINITE: Final = """
es son era eran fue fueron está están estaba estaban estuvo estuvieron ha han había habían hubo hay he hemos tiene tienen
tenía tenían tuvo tuvieron puede pueden podía podían pudo pudieron podrá podrán debía será serán sería serían tendrá tendrán
habrá habrán hace hacen hacía hizo hicieron hará va van iba iban dio dieron da dan dice dicen decía dijo dijeron sabe saben
supo quiere quieren quería quiso viene vienen vino vinieron sale salen pone ponen puso pusieron trae traen trajo trajeron ve
ven vio vieron oye oyen sigue siguen conoce conocen parece parecen aparece aparecen nace nacen nacía muere mueren vivía
incluye incluyen incluía contiene contienen contenía contuvo ofrece ofrecen pertenece pertenecen requiere requieren
encuentra encuentran muestra muestran cuenta cuentan cuesta cuestan vale valen mide miden pierde pierden juega juegan produce
producen produjo produjeron conduce conducen sirve sirven cierra cierran sostiene sostienen mantiene mantienen obtiene
obtienen mantuvo obtuvo detuvo detiene compone componen dispone disponen supone suponen propone proponen impone expone
comienza comienzan empieza empiezan cae caen crece crecen protege protegen elige eligen dirige dirigen posee poseen exige
exigen impide impiden reduce reducen consigue consiguen atiende atienden envía envían prohíbe prohíben devuelve devuelven
acoge acogen suele suelen anduvo cupo cabe caben duerme duermen vuelve vuelven quedó siente sienten piensa piensan entiende
entienden construye construyen constituye constituyen destruye destruyen distribuye distribuyen contribuye contribuyen
merece merecen establece establecen favorece favorecen sea sean esté estén tenga tengan haya hayan pueda puedan vaya
vayan haga hagan eres estás has tienes puedes haces vas quieres sabes tengas puedas seas estés somos estamos tenemos podemos
hacemos vamos soy estoy tengo puedo eras tuve
"""
ES_REGULAR: Final = """
abandonar abarcar abrir acabar aceptar actuar admitir adoptar afectar afirmar albergar alcanzar aplicar aprender apoyar
asistir atacar aumentar ayudar bajar basar beber buscar cambiar cancelar causar celebrar cobrar comer completar componer
comprar comprender comunicar conectar conservar considerar consistir consultar contratar controlar convocar correr
corresponder crear creer criticar cubrir cuidar curar deber decidir declarar dedicar defender definir dejar depender derivar
desarrollar descargar describir descubrir desear destacar determinar dividir durar elaborar emitir emplear entrar entregar
enseñar escribir escuchar esperar estudiar evitar existir explicar explorar exportar expresar fabricar facilitar faltar
financiar formar funcionar fundar ganar garantizar generar gestionar gobernar grabar habitar hablar identificar imaginar
impartir importar indicar informar iniciar instalar intentar interpretar investigar invitar lanzar leer levantar limitar
llamar llegar llevar lograr luchar mandar manejar marcar mejorar mencionar migrar modificar necesitar negar nombrar notar
observar obligar ocupar ocurrir operar organizar pagar participar partir pasar permanecer permitir pesar planificar portar
practicar predominar preparar presentar preservar procesar proclamar programar promover proporcionar provocar publicar quedar
reaccionar realizar recaudar rechazar recibir recoger recomendar reconstruir recorrer recuperar reembolsar reemplazar reflejar
reformar registrar regresar regular relacionar relatar representar residir resistir resultar retirar reunir revelar rodear
romper salvar señalar separar soportar subir suceder sufrir superar tardar terminar tocar tomar trabajar transformar
transmitir transportar tratar unir usar utilizar vender viajar vigilar visitar vivir votar
"""
"""Infinitives with regular present forms."""
ES_NOUN_LIKE: Final = """
ayuda baja basa cambia causa cobra compra consulta controla cura forma funda gana habla importa lanza levanta
limita lucha llama llega marca nota opera paga parte pasa pesa porta practica programa queda reforma regula subes
tarda tocas toma trata usa vende visita vota causas ayudas compras consultas formas luchas llamas marcas notas partes
programas reformas visitas curas parten
"""
"""Present forms that are as often a noun or an adjective."""
ES_FINITE_ENDING: Final = (
    r"\w{2,}(?:ó|aron|ieron|yeron|jeron|ían|ábamos|[aei]rán|[aei]rían?)|\w{3,}(?:aban?|[aei]rá)"
)
ES_NO_FINITE: Final = (
    "árabe sílaba traba guayaba calaba dominó capó además jamás librería panadería"
)
ES_PARTICIPLES: Final = """
escrito escrita escritos escritas hecho hecha hechos hechas visto vista vistos vistas puesto puesta puestos puestas abierto
abierta abiertos abiertas dicho dicha muerto muerta muertos muertas vuelto vuelta roto rota cubierto cubierta cubiertos
cubiertas descubierto descubierta compuesto compuesta propuesto propuesta impuesto devuelto devuelta resuelto resuelta
inscrito inscrita descrito descrita electo electa nacido nacida
"""
ES_PARTICIPLE_ENDING: Final = r"\w{2,}(?:ad|id|íd)[oa]s?"
ES_MODALS: Final = """
puede pueden podía podían pudo podrá podrán podría podrían debe deben debía debían deberá deberán debería deberían suele suelen
quiere quieren desea desean permite permiten para
"""
"""Words that an infinitive follows."""
ES_INFINITIVE_ENDING: Final = r"\w{2,}[aei]r(?:se|l[aeo]s?)?"
