"""https://ai.pydantic.dev/"""

from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from serve import Summary, get_weather, same_of, serve


def model_of(options):
    name, key, url = options["model"], options["apiKey"], options["baseUrl"]
    if options["dialect"] == "messages":
        provider = AnthropicProvider(api_key=key, base_url=url.removesuffix("/v1"))
        return AnthropicModel(name, provider=provider)
    model = OpenAIChatModel if options["dialect"] == "chat" else OpenAIResponsesModel
    return model(name, provider=OpenAIProvider(base_url=url, api_key=key))


class Conversation:
    def __init__(self, options):
        self.agent = Agent(model_of(options), tools=[get_weather], retries=0)
        self.handler = read_events if options["stream"] else None
        # Pydantic AI uses Claude's structured output only if it recognizes the model's name.
        self.output_types = [Summary]
        if options["dialect"] != "messages":
            self.output_types.append(NativeOutput(Summary))
        self.messages = []

    def ask(self, question):
        result = self.run(question)
        self.messages = result.all_messages()
        return result.output

    def ask_for_summary(self, question):
        """Asks with a tool, which is the default, and with the provider's own structured output."""
        results = [self.run(question, output_type=each) for each in self.output_types]
        return same_of([result.output.model_dump() for result in results])

    def run(self, question, **parameters):
        """Streams if there is an event handler."""
        history = {"message_history": self.messages, "event_stream_handler": self.handler}
        return self.agent.run_sync(question, **history, **parameters)


async def read_events(_context, events):
    async for _ in events:
        pass


serve(Conversation)
