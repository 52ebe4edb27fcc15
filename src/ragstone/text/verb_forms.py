"""Verb forms of English and Spanish: closed tables and endings, for reading clauses without a part-of-speech tagger. Versioned by VERSION in judges/offline."""

from __future__ import annotations

from typing import Final

EN_AUXILIARIES: Final = """
is are was were am has have had will would can could may might must shall should do does did cannot isn't aren't wasn't
weren't hasn't haven't hadn't won't wouldn't can't couldn't mustn't shouldn't don't doesn't didn't
"""
EN_BASES: Final = """
abandon abolish absorb accept access accompany accuse achieve acknowledge acquire act adapt add address administer
admit adopt advance advertise advise affect afford agree aid aim allow alter amend analyse analyze annex announce
apologise apologize appeal appear apply appoint approve argue arise arrange arrest arrive ask assassinate assemble
assert assess assign assist assume assure attach attack attain attempt attend attract attribute authorise authorize
avoid award bake ban base be bear beat become begin believe belong bend bid bind bite blame block blow boil borrow
bound break breathe breed bring broadcast build burn bury buy calculate call campaign cancel capture carry carve cast
catch cause celebrate change charge check choose circulate cite claim classify clean climb close coach coin
collaborate collapse collect combine come command commence comment commission commit communicate compare compete
compile complain complete compose comprise concentrate concern conclude conduct confirm confuse connect conquer
consider consist constitute construct consume contain continue contract contrast contribute control convert convey
convict convince cook coordinate cope correct correspond cost count cover create criticise criticize cross cultivate
cure cut damage dance dare deal debut decide declare decline decorate decrease dedicate defeat defend define delay
delete deliver demand demolish demonstrate denote deny depart depend derive describe deserve design desire destroy
detect deteriorate determine develop devote die differ diminish direct disappear disband discourage discover discuss
dismiss display dissolve distinguish distribute divide dominate donate double doubt draft drain draw drink drive drop
drown earn eat edit educate elaborate elect elevate eliminate embrace emerge emigrate emphasise emphasize employ empty
enable encounter encourage end endorse enforce engage enhance enjoy enrol enroll ensure enter envisage equip erect
escape establish estimate evacuate evaluate evolve examine exceed exclude exchange execute exercise exert exhibit exist expand
expect expire explain explore export expose express extend face fail fall fasten favor favour fear feature feed feel
fight fill film finance find finish fish fit flee float flow fly focus fold follow forbid force forgive form found
freeze fulfil fulfill function fund furnish gain gather generate get give go govern grab graduate grant grind grow
guarantee guard guide handle hang happen harm harvest hate head heal hear heat help hide highlight hire hit hold host
house hunt identify ignore illustrate imagine implement impose imprison improve include incorporate increase indicate
influence inform inhabit inherit inject injure inquire insert insist inspect inspire install integrate intend interact
interpret interrupt interview introduce invade invent invest investigate invite involve isolate issue join judge jump
justify keep kick kill know label lack last launch lay lead learn leave lend let lie lift limit link listen live
locate look lose love lower maintain make manage mark marry mean measure meet melt mention merge migrate miss mix
modify monitor move murder name narrate narrow navigate need neglect negotiate nominate note notice notify number obey
object oblige observe obtain occupy occur offer omit open operate oppose order organise organize originate outline
overcome oversee overthrow owe own pack paint park participate pass pave pay perform permit persuade pick place plan
plant play plead pledge point portray pose possess post pour practice practise pray preach precede predict prefer
premiere prepare prescribe present preserve prevail prevent print process produce prohibit promise promote pronounce
propose prosecute protect prove provide publish pull purchase pursue push put qualify question quit quote race raise
range reach react read realise realize reappear rebel rebuild recall receive reckon recognise recognize recommend
record recover recruit recycle redesign reduce refer reflect reform refund refuse regain regard register regret regulate
rehearse reign reinforce reject relate relax release relocate rely remain remember remind remove rename render renew
renovate rent reopen reorganise repair repeat replace report represent require rescue resemble reserve reside resign
resist resolve respond restore restrict result resume retain retire retreat retrieve return reunite reveal reverse
review revise revive revolve reward ride ring rise rob roll rotate rule run rush sail satisfy save say scatter scold
score scrap search secure see seek seem seize select sell send separate serve set settle shake shape share shed
shelter shift shine ship shoot shout show shrink shut sign signal sing sink sit skip sleep slide slow smell smoke
smuggle solve spark speak specialise specialize specify spell spend spill split spoil sponsor spread spring stabilise
stabilize stage stand star start state stay steal stem stimulate stop store strengthen stress stretch strike structure
struggle study submit substitute succeed sue suffer suggest supervise supply support suppress surrender surround
survive suspect suspend sustain swear sweep swim swing switch symbolise symbolize synthesise tackle take talk target
taste teach tear tell tend terminate test thank think threaten throw tie tighten touch tour trace track trade train
transfer transform translate transmit transport trap travel treat trigger try turn undergo understand undertake unify
unite unveil update upgrade urge use utilise utilize value vanish vary venture verify veto view violate visit vote
wait walk wander want warn wash waste watch weaken wear weave weigh welcome widen win wish withdraw withstand witness
wonder work worry worship wrap write yell yield
"""
EN_NOUN_LIKE: Final = """
access act address advance aid aim appeal attack attempt award base bid bind bite blame block blow bound break breed
broadcast build burn call campaign cast catch cause change charge check claim climb close coach coin command comment
commission concern contract contrast control cook cost count cover cross cure cut damage dance deal debut decline
decrease defeat delay demand design desire display double doubt draft drain draw drink drive drop end escape estimate
exchange exercise exhibit export face fall favor favour fear feature feed fight fill film fish fit float flow fly
focus fold force form freeze function fund gain grant guarantee guard guide harm harvest head heat help highlight hire
hit host house hunt influence interview issue judge jump kick label lack last launch lead leave lie lift limit link
look love mark measure miss mix monitor move murder name need note notice number object offer open order outline pack
paint park pass pay pick place plan plant play point pose post practice present print process produce promise purchase
push question quote race raise range reach rebel recall record recruit reform regret reign release rent repair repeat
report rescue reserve result retreat return review reward ride ring rise roll rule run rush sail save score scrap
search set shake shape share shelter shift ship shoot shout show sign signal sink skip sleep slide smell smoke spark
spell spill split sponsor spread spring stage stand star start state stay steal stem stop store stress stretch strike
structure struggle study supply support suspect sweep swim swing switch talk target taste tear test throw tie touch
tour trace track trade train transfer transport trap travel treat trigger try turn update upgrade urge use value veto
view visit vote wait walk wash waste watch win wish witness wonder work worry wrap yell yield
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
arisen beaten been begun bitten blown born borne broken chosen done drawn driven drunk eaten fallen flown
forbidden forgiven forgotten frozen given gone grown hidden known ridden risen rung seen sewn shaken shown
spoken stolen sung sunk sworn swum taken thrown torn undertaken withdrawn woken worn woven written
"""
EN_NO_PARTICIPLES: Final = (
    "hundred sacred naked wicked rugged beloved kindred infrared united limited aged so-called red"
)

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
merece merecen hierve hierven atraviesa atraviesan siembra siembran huye huyen fluye fluyen mueve mueven recuerda recuerdan demuestra demuestran despide despiden viste visten repite repiten compite compiten desaparece desaparecen fallece fallecen reconoce reconocen traduce traducen establece establecen favorece favorecen eres estás has tienes puedes haces vas quieres sabes somos estamos tenemos podemos
hacemos vamos soy estoy tengo puedo eras tuve
"""
ES_SUBJUNCTIVES: Final = """
sea sean esté estén tenga tengan haya hayan pueda puedan vaya vayan haga hagan tengas puedas seas estés fuera fueran
"""
ES_REGULAR: Final = """
abandonar abarcar abrazar abrir absorber acabar acceder acentuar aceptar acompañar aconsejar acordar actuar adaptar
admitir adoptar adquirir afectar afirmar agrupar albergar alcanzar alojar alquilar alternar alzar amar ampliar
analizar anunciar aparcar aplicar aportar apoyar apreciar aprender aprobar aprovechar arrastrar arrojar asegurar
asistir atacar atravesar atribuir aumentar autorizar avanzar avisar ayudar bailar bajar basar bañar beber brillar
buscar calcular calificar cambiar cancelar cantar capturar caracterizar carecer causar cazar ceder celebrar citar
cobrar colaborar colgar colocar combatir combinar comentar comer compartir compensar competir completar componer
comprar comprender comunicar conceder concentrar concluir conectar confirmar congelar conquistar conservar considerar
consistir constar consultar consumir contaminar continuar contratar controlar convencer convivir convocar cooperar
coordinar coronar correr corresponder cortar cosechar crear creer criticar cruzar cubrir cuidar culminar cultivar
cumplir curar debatir deber decidir declarar dedicar defender definir dejar demostrar denominar denunciar depender
derivar desaparecer desarrollar descansar descargar descender describir descubrir desear desembocar desempeñar
despedir desplazar destacar determinar difundir diseñar disfrutar distinguir dividir donar durar ejecutar ejercer
elaborar elevar eliminar emitir emplear empujar encabezar encargar encerrar enfrentar enlazar enseñar entrar entregar
enviar equivaler escapar escribir escuchar esperar estimar estrenar estudiar evaluar evitar evolucionar examinar
exceder excluir exhibir existir expandir experimentar explicar explorar explotar exportar expresar extraer fabricar
facilitar fallecer faltar figurar fijar financiar firmar fluir fomentar formar forzar fracasar frecuentar funcionar
fundar ganar garantizar generar gestionar gobernar grabar habitar hablar heredar huir identificar ilustrar imaginar
impartir importar impulsar incorporar indicar informar ingresar iniciar insistir inspirar instalar instituir integrar
intentar interesar interpretar intervenir invadir inventar invertir investigar invitar juntar juzgar lamentar lanzar
leer levantar liberar liderar limitar llamar llegar llenar llevar localizar lograr luchar madurar mandar manejar
manifestar marcar matar medir mejorar mencionar mezclar migrar mirar modificar mostrar mover mudar narrar navegar
necesitar negar negociar nombrar notar obligar obrar observar ocupar ocurrir ofrecer olvidar omitir operar oponer
optar ordenar organizar originar pagar parar participar partir pasar patrocinar percibir perdurar permanecer permitir
perseguir persistir personalizar pertenecer pesar pintar planificar plantar portar practicar predominar preparar
presentar preservar pretender prevenir proceder procesar proclamar programar prolongar prometer promover pronunciar
proponer proporcionar proseguir proteger proveer provocar publicar purificar quedar reaccionar realizar rebajar recaer
recaudar rechazar recibir reclamar recoger recomendar reconocer reconstruir reconvertir recordar recorrer recuperar
reducir reembolsar reemplazar referir reflejar reformar reforzar regalar registrar regresar regular reinar relacionar
relatar rendir renovar renunciar reparar repartir repetir representar reproducir rescatar reservar residir resistir
respetar respirar responder restaurar resultar resumir retener retirar retrasar reunir reutilizar revelar revisar
rezar rodear romper saltar salvar satisfacer sembrar separar señalar simbolizar situar sobrevivir solicitar sonar
soportar sorprender sospechar subir suceder sufrir suministrar superar suprimir sustituir tardar tender terminar
testificar tirar tocar tolerar tomar trabajar traducir transformar transmitir transportar trasladar tratar triunfar
ubicar unir usar utilizar vaciar variar vencer vender verificar vestir viajar vigilar vincular violar visitar vivir
volar votar
"""
"""Infinitives with regular present forms."""
ES_NOUN_LIKE: Final = """
abraza alterna ayuda baila baja basa brilla cambia causa caza cita cobra colabora compra consulta contamina controla
corta cosecha cuelga cura dona encarga equivale fija firma forma fuerza funda gana habla importa lamenta lanza levanta
limita llama llega lucha marca mata mezcla mira nota obra opera ordena paga para parte parten pasa pesa pinta planta
porta practica programa queda rebaja reclama reforma regula reserva revisa tarda tira toma trata usa vende viola
visita vota vuela
"""
"""Present forms that are as often a noun or an adjective."""
ES_FINITE_ENDING: Final = r"\w{2,}(?:ó|aron|ieron|yeron|jeron|ujo|uyen?|ían|ábamos|[aei]rán|[aei]rían?)|\w{3,}(?:aban?|[aei]rá)"
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
ES_INFINITIVE_ENDING: Final = r"\w{2,}[aei]r(?:se|l[aeo]s?)?"
