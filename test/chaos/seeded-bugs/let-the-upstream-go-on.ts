import { Attempts } from "../../../gateway/routing/attempts.ts";

/** Does not cancel the upstream request of a disconnected client. */
Attempts.prototype.abort = () => {};
