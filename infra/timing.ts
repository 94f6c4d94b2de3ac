/*
 * Timeouts that depend on one another. The gateway must end a silent provider's request before the load
 * balancer does. The load balancer must close idle connections before the gateway does.
 */

/** The maximum wait for a provider's first byte. Without streaming, the wait includes the whole generation. */
export const upstreamFirstByteSeconds = 120;

/** The load balancer closes connections that are silent for this time. Streams send a ping every 15 s. */
export const edgeIdleSeconds = 130;

/** Exceeds `edgeIdleSeconds`, so that the load balancer sends no request on a closing connection. */
export const keepAliveSeconds = 140;

/** Fargate's maximum between SIGTERM and SIGKILL. */
export const stopSecondsMax = 120;

/** The time for open requests. The remaining 10 s are for the last usage records. */
export const drainSeconds = stopSecondsMax - 10;
