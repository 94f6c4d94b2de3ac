"""https://developers.llamaindex.ai/python/framework/ with an OpenAI-compatible model"""

from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from serve import Summary, get_weather, serve


class Conversation:
    def __init__(self, options):
        self.model = OpenAILike(
            model=options["model"],
            api_base=options["baseUrl"],
            api_key=options["apiKey"],
            is_chat_model=True,
            is_function_calling_model=True,
            max_retries=0,
        )
        self.tools = [FunctionTool.from_defaults(get_weather)]
        self.streamed = options["stream"]
        self.messages = []

    def ask(self, question):
        self.messages.append(ChatMessage(role="user", content=question))
        while True:
            request = {"tools": self.tools, "chat_history": self.messages}
            if self.streamed:
                *_, response = self.model.stream_chat_with_tools(**request)
            else:
                response = self.model.chat_with_tools(**request)
            self.messages.append(response.message)
            calls = self.model.get_tool_calls_from_response(response, error_on_no_tool_call=False)
            if not calls:
                return response.message.content
            for call in calls:
                message = ChatMessage(
                    role="tool",
                    content=get_weather(**call.tool_kwargs),
                    additional_kwargs={"tool_call_id": call.tool_id},
                )
                self.messages.append(message)

    def ask_for_summary(self, question):
        self.messages.append(ChatMessage(role="user", content=question))
        structured = self.model.as_structured_llm(Summary)
        if self.streamed:
            *_, response = structured.stream_chat(self.messages)
        else:
            response = structured.chat(self.messages)
        return response.raw.model_dump()


serve(Conversation)
