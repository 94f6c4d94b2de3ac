import { aiSdkClient } from "./ai-sdk-client.ts";
import { messagesClient } from "./messages-client.ts";
import { openAiClient } from "./openai-client.ts";
import { playScenario } from "./play-scenario.ts";
import { responsesClient } from "./responses-client.ts";

// OpenAI's SDK plays every step with every vendor, and the others add the translation of their dialects.
playScenario(openAiClient);
playScenario(aiSdkClient, { every: 4 });
playScenario(messagesClient, { every: 2 });
playScenario(responsesClient, { every: 2 });
