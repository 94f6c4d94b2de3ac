import { installPythonSdk, pythonClients } from "./python-sdk.ts";
import { playThreeTurns } from "./three-turns.ts";

const vendors = await installPythonSdk("openai==3.57.0", "anthropic==2.13.0");

playThreeTurns([
  ...pythonClients(vendors, "openai_client.py", [
    { name: "Python's openai in chat", dialect: "chat" },
    { name: "Python's openai in responses", dialect: "responses" },
  ]),
  ...pythonClients(vendors, "anthropic_client.py", [
    { name: "Python's anthropic with its tool runner", dialect: "messages", usesStateOf: "Claude" },
  ]),
]);
