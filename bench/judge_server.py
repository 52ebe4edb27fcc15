"""The bench's judge: a loopback server that waits a fixed time and replies at once, cheaply enough not to be what is measured.

python -m bench.judge_server DELAY_MS [FAULT_PERCENT]     prints its port; counts at GET /count"""

from __future__ import annotations

import asyncio
import json
import re
import sys

VECTOR = [round(0.01 * (n % 17) - 0.08, 4) for n in range(256)]
FENCE = re.compile(r"<<<\w{8} (.*?)\n\w{8}>>>", re.DOTALL)
CLAIM = re.compile(r"^(c\d+): (.*)$", re.MULTILINE)
SENTENCE = re.compile(r"^(s\d+): (.*)$", re.MULTILINE)
PASSAGE = re.compile(r"^<<<\w{8} passage (k\d+)\n(.*)$", re.MULTILINE)
QUESTION = re.compile(r"^<<<\w{8} question\n(.*)$", re.MULTILINE)
LONG_WORD = re.compile(r"\w{5,}")
TARGET = re.compile(r"^(?:<<<\w{8} )?target (\w+)", re.MULTILINE)
CHECK = re.compile(r'^{"check": "(\w{8})", "(\w+)"', re.MULTILINE)


def content(user: str) -> str:
    """A true reply to one of our prompts, found with as little work as possible."""
    found = CHECK.search(user)
    assert found is not None
    check, kind = found[1], found[2]
    if kind == "claims":
        rows = [{"sentence": label, "claim": text} for label, text in SENTENCE.findall(user)]
        return json.dumps({"check": check, "claims": rows})
    if kind == "verdicts":
        rows, sources, home = [], "", ""
        for block in FENCE.findall(user):
            label, _, text = block.partition("\n")
            if label.startswith("source "):
                home = label[7:]
                sources += text
                continue
            for name, claim in CLAIM.findall(text):
                true = claim in sources
                proof = [{"source": home, "quote": claim}] if true else []
                verdict = "supported" if true else "not_found"
                rows.append({"id": name, "verdict": verdict, "evidence": proof, "reason": "r"})
            sources = ""
        return json.dumps({"check": check, "verdicts": rows})
    if kind == "grades":
        asked = QUESTION.search(user)
        wanted = set(LONG_WORD.findall(asked[1].lower())) if asked else set()
        rows = [
            {
                "id": name,
                "target": target,
                "grade": min(2, len(wanted.intersection(LONG_WORD.findall(text.lower())))),
                "reason": "r",
            }
            for name, text in PASSAGE.findall(user)
            for target in TARGET.findall(user)
        ]
        return json.dumps({"check": check, "grades": rows})
    if kind == "aspects":
        answer = user.partition(" answer\n")[2].split("\n")[0]
        row = {"aspect": "all of it", "covered": True, "quote": " ".join(answer.split()[:3])}
        return json.dumps({"check": check, "aspects": [row], "control": 0})
    if kind == "evasive":
        questions = ["One?", "Two?", "Three?"]
        reply = {"check": check, "evasive": False, "questions": questions, "control": 0}
        return json.dumps(reply)
    return json.dumps({"check": check, "reason": "r", "level": 1, "control": 0})


def embed(text: str) -> list[float]:
    """A vector that differs from text to text, at the price of a slice."""
    at = len(text) % len(VECTOR)
    return VECTOR[at:] + VECTOR[:at]


class Server(asyncio.Protocol):
    """One connection: whole requests in, delayed replies out."""

    delay = 0.05
    faults = 0
    calls = 0
    embeddings = 0
    characters = 0

    def __init__(self) -> None:
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, split, body = self.buffer.partition(b"\r\n\r\n")
        if not split:
            return
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        size = int(length[1]) if length else 0
        if len(body) < size:
            return
        self.buffer = body[size:]
        if head.startswith(b"GET"):
            names = ("calls", "embeddings", "characters")
            self.write(200, json.dumps({name: getattr(Server, name) for name in names}))
            Server.calls = Server.embeddings = Server.characters = 0
            return
        Server.calls += 1
        Server.embeddings += head.startswith(b"POST /v1/embeddings")
        asyncio.get_running_loop().call_later(self.delay, self.reply, body[:size], Server.calls)

    def reply(self, body: bytes, number: int) -> None:
        asked = json.loads(body)
        if "input" in asked:
            rows = [{"index": n, "embedding": embed(t)} for n, t in enumerate(asked["input"])]
            self.write(200, json.dumps({"data": rows, "usage": {"prompt_tokens": 9}}))
            return
        messages = asked["messages"]
        user = messages[1]["content"]
        Server.characters += len(user) + len(messages[0]["content"])
        if self.faults and number % 20 == 7 and "could not be used" not in user:
            text = '{"verdicts": [tru'
        elif self.faults and number % 20 == 13:
            self.write(429 if number % 40 == 13 else 500, "{}")
            return
        else:
            text = content(user)
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": len(body) // 4, "completion_tokens": len(text) // 4}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.write(200, json.dumps({"choices": [choice], "usage": usage}))

    def write(self, status: int, text: str) -> None:
        body = text.encode()
        head = f"HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.transport.write(head.encode() + body)  # type: ignore[attr-defined]


async def main() -> None:
    Server.delay = float(sys.argv[1]) / 1000
    Server.faults = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
