"""A guard in a FastAPI app: what the contexts do not support is cut from the answer, or flagged where the guard is undecided.

uvicorn examples.guard_fastapi:app, or run this file, which asks the app once."""

from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.testclient import TestClient

from ragstone import Guard

CONTEXTS = ["The warranty lasts two years.", "Returns are accepted within 30 days."]


async def answer(question: str) -> tuple[str, list[str]]:  # your RAG
    return "The warranty lasts five years. Returns are accepted within 30 days.", CONTEXTS


@asynccontextmanager
async def lifespan(app: FastAPI):
    app.state.guard = Guard(deadline=1.0)  # one for the process
    yield


app = FastAPI(lifespan=lifespan)


@app.get("/ask")
async def ask(question: str) -> dict:
    text, contexts = await answer(question)
    verdict = await app.state.guard.acheck(question, text, contexts)
    if verdict.decision == "flag":
        text = verdict.cut(text) or "I do not know."
    removed = [claim.text for claim in verdict.flagged]
    return {"answer": text, "checked": verdict.decision, "removed": removed}


if __name__ == "__main__":
    with TestClient(app) as client:
        print(client.get("/ask", params={"question": "How long is the warranty?"}).json())
