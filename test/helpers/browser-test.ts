import test, { type TestFn } from "ava";
import { findChromium } from "./chromium-program.ts";

/** `test` where there is a Chromium, else `test.skip`. The console is tested in real browsers or not at all. */
export const browserTest = (findChromium() ? test : test.skip) as TestFn;
