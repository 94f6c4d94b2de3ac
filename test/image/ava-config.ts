import avaConfig from "../helpers/ava-config.ts";

/** The image build needs the long timeout. */
export default { ...avaConfig, files: ["test/image/*.test.ts"], timeout: "10m" };
