import { declareToolTests } from "./declare-tool-tests.ts";
import { claudeCode } from "./claude-code.ts";

declareToolTests(claudeCode);
