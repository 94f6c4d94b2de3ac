import { playScenario } from "./play-scenario.ts";
import { responsesClient } from "./responses-client.ts";

playScenario(responsesClient);
