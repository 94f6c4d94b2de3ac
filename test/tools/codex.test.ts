import { declareToolTests } from "./declare-tool-tests.ts";
import { codex } from "./codex.ts";

declareToolTests(codex);
