"""Words that say the contrary of each other, for the rule of opposites."""

from __future__ import annotations

from typing import Final

OPPOSITES: Final = {
    "en": """
increase/decrease increased/decreased increasing/decreasing rise/fall rose/fell higher/lower
high/low above/below more/less most/least before/after first/last early/late earlier/later
include/exclude including/excluding includes/excludes included/excluded accept/reject
accepted/rejected win/lose won/lost open/closed opened/closed start/end begin/end began/ended
buy/sell bought/sold gain/loss positive/negative good/bad better/worse best/worst large/small
larger/smaller big/small long/short longer/shorter old/new older/younger oldest/youngest young/old
fast/slow faster/slower hot/cold north/south east/west northern/southern eastern/western left/right
male/female man/woman men/women husband/wife son/daughter father/mother brother/sister king/queen
boy/girl true/false always/never all/none everyone/nobody allow/prohibit allowed/prohibited
allowed/forbidden permit/forbid permitted/prohibited approve/deny approved/denied success/failure
succeed/fail succeeded/failed support/oppose supported/opposed agree/disagree agreed/disagreed
possible/impossible likely/unlikely able/unable easy/difficult easy/hard cheap/expensive strong/weak
stronger/weaker safe/dangerous public/private inside/outside indoor/outdoor indoors/outdoors
import/export appear/disappear appeared/disappeared alive/dead love/hate loved/hated like/dislike
happy/sad present/absent major/minor maximum/minimum majority/minority victory/defeat with/without
remember/forget used/unused known/unknown legal/illegal complete/incomplete full/empty free/paid
up/down upper/lower many/few guilty/innocent optimistic/pessimistic advantage/disadvantage
worsen/improve worsened/improved create/destroy created/destroyed build/destroy built/destroyed
enter/leave arrive/depart arrived/departed birth/death born/died war/peace friend/enemy
friends/enemies ally/enemy allies/enemies rich/poor wealthy/poor simple/complex direct/indirect
superior/inferior internal/external domestic/foreign urban/rural ancient/modern near/far common/rare
often/rarely frequently/rarely voluntary/mandatory optional/mandatory optional/required
similar/different equal/unequal united/divided warm/cool active/inactive expand/shrink grow/shrink
growth/decline ascend/descend deep/shallow upstream/downstream front/rear front/back expand/contract
sink/float lend/borrow accept/refuse accept/decline pass/fail thick/thin wide/narrow heavy/light
bright/dark wet/dry clean/dirty loud/quiet noisy/quiet soft/hard tight/loose raw/cooked
vertical/horizontal temporary/permanent partial/total junior/senior attack/defend hire/fire
hire/dismiss inhale/exhale profit/loss top/bottom odd/even solid/liquid edible/poisonous
transparent/opaque morning/evening day/night acquit/convict confirm/deny admit/deny allow/ban
permit/ban approve/reject heat/cool accelerate/brake praise/criticize ascending/descending
enable/disable hide/show lock/open start/stop begin/stop keep/remove add/remove follow/precede
followed/preceded raise/lower oppose/back sweet/bitter smooth/rough mandatory/voluntary
compulsory/optional compulsory/voluntary
""",
    "es": """
aumentar/disminuir aumentó/disminuyó aumento/disminución subir/bajar subió/bajó mayor/menor
mayores/menores más/menos mejor/peor antes/después primero/último primera/última incluye/excluye
abierto/cerrado abierta/cerrada ganar/perder ganó/perdió empezar/terminar comenzó/terminó
grande/pequeño grandes/pequeños largo/corto alto/bajo alta/baja viejo/joven norte/sur este/oeste
hombre/mujer hombres/mujeres padre/madre hermano/hermana hijo/hija verdadero/falso siempre/nunca
todos/ninguno permitido/prohibido permite/prohíbe aceptar/rechazar aceptó/rechazó apoya/rechaza
posible/imposible fácil/difícil barato/caro fuerte/débil público/privado pública/privada
dentro/fuera vivo/muerto máximo/mínimo mayoría/minoría victoria/derrota con/sin usado/nuevo
legal/ilegal completo/incompleto lleno/vacío interior/exterior positivo/negativo positiva/negativa
importación/exportación éxito/fracaso favor/contra rápido/lento bueno/malo buena/mala muchos/pocos
muchas/pocas mucho/poco mucha/poca mejores/peores mejorar/empeorar mejoró/empeoró aumenta/disminuye
aumentan/disminuyen aumentaron/disminuyeron crecer/decrecer creció/decreció crecimiento/descenso
ascender/descender ascendió/descendió ascenso/descenso subida/bajada suben/bajan altos/bajos
altas/bajas superiores/inferiores largos/cortos larga/corta primeros/últimos primeras/últimas
primer/último temprano/tarde anterior/posterior anteriores/posteriores antiguo/moderno
antigua/moderna empezó/acabó empezó/terminó comenzar/terminar comienzo/final inicio/final inicio/fin
principio/fin abrir/cerrar abrió/cerró entrar/salir entró/salió entrada/salida crear/destruir
creó/destruyó creación/destrucción construir/destruir construyó/destruyó mantener/abandonar
mantuvo/abandonó conservar/perder perder/conseguir ganaron/perdieron comprar/vender compró/vendió
incluir/excluir incluyen/excluyen permitir/prohibir permitió/prohibió permitida/prohibida
aceptada/rechazada aceptado/rechazado aprobar/rechazar aprobó/rechazó apoyar/rechazar apoyó/rechazó
unir/separar unidos/separados unir/dividir aliado/enemigo aliados/enemigos amigo/enemigo
amigos/enemigos guerra/paz amor/odio optimismo/pesimismo optimista/pesimista alegre/triste
alegría/tristeza feliz/triste fuertes/débiles fortalecer/debilitar rico/pobre ricos/pobres
riqueza/pobreza caliente/frío cálido/frío cálidos/fríos seguro/peligroso segura/peligrosa
fáciles/difíciles probable/improbable capaz/incapaz útil/inútil común/raro frecuente/infrecuente
frecuentemente/raramente conocido/desconocido conocida/desconocida conocidos/desconocidos
aparecer/desaparecer apareció/desapareció recordar/olvidar obligatorio/voluntario
obligatoria/voluntaria obligatorio/opcional ventaja/desventaja ventajas/desventajas
beneficio/perjuicio beneficios/pérdidas positivos/negativos positivas/negativas públicos/privados
públicas/privadas interno/externo interna/externa nacional/extranjero norteño/sureño
oriental/occidental orientales/occidentales izquierda/derecha urbano/rural urbana/rural
masculino/femenino masculina/femenina niño/niña marido/esposa rey/reina culpable/inocente
acuerdo/desacuerdo igual/distinto iguales/distintos iguales/diferentes igualdad/desigualdad
parecido/distinto idénticos/diferentes similar/diferente similares/diferentes completa/incompleta
completos/incompletos gratis/pago gratuito/pagado llena/vacía rápida/lenta rápidos/lentos
cerca/lejos cercano/lejano arriba/abajo delante/detrás simple/complejo sencillo/complicado
directo/indirecto directa/indirecta principal/secundario principal/secundaria delantero/trasero
delantera/trasera hundir/flotar elogio/crítica elogio/abucheo encender/apagar mojado/seco
húmedo/seco húmeda/seca ancho/estrecho grueso/fino pesado/ligero claro/oscuro limpio/sucio
ruidoso/silencioso blando/duro crudo/cocido permanente/temporal total/parcial contratar/despedir
ganancia/pérdida día/noche par/impar sólido/líquido comestible/venenoso transparente/opaco
adelantar/retrasar dulce/amargo autorizar/prohibir aprobar/suspender absolver/condenar admitir/negar
confirmar/desmentir elogiar/criticar acelerar/frenar calentar/enfriar habitado/vacío ocupado/libre
añadir/quitar prestar/devolver atacar/defender oponer/apoyar opuso/apoyó seguir/preceder
superior/inferior profundo/superficial áspero/suave obligatorio/optativo importante/irrelevante
activo/pasivo activa/pasiva vida/muerte nacer/morir nació/murió nacimiento/muerte
""",
}
"""Language → pairs."""
