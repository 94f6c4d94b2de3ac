"""https://github.com/openai/openai-python"""

import json

from openai import OpenAI
from serve import WEATHER_FUNCTION, ChatConversation, Summary, get_weather, serve


def start(options):
    client = OpenAI(base_url=options["baseUrl"], api_key=options["apiKey"], max_retries=0)
    conversation = Responses if options["dialect"] == "responses" else Chat
    return conversation(client, options)


class Chat(ChatConversation):
    tools = [{"type": "function", "function": {**WEATHER_FUNCTION, "strict": True}}]

    def __init__(self, client, options):
        super().__init__(options["stream"])
        self.completions = client.chat.completions
        self.model = options["model"]

    def to_history(self, message):
        return message.to_dict(exclude_none=True)

    def ask_for_summary(self, question):
        self.messages.append({"role": "user", "content": question})
        return self.complete(response_format=Summary).parsed.model_dump()

    def complete(self, **parameters):
        request = {"model": self.model, "messages": self.messages, **parameters}
        if not self.streamed:
            return self.completions.parse(**request).choices[0].message
        with self.completions.stream(**request) as stream:
            return stream.get_final_completion().choices[0].message


class Responses:
    tools = [{"type": "function", **WEATHER_FUNCTION, "strict": True}]

    def __init__(self, client, options):
        self.responses = client.responses
        self.model = options["model"]
        self.streamed = options["stream"]
        self.input = []

    def ask(self, question):
        self.input.append({"role": "user", "content": question})
        while True:
            response = self.respond(tools=self.tools)
            self.input += [item.to_dict() for item in response.output]
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                return response.output_text
            for call in calls:
                weather = get_weather(**json.loads(call.arguments))
                output = {"type": "function_call_output", "call_id": call.call_id, "output": weather}
                self.input.append(output)

    def ask_for_summary(self, question):
        self.input.append({"role": "user", "content": question})
        return self.respond(text_format=Summary).output_parsed.model_dump()

    def respond(self, **parameters):
        request = {"model": self.model, "input": self.input, "store": False, **parameters}
        if not self.streamed:
            return self.responses.parse(**request)
        with self.responses.stream(**request) as stream:
            return stream.get_final_response()


serve(start)
