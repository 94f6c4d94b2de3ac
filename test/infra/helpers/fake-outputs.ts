type Fields = Record<string, unknown>;

export function fakeOutputs(type: string, name: string, inputs: Fields): { id: string; outputs: Fields } {
  const [, module = "", kind = ""] = /^aws:(\w+)\/(\w+):/.exec(type) ?? [];
  const physical = String(inputs["name"] ?? inputs["identifier"] ?? `${name}-1a2b3c4`);
  const region = module === "iam" ? "" : "eu-central-1";
  const arn = `arn:aws:${module}:${region}:111122223333:${arnForms[kind]?.(physical) ?? `${kind}/${physical}`}`;
  const special = forms[`${module}/${kind}`]?.(physical) ?? {};
  return { id: physical, outputs: { arn, name: physical, ...special } };
}

const arnForms: Record<string, (name: string) => string> = {
  logGroup: (name) => `log-group:${name}`,
  bucket: (name) => name,
  topic: (name) => name,
  secret: (name) => `secret:${name}-AbCdEf`,
  taskDefinition: (name) => `task-definition/${name}:1`,
};

const forms: Record<string, (name: string) => Fields> = {
  "acm/certificate": () => ({
    domainValidationOptions: [
      {
        resourceRecordName: "_proof.gateway.example.com",
        resourceRecordType: "CNAME",
        resourceRecordValue: "_value.acm-validations.aws",
      },
    ],
  }),
  "ec2/eip": (name) => ({ allocationId: `eipalloc-${name}` }),
  "kms/key": (name) => ({ keyId: `key-${name}` }),
  "lb/loadBalancer": (name) => ({
    dnsName: `${name}-1234567890.eu-central-1.elb.amazonaws.com`,
    zoneId: "Z215JYRZR1TBD5",
    arnSuffix: `app/${name}/50dc6c495c0c9188`,
  }),
  "lb/targetGroup": (name) => ({ arnSuffix: `targetgroup/${name}/73e2d6bc24d8a067` }),
  "rds/instance": (name) => ({
    address: `${name}.abcdefgh.eu-central-1.rds.amazonaws.com`,
    endpoint: `${name}.abcdefgh.eu-central-1.rds.amazonaws.com:3306`,
    resourceId: "db-ABCDEFGHIJKL",
    masterUserSecrets: [
      { secretArn: "arn:aws:secretsmanager:eu-central-1:111122223333:secret:rds!db-1-AbCdEf" },
    ],
  }),
  "route53/record": () => ({ fqdn: "_proof.gateway.example.com" }),
};
