import avaConfig from "../helpers/ava-config.ts";

/**
 * ava's configuration under `npm run test:tools`. The timeout covers the slowest installation. Files run
 * serially, because each tool keeps a core busy, and `.ci/run` runs other tests at the same time.
 */
export default { ...avaConfig, files: ["test/tools/*.test.ts"], timeout: "7m", concurrency: 1 };
