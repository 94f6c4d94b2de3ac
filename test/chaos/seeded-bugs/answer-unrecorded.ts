import { DirectWriter } from "../../../gateway/usage/recording/shipper.ts";

/** Ignores failed disk writes. */
DirectWriter.prototype.write = (ended) => ended.forEach((each) => each.proceed());
