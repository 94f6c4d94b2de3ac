import test, { type TestFn } from "ava";
import { findChromium } from "./chromium-program.ts";

/** Tests of a file run serially, because a starting browser or gateway uses a whole core. */
export const browserTest = (findChromium() ? test.serial : test.serial.skip) as TestFn;
