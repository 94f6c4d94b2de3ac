/*
 * Timeouts that depend on one another. First the gateway gives up on a silent provider, then the load balancer on the
 * gateway, then the gateway on idle connections. In any other order, clients would get the load balancer's 502 and 504
 * instead of the gateway's errors.
 */

/** The longest silence of a provider before its first byte: a whole answer that is not streamed. */
export const upstreamFirstByteSeconds = 120;

/** The load balancer closes silent connections after this. Streams send a ping every 15 s. */
export const edgeIdleSeconds = 130;

/** Longer than the load balancer's timeout, otherwise a request could meet a closing connection. */
export const keepAliveSeconds = 140;

/** Fargate's maximum between SIGTERM and SIGKILL. */
export const stopSecondsMax = 120;

/** The part of it for open requests. The rest is for the last records. */
export const drainSeconds = stopSecondsMax - 10;
