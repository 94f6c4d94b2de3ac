import aws from "@pulumi/aws";
import type * as pulumi from "@pulumi/pulumi";
import type { StackConfig } from "./stack-config.ts";

type CertificateArgs = { config: StackConfig; loadBalancer: aws.lb.LoadBalancer };

/**
 * Creates a certificate and the domain's DNS records if `hostedZoneId` is set. Otherwise returns `certificateArn`,
 * which is undefined for plain HTTP.
 */
export function certificate(
  { config, loadBalancer }: CertificateArgs,
  options: pulumi.CustomResourceOptions,
): pulumi.Input<string> | undefined {
  const { certificateArn, hostedZoneId, domainName } = config;
  if (hostedZoneId === undefined || domainName === undefined) return certificateArn;

  const requested = new aws.acm.Certificate(
    "edge",
    { domainName, validationMethod: "DNS" },
    { ...options, deleteBeforeReplace: false },
  );
  const proof = requested.domainValidationOptions.apply(([option]) => {
    if (!option)
      throw new Error("ACM returned a certificate without a validation record. Run pulumi up again.");
    return option;
  });
  const record = new aws.route53.Record(
    "proof",
    {
      zoneId: hostedZoneId,
      name: proof.resourceRecordName,
      type: proof.resourceRecordType,
      records: [proof.resourceRecordValue],
      ttl: 300,
      allowOverwrite: true,
    },
    options,
  );
  const alias = {
    name: loadBalancer.dnsName,
    zoneId: loadBalancer.zoneId,
    evaluateTargetHealth: false,
  };
  new aws.route53.Record(
    "domain",
    { zoneId: hostedZoneId, name: domainName, type: "A", aliases: [alias] },
    options,
  );
  const proved = { certificateArn: requested.arn, validationRecordFqdns: [record.fqdn] };
  return new aws.acm.CertificateValidation("edge", proved, options).certificateArn;
}
