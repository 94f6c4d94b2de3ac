import avaConfig from "../helpers/ava-config.ts";

/**
 * ava's configuration under `npm run test:tools`; the time is the longest that one tool takes to be installed. One file at a
 * time: tools are what a core is busiest with, and `.ci/run` has the suite beside them.
 */
export default { ...avaConfig, files: ["test/tools/*.test.ts"], timeout: "7m", concurrency: 1 };
