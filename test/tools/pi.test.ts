import { declareToolTests } from "./declare-tool-tests.ts";
import { pi } from "./pi.ts";

declareToolTests(pi);
