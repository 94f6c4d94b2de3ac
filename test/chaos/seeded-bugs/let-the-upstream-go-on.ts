import { Attempts } from "../../../gateway/routing/attempts.ts";

/** Leaves the upstream of a disconnected client running. */
Attempts.prototype.abort = () => {};
