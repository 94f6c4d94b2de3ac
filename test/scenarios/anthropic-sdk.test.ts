import { messagesClient } from "./messages-client.ts";
import { playScenario } from "./play-scenario.ts";

playScenario(messagesClient);
