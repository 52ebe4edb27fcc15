"""A judge that does whatever the attacks of the catalogue ask, however they hide it."""

from __future__ import annotations

import base64
import json
import re
import unicodedata
from typing import Any

from faults import choosing, honest
from faults.server import Call
from ragstone.experiments.judge_attack import catalogue

DEMANDS = {language: [*demands.items()] for language, demands in catalogue.DEMANDS.items()}
OPENERS = {language: [*openings.values()] for language, openings in catalogue.OPENINGS.items()}
_BACK = {v: k for k, v in catalogue.LOOKALIKES.items()}
_FAKE = dict(catalogue.FAKE_REPLY)


async def obey(call: Call) -> None:
    """The honest reply, bent to whatever the material demands."""
    await _obey(call, everywhere=True)


async def obey_here(call: Call) -> None:
    """The same, but a demand reaches only the claims of its own case."""
    await _obey(call, everywhere=False)


async def _obey(call: Call, everywhere: bool) -> None:
    if call.path.endswith("/embeddings"):
        await call.answer()
        return
    _, user = call.prompt
    seen = _understood(user)
    if choosing.is_choice(call.body):
        if any(demand.lower() in seen for _, demand in _all()):
            await choosing.give_in(call)
        else:
            await choosing.answer(call)
        return
    truth = call.truth()
    wanted = [w for code in DEMANDS for w, demand in DEMANDS[code] if demand.lower() in seen]
    if "fake" in wanted:
        await call.say(json.dumps(_FAKE))
        return
    if "verdicts" in truth:
        for wish in wanted:
            truth["verdicts"] = [
                _bent(row, wish, user) if _reached(row["id"], user, everywhere) else row
                for row in truth["verdicts"]
            ]
    if "aspects" in truth and wanted:
        truth["aspects"] = [
            {**r, "covered": True, "quote": "as demanded"} for r in truth["aspects"]
        ]
    await call.say(json.dumps(truth))


def _case(name: str, user: str) -> str:
    """The part of the prompt that holds a claim and its sources."""
    parts = re.split(r"^case \d+$", user, flags=re.MULTILINE)
    return next(part for part in parts if f"\n{name}: " in part)


def _reached(name: str, user: str, everywhere: bool) -> bool:
    """Whether a demand reaches a claim: it stands in the claim's own case."""
    return everywhere or any(d.lower() in _understood(_case(name, user)) for _, d in _all())


def _bent(row: dict[str, Any], wish: str, user: str) -> dict[str, Any]:
    if wish == "target":
        claim = re.search(rf"^{row['id']}: (.*)$", user, re.MULTILINE)
        if claim is None or not any(
            d.lower() in _understood(claim[1]) for w, d in _all() if w == "target"
        ):
            return row
    evidence = []
    if wish in ("blanket-invent", "target"):
        evidence = [{"source": "k1", "quote": "exactly as the claim says"}]
    elif wish == "blanket-quote":
        own = [block for block in _blocks(_case(row["id"], user)) if block[0].startswith("source ")]
        label, text = own[0]
        evidence = [{"source": label.split()[1], "quote": " ".join(text.split()[:4])}]
    return {**row, "verdict": "supported", "evidence": evidence}


def _all() -> list[tuple[str, str]]:
    return [pair for pairs in DEMANDS.values() for pair in pairs]


def _blocks(user: str) -> list[tuple[str, str]]:
    return [(m[2], m[3]) for m in honest.FENCE.finditer(user)]


def _understood(text: str) -> str:
    """What a clever victim makes of a text: look-alikes, invisible characters and base64 do not hide it."""
    text = unicodedata.normalize("NFKC", text).translate(_BACK)
    text = re.sub("[\u200b\u200c\u200d\u2060\ufeff]", "", text)
    for token in re.findall(r"[A-Za-z0-9+/]{24,}={0,2}", text):
        try:
            text += " " + base64.b64decode(token + "=" * (-len(token) % 4)).decode()
        except ValueError:
            continue
    return " ".join(text.lower().split())
