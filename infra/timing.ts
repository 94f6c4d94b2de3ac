/*
 * Times that have to fit one another. From the inside out: the gateway gives up on a provider that sends nothing, then the
 * load balancer on the gateway, then the gateway on the load balancer's idle connection. The other way round clients get
 * the load balancer's 502 and 504 instead of an error in their own form.
 */

/** As long as a provider may be silent before its first byte: the whole of an answer that is not a stream. */
export const upstreamFirstByteSeconds = 120;

/** The load balancer ends a connection on which nothing comes for so long; streams get a ping every 15 s. */
export const edgeIdleSeconds = 130;

/** The gateway keeps the load balancer's connections longer than that does, or a request meets one just being closed. */
export const keepAliveSeconds = 140;

/** Fargate's longest time between SIGTERM and SIGKILL. */
export const stopSecondsMax = 120;

/** What is left of it for open requests, with some for the last records. */
export const drainSeconds = stopSecondsMax - 10;
