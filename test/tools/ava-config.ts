import avaConfig from "../helpers/ava-config.ts";

/**
 * ava's configuration under `npm run test:tools`. The timeout covers the slowest installation. Files run serially, to
 * leave cores to the tests that `.ci/run` runs at the same time.
 */
export default { ...avaConfig, files: ["test/tools/*.test.ts"], timeout: "7m", concurrency: 1 };
