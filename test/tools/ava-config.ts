import avaConfig from "../helpers/ava-config.ts";

/**
 * ava's configuration under `npm run test:tools`. The timeout covers the slowest installation. Files run
 * serially, because tools use a core each and `.ci/run` also runs the suite.
 */
export default { ...avaConfig, files: ["test/tools/*.test.ts"], timeout: "7m", concurrency: 1 };
