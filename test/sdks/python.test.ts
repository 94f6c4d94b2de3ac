import { claudeHaiku } from "../helpers/native-upstreams/anthropic-upstream.ts";
import { isFull } from "../helpers/scale.ts";
import { installPythonSdk, pythonClients } from "./python-sdk.ts";
import { playThreeTurns } from "./three-turns.ts";

// LiteLLM and LlamaIndex send chat completions with OpenAI's package, whose own tests always run. Importing the two
// takes 6 s of CPU time.
const [vendors, pydanticAi, langchain, litellm, llamaIndex] = await Promise.all([
  installPythonSdk("openai==3.57.0", "anthropic==2.13.0"),
  installPythonSdk("pydantic-ai-slim[openai,anthropic]==2.68.0"),
  installPythonSdk("langchain-openai==1.7.4", "langchain-anthropic==1.7.10"),
  isFull ? installPythonSdk("litellm==1.110.2") : null,
  isFull ? installPythonSdk("llama-index-llms-openai-like==0.8.1") : null,
]);

playThreeTurns([
  ...pythonClients(vendors, "openai_client.py", [
    { name: "Python's openai in chat", dialect: "chat" },
    { name: "Python's openai in responses", dialect: "responses" },
  ]),
  ...pythonClients(vendors, "anthropic_client.py", [
    { name: "Python's anthropic with its tool runner", dialect: "messages", usesStateOf: "Claude" },
  ]),
  ...pythonClients(pydanticAi, "pydantic_ai_client.py", [
    { name: "Pydantic AI in chat", dialect: "chat" },
    { name: "Pydantic AI in responses", dialect: "responses" },
    { name: "Pydantic AI in messages", dialect: "messages" },
  ]),
  ...pythonClients(langchain, "langchain_client.py", [
    { name: "Python's LangChain in chat", dialect: "chat" },
    { name: "Python's LangChain in responses", dialect: "responses" },
    { name: "Python's LangChain in messages", dialect: "messages" },
  ]),
  ...pythonClients(litellm, "litellm_client.py", [{ name: "LiteLLM in chat", dialect: "chat" }]),
  ...pythonClients(llamaIndex, "llama_index_client.py", [
    // LlamaIndex always sends a temperature, which Claude Opus rejects.
    { name: "LlamaIndex", dialect: "chat", claude: claudeHaiku },
  ]),
]);
