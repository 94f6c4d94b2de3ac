/**
 * Runs before Pulumi's language host, which maps the positions of all stack traces. That takes a quarter of its time,
 * and Node's type stripping keeps positions.
 */
Object.defineProperty(Error, "prepareStackTrace", { get: () => undefined, set: () => {} });
