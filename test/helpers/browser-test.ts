import test, { type TestFn } from "ava";
import { findChromium } from "./chromium-program.ts";

/**
 * `test` with Chromium installed, otherwise `test.skip`. The console is tested only in real browsers. Tests of a file
 * run serially, since a starting browser or gateway uses a whole core.
 */
export const browserTest = (findChromium() ? test.serial : test.serial.skip) as TestFn;
