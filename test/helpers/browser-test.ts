import test, { type TestFn } from "ava";
import { findChromium } from "./chromium-program.ts";

/**
 * `test` where there is a Chromium, else `test.skip`. The console is tested in real browsers or not at all; a file's tests one
 * after the other, for a browser and a gateway each take a whole core while they start.
 */
export const browserTest = (findChromium() ? test.serial : test.serial.skip) as TestFn;
