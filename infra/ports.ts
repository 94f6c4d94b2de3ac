/** Where the gateway listens in its container. */
export const gatewayPort = 8080;

/** Where Prometheus finds the gateway's metrics: inside the task only. */
export const metricsPort = 9464;

export const databasePort = 3306;
