import { declareToolTests } from "./declare-tool-tests.ts";
import { cline } from "./cline.ts";

declareToolTests(cline);
