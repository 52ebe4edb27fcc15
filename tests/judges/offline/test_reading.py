"""Numbers, dates and names are read into one form."""

import pytest

from ragstone.judges.offline.reading import NAME, NUMBER, read


def ids(text: str, language: str = "en") -> list[int]:
    found = read(text, language)
    return found.ids[found.kinds == NUMBER].tolist()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 million people", "5,000,000 people"),
        ("twenty-five men", "25 men"),
        ("March 1879", "marzo de 1879"),
        ("8 PM", "20:00"),
        ("11:30 AM", "11:30"),
        ("the 20th day", "20 days"),
    ],
)
def test_the_same_number_has_the_same_id(one: str, other: str) -> None:
    assert ids(one) == ids(other)


def test_a_thousand_is_written_with_a_point_in_spanish() -> None:
    assert ids("1.500 personas", "es") == ids("1,500 people", "en")


def test_another_number_has_another_id() -> None:
    assert ids("30 days") != ids("60 days")


def test_places_are_where_tokens_stand() -> None:
    text = "In 1889, Gustave Eiffel's tower cost 7.8 million francs."
    found = read(text, "en")
    surfaces = [found.surface(n) for n in range(len(found.ids))]
    assert surfaces == [
        "In", "1889", "Gustave", "Eiffel's", "tower", "cost", "7.8 million", "francs",
    ]  # fmt: skip
    assert found.kinds[2] == NAME


def test_reading_twice_gives_the_same_with_and_without_what_was_met_before() -> None:
    text = "Zyxwold Quuxley bought 12 blorfs in Grumhaven."
    first = read(text, "en").ids.tolist()
    again = read(text + " ", "en").ids.tolist()
    assert first == again


def test_a_record_is_read_as_keys_and_values() -> None:
    text = '{"name": "Cafe", "Parking": {"garage": true, "valet": false}, "WiFi": null}'
    found = read(text, "en")
    assert found.structured
    assert found.polarity.tolist()[-3:] == [1, -1, -2]


def test_what_was_read_before_does_not_change_how_a_text_is_read() -> None:
    text = "WiFi is free in the OutdoorSeating area of McDuck Tower on May 5."
    alone = read(text, "en")
    for word in ("free", "area", "tower", "wifi", "WiFi", "Outdoor", "seating"):
        read(f"It was {word} then and is {word} in the area on the tower.", "en")
    again = read(f"{text} ", "en")
    assert again.ids.tolist() == alone.ids.tolist()
    assert again.kinds.tolist() == alone.kinds.tolist()
