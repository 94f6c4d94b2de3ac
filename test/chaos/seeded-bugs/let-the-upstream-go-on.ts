import { Attempts } from "../../../gateway/routing/attempts.ts";

/** The upstream of a client that has left is left alone. */
Attempts.prototype.abort = () => {};
