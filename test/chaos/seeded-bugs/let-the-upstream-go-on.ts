import { Attempts } from "../../../gateway/upstream/attempts.ts";

/** The upstream of a client that has left is left alone. */
Attempts.prototype.abort = () => {};
