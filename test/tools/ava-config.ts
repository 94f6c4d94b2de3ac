import avaConfig from "../helpers/ava-config.ts";

/** ava's configuration under `npm run test:tools`; the time is the longest that one tool takes to be installed. */
export default { ...avaConfig, files: ["test/tools/*.test.ts"], timeout: "7m" };
