import config, { measurements } from "./ava-config.ts";

/** Runs only the measurements, one file after another. */
export default { ...config, files: [measurements], concurrency: 1, serial: true };
