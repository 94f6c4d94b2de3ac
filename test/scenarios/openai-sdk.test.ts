import { openAiClient } from "./openai-client.ts";
import { playScenario } from "./play-scenario.ts";

playScenario(openAiClient);
