"""Speaks JSON lines with the tests: one conversation at a time, over standard input and output."""

import json
import sys

from pydantic import BaseModel

# Some SDKs print warnings to standard output, which must contain only JSON.
lines, sys.stdout = sys.stdout, sys.stderr

WEATHER_FUNCTION = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}


class Summary(BaseModel):
    warmest: str
    degrees: float


def serve(start):
    """start(options) returns a conversation with ask(question) and ask_for_summary(question)."""
    conversation = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "options" in request:
                conversation = start(request["options"])
                answer = None
            elif "ask" in request:
                answer = conversation.ask(request["ask"])
            else:
                answer = conversation.ask_for_summary(request["askForSummary"])
            send({"answer": answer})
        except Exception as error:
            send({"error": f"{type(error).__name__}: {error}"})


class ChatConversation:
    """Uses chat completions and runs the tool calls. `complete` sends `messages` and returns the model's message."""

    def __init__(self, streamed):
        self.streamed = streamed
        self.messages = []

    def ask(self, question):
        self.messages.append({"role": "user", "content": question})
        while True:
            message = self.complete(tools=self.tools)
            self.messages.append(self.to_history(message))
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                weather = get_weather(**json.loads(call.function.arguments))
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": weather})

    def to_history(self, message):
        return message


def get_weather(city: str) -> str:
    """The weather of a city."""
    send({"city": city})
    return json.loads(sys.stdin.readline())["weather"]


def same_of(objects):
    """Returns the first object if all are equal, otherwise all of them."""
    return objects[0] if all(each == objects[0] for each in objects) else objects


def send(message):
    print(json.dumps(message), file=lines, flush=True)
