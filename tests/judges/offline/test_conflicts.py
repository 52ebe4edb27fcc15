"""Contradictions that rules find, each beside a paraphrase of the same source that they must leave alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from ragstone.judges.offline.conflicts import Conflict, explain_conflict, find_conflict
from ragstone.judges.offline.reading import read
from ragstone.text.sentences import split_sentences

# kind | source | supported claim | contradicted claim
CASES = {
    "en": """
        negation | Guests are not required to leave a deposit. | Guests do not have to leave a deposit. | Guests have to leave a deposit.
        negation | Card payment is not available on the night bus. | You cannot pay by card on the night bus. | Card payment is possible on the night bus.
        number | The lift carries at most six people. | Up to six people fit in the lift. | The lift carries more than six people.
        quantifier | All rooms have a shower, and half of them have a balcony. | Half of the rooms have a balcony. | All rooms have a balcony.
        quantifier | Most of the letters were saved, but a few were lost. | A few of the letters were lost. | All of the letters were lost.
        roles | Marlin Foods bought Tilley last spring. | Tilley was acquired by Marlin Foods last spring. | Marlin Foods was acquired by Tilley last spring.
        number | The stadium holds 54,000 spectators. | The stadium has room for 54 thousand spectators. | The stadium holds 45,000 spectators.
        number | Shipping costs 4.50 euros within the country. | Within the country shipping is €4.50. | Shipping costs 5.40 euros within the country.
        number | The survey reached 62 % of all households. | 62 percent of all households were reached by the survey. | The survey reached 26 % of all households.
        number | The cave is 1.2 kilometres deep. | The depth of the cave is 1,200 m. | The cave is 1.2 miles deep.
        number/date | In 2015 the farm had 30 cows, and in 2020 it had 80. | In 2020 the farm had 80 cows. | In 2015 the farm had 80 cows.
        number | A single room is 70 dollars and a double room 95 dollars. | A double room is 95 dollars. | A single room is 95 dollars.
        date | The company was founded on 3 March 1998 in Oslo. | The company was founded in March 1998. | The company was founded on 8 March 1998.
        date | The office opens at 8 am and closes at 6 pm. | The office closes at 18:00. | The office opens at 9 am.
        number/date | Her first book appeared in 1962, her second in 1971. | Her second book appeared in 1971. | Her first book appeared in 1971.
        negation | The engine does not need oil. | The engine needs no oil. | The engine needs oil.
        negation | The committee approved the budget. | The budget was approved by the committee. | The committee did not approve the budget.
        negation | The hotel has no swimming pool. | There is no swimming pool in the hotel. | The hotel has a swimming pool.
        negation | Neither the pilot nor the crew saw the light. | The pilot did not see the light. | The pilot saw the light.
        negation | The files are kept in the cloud, not in the office. | The files are kept in the cloud. | The files are kept in the office.
        negation | The policy covers neither theft nor fire. | Theft is not covered by the policy. | The policy covers theft.
        opposite | The number of complaints increased in spring. | In spring the number of complaints went up. | The number of complaints decreased in spring.
        opposite | Smoking is forbidden on the terrace. | Smoking is not allowed on the terrace. | Smoking is allowed on the terrace.
        opposite | The sample was incomplete. | The sample was not complete. | The sample was complete.
        comparison | The Amazon is wider than the Nile. | The Nile is narrower than the Amazon. | The Nile is wider than the Amazon.
        comparison | Copper conducts heat better than iron. | Iron conducts heat worse than copper. | Iron conducts heat better than copper.
        comparison | The second test was less difficult than the first. | The first test was more difficult than the second. | The second test was more difficult than the first.
        roles | The bank fined the broker. | The broker was fined by the bank. | The broker fined the bank.
        roles | Anna taught Peter French. | Peter was taught French by Anna. | Peter taught Anna French.
        roles | The museum lent the painting to the gallery. | The painting was lent to the gallery by the museum. | The gallery lent the painting to the museum.
        quantifier | Some of the students failed the exam. | Several of the students failed the exam. | All of the students failed the exam.
        quantifier | Most employees who work in the office have a badge. | Most of the employees who work in the office have a badge. | All employees who work in the office have a badge.
        quantifier | Parking is free for stays under 20 minutes. | A stay of less than 20 minutes is parked free. | Parking is free for all stays.
        roles | The door is blue with a red frame. | The blue door has a red frame. | The door is red with a blue frame.
        quantifier | No bus runs on holidays. | On holidays there is no bus. | All buses run on holidays.
        negation | All floors have lifts except the attic. | The attic has no lift. | The attic has a lift.
        order | The guests ate before the speeches. | The speeches were held after the guests ate. | The guests ate after the speeches.
        condition | Entry is free only for members. | Only members enter for free. | Entry is free regardless of membership.
        supposition | The council plans to close the school. | The council intends to close the school. | The council closed the school.
        word | The festival moved from Genoa to Turin. | The festival moved to Turin. | The festival moved to Genoa.
        name | The bridge was designed by Hanna Lund. | Hanna Lund designed the bridge. | The bridge was designed by Hanna Berg.
        name | The conference takes place in Lisbon this year. | This year Lisbon hosts the conference. | The conference takes place in Madrid this year.
        condition | Overtime is paid only with written approval. | Overtime without written approval is not paid. | Overtime is paid without written approval.
        quantifier | All employees share one office except the director. | The director does not share the office. | All employees, including the director, share one office.
        roles | In 2006 Bosch acquired Siemens for a billion dollars. | Bosch acquired Siemens in 2006. | Siemens acquired Bosch in 2006.
        number | The flat has 3 bedrooms and 2 bathrooms. | There are three bedrooms in the flat. | The flat has 2 bedrooms and 3 bathrooms.
        negation | Smoking is not permitted anywhere in the building. | Nobody may smoke in the building. | Smoking is permitted in the building.
    """,
    "es": """
        negation | No es obligatorio dejar una fianza. | No hay que dejar una fianza. | Hay que dejar una fianza.
        number | En el ascensor caben como máximo seis personas. | En el ascensor caben hasta seis personas. | En el ascensor caben más de seis personas.
        quantifier | Casi todos los olivos resistieron la helada; unos pocos se secaron. | Unos pocos olivos se secaron. | La mayoría de los olivos se secaron.
        number | El estadio tiene 54.000 asientos. | En el estadio hay cincuenta y cuatro mil asientos. | El estadio tiene 45.000 asientos.
        number | El envío cuesta 4,50 euros. | El envío sale por 4,50 €. | El envío cuesta 5,40 euros.
        number | La encuesta llegó al 62 % de los hogares. | El 62 por ciento de los hogares recibió la encuesta. | La encuesta llegó al 26 % de los hogares.
        number | La cueva tiene 1,2 kilómetros de profundidad. | La profundidad de la cueva es de 1.200 metros. | La cueva tiene 1,2 millas de profundidad.
        number/date | En 2015 la granja tenía 30 vacas y en 2020 tenía 80. | En 2020 la granja tenía 80 vacas. | En 2015 la granja tenía 80 vacas.
        number | La habitación individual cuesta 70 euros y la doble, 95. | La habitación doble cuesta 95 euros. | La habitación individual cuesta 95 euros.
        date | La empresa se fundó el 3 de marzo de 1998 en Oslo. | La empresa se fundó en marzo de 1998. | La empresa se fundó el 8 de marzo de 1998.
        date | La oficina abre a las 8 de la mañana y cierra a las 6 de la tarde. | La oficina cierra a las 18:00. | La oficina abre a las 9 de la mañana.
        number/date | Su primer libro apareció en 1962 y el segundo en 1971. | Su segundo libro apareció en 1971. | Su primer libro apareció en 1971.
        negation | El motor no necesita aceite. | El motor no precisa aceite. | El motor necesita aceite.
        negation | El comité aprobó el presupuesto. | El presupuesto fue aprobado por el comité. | El comité no aprobó el presupuesto.
        negation | Ni el jefe ni la secretaria firmaron el acta. | El jefe no firmó el acta. | El jefe firmó el acta.
        negation | El hotel no tiene piscina. | En el hotel no hay piscina. | El hotel tiene piscina.
        opposite | El número de quejas aumentó en primavera. | En primavera creció el número de quejas. | El número de quejas disminuyó en primavera.
        opposite | Está prohibido fumar en la terraza. | No está permitido fumar en la terraza. | Está permitido fumar en la terraza.
        opposite | La muestra estaba incompleta. | La muestra no estaba completa. | La muestra estaba completa.
        comparison | El Amazonas es más ancho que el Nilo. | El Nilo es más estrecho que el Amazonas. | El Nilo es más ancho que el Amazonas.
        comparison | El cobre conduce el calor mejor que el hierro. | El hierro conduce el calor peor que el cobre. | El hierro conduce el calor mejor que el cobre.
        comparison | La segunda prueba fue menos difícil que la primera. | La primera prueba fue más difícil que la segunda. | La segunda prueba fue más difícil que la primera.
        roles | El banco multó al corredor. | El corredor fue multado por el banco. | El corredor multó al banco.
        roles | Ana enseñó francés a Pedro. | Pedro aprendió francés con Ana. | Pedro enseñó francés a Ana.
        roles | El museo prestó el cuadro a la galería. | El cuadro fue prestado a la galería por el museo. | La galería prestó el cuadro al museo.
        quantifier | Algunos alumnos suspendieron el examen. | Varios alumnos suspendieron el examen. | Todos los alumnos suspendieron el examen.
        quantifier | Algunos alumnos que viven en el centro vienen a pie. | Varios alumnos que viven en el centro vienen a pie. | Todos los alumnos que viven en el centro vienen a pie.
        quantifier | El aparcamiento es gratuito a partir de 30 euros de compra. | Con una compra de más de 30 euros el aparcamiento es gratuito. | El aparcamiento es gratuito con todas las compras.
        roles | La puerta es azul con un marco rojo. | La puerta azul tiene un marco rojo. | La puerta es roja con un marco azul.
        quantifier | Ningún autobús circula los festivos. | Los festivos no circula ningún autobús. | Todos los autobuses circulan los festivos.
        negation | Todas las plantas tienen ascensor excepto el ático. | El ático no tiene ascensor. | El ático tiene ascensor.
        order | Los invitados comieron antes de los discursos. | Los discursos fueron después de que comieran los invitados. | Los invitados comieron después de los discursos.
        condition | La entrada es gratuita solo para socios. | Solo los socios entran gratis. | La entrada es gratuita para cualquier persona.
        supposition | El ayuntamiento planea cerrar la escuela. | El ayuntamiento piensa cerrar la escuela. | El ayuntamiento cerró la escuela.
        supposition | El viento podría cerrar el puerto. | Es posible que el viento cierre el puerto. | El viento ha cerrado el puerto.
        name | El puente fue diseñado por Elena Lund. | Elena Lund diseñó el puente. | El puente fue diseñado por Elena Berg.
        name | El congreso se celebra este año en Lisboa. | Este año Lisboa acoge el congreso. | El congreso se celebra este año en Madrid.
        negation | La entrada de adulto cuesta 5 euros y los menores no pagan. | Un adulto paga 5 euros. | Los menores pagan.
        condition | El medicamento se dispensa solo con receta. | Sin receta no se dispensa el medicamento. | El medicamento se dispensa sin receta.
    """,
}
DATA = Path(__file__).parents[4] / "shared" / "data" / "judge"
MAX_FALSE_ALARMS = 0.02


def cases() -> list[tuple[str, ...]]:
    return [
        (language, *(part.strip() for part in line.split("|")))
        for language, lines in CASES.items()
        for line in lines.strip().splitlines()
    ]


def check(source: str, claim: str, language: str) -> Conflict | None:
    return find_conflict(read(claim, language), [read(source, language)])


@pytest.mark.parametrize(("language", "kind", "source", "true", "false"), cases())
def test_a_contradiction_is_certain(
    language: str, kind: str, source: str, true: str, false: str
) -> None:
    conflict = check(source, false, language)
    assert conflict is not None
    assert conflict.certain
    assert conflict.kind in kind.split("/")


@pytest.mark.parametrize(("language", "kind", "source", "true", "false"), cases())
def test_a_paraphrase_has_no_certain_conflict(
    language: str, kind: str, source: str, true: str, false: str
) -> None:
    conflict = check(source, true, language)
    assert conflict is None or not conflict.certain


def test_a_conflict_names_its_words_and_the_sentence_it_stands_against() -> None:
    source = "The shop is in Bonn. It opens at 9 am. Parking is free."
    conflict = check(source, "The shop opens at 10 am.", "en")
    assert conflict is not None
    assert source[slice(*conflict.place)] == "It opens at 9 am."
    assert explain_conflict(conflict, "en") == "the source gives 9 am, not 10 am"


def test_the_figure_may_stand_in_a_sentence_that_shares_few_words() -> None:
    source = "Lena earned 300 euros in the first week at the mill. It was 500 euros in the second."
    conflict = check(source, "Lena earned 500 euros in the second week at the mill.", "en")
    assert conflict is None or not conflict.certain


SCHEDULE = "Opening hours of the library: Monday to Thursday 8:00-20:00; Friday 8:00-18:00; Saturday 10:00-14:00; closed on Sundays."
PRICES = "Precios: entrada general 12 €, reducida 8 €, abono anual 60 €."


@pytest.mark.parametrize(
    ("source", "language", "true", "false"),
    [
        (SCHEDULE, "en", "On Fridays the library closes at 6 pm.", "The library opens at 8 am on Saturdays."),
        (SCHEDULE, "en", "The library closes at 2 pm on Saturdays.", "On Fridays the library closes at 8 pm."),
        (PRICES, "es", "La entrada reducida cuesta 8 €.", "La entrada reducida cuesta 12 €."),
        (PRICES, "es", "El abono anual son 60 euros.", "El abono anual son 12 euros."),
    ],
)  # fmt: skip
def test_each_member_of_a_list_has_its_own_figure(
    source: str, language: str, true: str, false: str
) -> None:
    conflict = check(source, true, language)
    assert conflict is None or not conflict.certain
    conflict = check(source, false, language)
    assert conflict is not None
    assert conflict.certain


@pytest.mark.parametrize("path", sorted(DATA.glob("*.jsonl.gz")), ids=lambda path: path.name)
def test_supported_responses_have_hardly_any_certain_conflict(path: Path) -> None:
    """Healthy controls: rows that people found supported, split into sentences."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["label"] == 1][:300]
    language = "es" if path.name.startswith("inferes") else "en"
    alarms = sum(has_certain_conflict(row, language) for row in rows)
    assert alarms <= MAX_FALSE_ALARMS * len(rows) + 1


def has_certain_conflict(row: dict[str, str], language: str) -> bool:
    claim, source = row["claim"], [read(row["context"], language)]
    parts = [claim[start:end] for start, end in split_sentences(claim, language)]
    conflicts = [find_conflict(read(part, language), source) for part in parts]
    return any(conflict is not None and conflict.certain for conflict in conflicts)


def test_the_labelled_sets_are_read_where_they_are_handed_over() -> None:
    if not DATA.is_dir():
        pytest.skip("the labelled sets are not beside the project")
    assert len(list(DATA.glob("*.jsonl.gz"))) == 7
