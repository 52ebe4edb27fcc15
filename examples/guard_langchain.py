"""A guard behind a LangChain chain, as one more step of it."""

from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough

from ragstone import Guard

checker = Guard()  # one for the process


class Shelf(BaseRetriever):  # your retriever
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document("The warranty lasts two years."), Document("Returns take 30 days.")]


model = FakeListChatModel(responses=["The warranty lasts five years. Returns take 30 days."])
prompt = ChatPromptTemplate.from_template("Answer {question} from {context}")
rag = RunnableParallel(
    question=RunnablePassthrough(), context=Shelf()
) | RunnablePassthrough.assign(answer=prompt | model | StrOutputParser())


def _read(state):
    return state["question"], state["answer"], [doc.page_content for doc in state["context"]]


def check(state):
    return {**state, "verdict": checker.check(*_read(state))}


async def acheck(state):
    return {**state, "verdict": await checker.acheck(*_read(state))}


chain = rag | RunnableLambda(check, acheck)

if __name__ == "__main__":
    result = chain.invoke("How long is the warranty?")
    print(result["verdict"].decision)
    print([claim.text for claim in result["verdict"].flagged])
    print(result["verdict"].cut(result["answer"]))
