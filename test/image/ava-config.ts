import avaConfig from "../helpers/ava-config.ts";

/** ava's configuration under `npm run test:image`; the time is for building the image. */
export default { ...avaConfig, files: ["test/image/*.test.ts"], timeout: "10m" };
