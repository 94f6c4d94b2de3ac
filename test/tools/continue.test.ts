import { declareToolTests } from "./declare-tool-tests.ts";
import { continueCli } from "./continue.ts";

declareToolTests(continueCli);
