import { aiSdkClient } from "./ai-sdk-client.ts";
import { playScenario } from "./play-scenario.ts";

playScenario(aiSdkClient);
