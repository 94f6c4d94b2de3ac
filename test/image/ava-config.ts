import avaConfig from "../helpers/ava-config.ts";

/** ava's configuration under `npm run test:image`. Building the image takes most of the time. */
export default { ...avaConfig, files: ["test/image/*.test.ts"], timeout: "10m" };
