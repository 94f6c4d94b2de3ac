"""https://github.com/anthropics/anthropic-sdk-python"""

from anthropic import Anthropic, beta_tool
from serve import Summary, get_weather, serve


class Conversation:
    def __init__(self, options):
        base_url = options["baseUrl"].removesuffix("/v1")
        client = Anthropic(base_url=base_url, api_key=options["apiKey"], max_retries=0)
        self.client = client.beta.messages
        self.parameters = {"model": options["model"], "max_tokens": 1000, "tools": [beta_tool(get_weather)]}
        self.streamed = options["stream"]
        self.messages = []

    def ask(self, question):
        self.messages.append({"role": "user", "content": question})
        runner = self.client.tool_runner(**self.parameters, messages=self.messages, stream=self.streamed)
        for step in runner:
            message = step.get_final_message() if self.streamed else step
            self.messages.append({"role": "assistant", "content": message.content})
            results = runner.generate_tool_call_response()
            if results is not None:
                self.messages.append(results)
        return text_of(message)

    def ask_for_summary(self, question):
        request = {
            "model": self.parameters["model"],
            "max_tokens": 1000,
            "messages": [*self.messages, {"role": "user", "content": question}],
            "output_format": Summary,
        }
        if not self.streamed:
            return self.client.parse(**request).parsed_output.model_dump()
        with self.client.stream(**request) as stream:
            return Summary.model_validate_json(text_of(stream.get_final_message())).model_dump()


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


serve(Conversation)
