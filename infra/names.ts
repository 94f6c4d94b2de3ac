/** Names that several parts need before the resources exist. */
export type Names = ReturnType<typeof namesOf>;

export function namesOf(project: string, stack: string) {
  const prefix = `${project}-${stack}`;
  return {
    prefix,
    cluster: prefix,
    service: prefix,
    database: prefix,
    logs: {
      service: `/${project}/${stack}/service`,
      migrate: `/${project}/${stack}/migrate`,
      flow: `/${project}/${stack}/flow`,
      databaseError: `/aws/rds/instance/${prefix}/error`,
      databaseSlow: `/aws/rds/instance/${prefix}/slowquery`,
    },
    metricNamespace: `${project}/${stack}`,
  };
}

export type Repository = { url: string; arn: string | null };

/** `arn` is null for a repository outside Amazon ECR, because it needs no IAM permission. */
export function repositoryOf(image: string): Repository {
  const url = image.replace(/@sha256:[0-9a-f]{64}$/, "").replace(/:[\w.-]+$/, "");
  const [, account, region, name] =
    /^(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com\/(.+)$/.exec(url) ?? [];
  return { url, arn: name === undefined ? null : `arn:aws:ecr:${region}:${account}:repository/${name}` };
}
