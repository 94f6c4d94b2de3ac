import { DirectWriter } from "../../../gateway/usage/recording/shipper.ts";

/** If a write to disk fails, drops the records and ends their responses. */
DirectWriter.prototype.write = (ended) => ended.forEach((each) => each.proceed());
