import { declareToolTests } from "./declare-tool-tests.ts";
import { kiloCode } from "./kilo-code.ts";

declareToolTests(kiloCode);
