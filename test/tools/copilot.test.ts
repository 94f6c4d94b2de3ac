import { declareToolTests } from "./declare-tool-tests.ts";
import { copilot } from "./copilot.ts";

declareToolTests(copilot);
