export const gatewayPort = 8080;

/** The firewalls block this port from outside the task. */
export const metricsPort = 9464;

export const databasePort = 3306;
