"""Visitors of the app without a browser: the project's own client of Streamlit's protocol.

    async with Visitor("http://127.0.0.1:8501") as visitor:
        await visitor.open("heatmap", text="leaves fall in autumn")
        answer = await visitor.set("place", {"view": {"head": "3"}})
        print(answer.seconds, visitor.errors())

A visitor does what Streamlit's page does between the server and the screen: it keeps the elements
that it is sent, holds the values that were set, and asks for a run of the script with all of them.
It draws nothing, and fetches no media, fonts or scripts.
"""

from tests.tools.visitors.visitor import Answer, ConnectionLostError, Visitor

__all__ = ["Answer", "ConnectionLostError", "Visitor"]
