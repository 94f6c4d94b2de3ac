import { declareToolTests } from "./declare-tool-tests.ts";
import { qwenCode } from "./qwen-code.ts";

declareToolTests(qwenCode);
