import { aiSdkClient } from "./ai-sdk-client.ts";
import { playScenario } from "./play-scenario.ts";

// OpenAI's SDK plays all steps with chat completions.
playScenario(aiSdkClient, { isSecond: true });
