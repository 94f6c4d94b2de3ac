import { declareToolTests } from "./declare-tool-tests.ts";
import { kimiCode } from "./kimi-code.ts";

declareToolTests(kimiCode);
