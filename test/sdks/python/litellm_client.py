"""LiteLLM as a client: https://docs.litellm.ai/docs/providers/openai_compatible"""

import os

# Without this setting, LiteLLM fetches prices from GitHub.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm  # noqa: E402
from serve import WEATHER_FUNCTION, ChatConversation, Summary, serve


class Conversation(ChatConversation):
    tools = [{"type": "function", "function": WEATHER_FUNCTION}]

    def __init__(self, options):
        super().__init__(options["stream"])
        self.parameters = {
            "model": f"openai/{options['model']}",
            "api_base": options["baseUrl"],
            "api_key": options["apiKey"],
            "max_tokens": 1000,
            "num_retries": 0,
        }

    def ask_for_summary(self, question):
        self.messages.append({"role": "user", "content": question})
        message = self.complete(response_format=Summary, tools=self.tools)
        return Summary.model_validate_json(message.content).model_dump()

    def complete(self, **parameters):
        request = {**self.parameters, "messages": self.messages, **parameters}
        response = litellm.completion(**request, stream=self.streamed)
        if self.streamed:
            response = litellm.stream_chunk_builder(list(response), messages=self.messages)
        return response.choices[0].message


serve(Conversation)
