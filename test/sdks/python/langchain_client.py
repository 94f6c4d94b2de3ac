"""https://docs.langchain.com/oss/python/langchain/models"""

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from serve import Summary, get_weather, same_of, serve


def model_of(options):
    parameters = {"model": options["model"], "api_key": options["apiKey"], "max_retries": 0}
    url = options["baseUrl"]
    if options["dialect"] == "messages":
        return ChatAnthropic(**parameters, base_url=url.removesuffix("/v1"), max_tokens=1000)
    uses_responses = options["dialect"] == "responses"
    return ChatOpenAI(**parameters, base_url=url, use_responses_api=uses_responses)


class Conversation:
    def __init__(self, options):
        self.model = model_of(options)
        self.with_tools = self.model.bind_tools([tool(get_weather)])
        self.streamed = options["stream"]
        self.messages = []

    def ask(self, question):
        self.messages.append(HumanMessage(question))
        while True:
            message = self.run(self.with_tools)
            self.messages.append(message)
            if not message.tool_calls:
                return message.text
            for call in message.tool_calls:
                weather = get_weather(**call["args"])
                self.messages.append(ToolMessage(weather, tool_call_id=call["id"]))

    def ask_for_summary(self, question):
        self.messages.append(HumanMessage(question))
        objects = []
        for method in ("json_schema", "function_calling"):
            structured = self.model.with_structured_output(Summary, method=method)
            if self.streamed:
                *_, last = structured.stream(self.messages)
            else:
                last = structured.invoke(self.messages)
            objects.append(last.model_dump())
        return same_of(objects)

    def run(self, model):
        if not self.streamed:
            return model.invoke(self.messages)
        whole = None
        for chunk in model.stream(self.messages):
            whole = chunk if whole is None else whole + chunk
        return whole


serve(Conversation)
