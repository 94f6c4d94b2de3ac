import { declareToolTests } from "./declare-tool-tests.ts";
import { openCode } from "./opencode.ts";

declareToolTests(openCode);
