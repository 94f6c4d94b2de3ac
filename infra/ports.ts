export const gatewayPort = 8080;

/** The port of the metrics, inside the task only. */
export const metricsPort = 9464;

export const databasePort = 3306;
