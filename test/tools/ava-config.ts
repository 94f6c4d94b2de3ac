import avaConfig from "../helpers/ava-config.ts";

/**
 * ava's configuration under `npm run test:tools`. The timeout covers the slowest installation. Files run
 * serially, because each tool uses a core and `.ci/run` runs the suite at the same time.
 */
export default { ...avaConfig, files: ["test/tools/*.test.ts"], timeout: "7m", concurrency: 1 };
