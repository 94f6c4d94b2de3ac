import aws from "@pulumi/aws";
import type * as pulumi from "@pulumi/pulumi";
import type { Names } from "./names.ts";

type WebFirewallArgs = {
  names: Names;
  /** `count` only counts the requests that `block` would block. Start with `count`. */
  mode: "count" | "block";
  loadBalancerArn: pulumi.Input<string>;
};

/**
 * AWS's common rules would block bodies over 8 KB and prompts that resemble attacks, so the rules skip paths below
 * `/v1/`.
 */
export function webFirewall(
  { names, mode, loadBalancerArn }: WebFirewallArgs,
  options: pulumi.CustomResourceOptions,
): void {
  const visible = (metricName: string) => ({
    metricName: `${names.prefix}-${metricName}`,
    cloudwatchMetricsEnabled: true,
    // Samples would contain the request headers, including authorization.
    sampledRequestsEnabled: false,
  });
  const managed = (name: string, scope?: ScopeDownStatement) => ({
    managedRuleGroupStatement: { vendorName: "AWS", name, ...(scope && { scopeDownStatement: scope }) },
  });
  const action = mode === "count" ? { count: {} } : { none: {} };
  const rules = [
    {
      name: "rate",
      priority: 0,
      action: mode === "count" ? { count: {} } : { block: {} },
      statement: {
        rateBasedStatement: { aggregateKeyType: "IP", limit: 2_000, evaluationWindowSec: 300 },
      },
      visibilityConfig: visible("rate"),
    },
    {
      name: "reputation",
      priority: 1,
      overrideAction: action,
      statement: managed("AWSManagedRulesAmazonIpReputationList"),
      visibilityConfig: visible("reputation"),
    },
    {
      name: "console",
      priority: 2,
      overrideAction: action,
      statement: managed("AWSManagedRulesCommonRuleSet", notForModels),
      visibilityConfig: visible("console"),
    },
  ];
  const acl = new aws.wafv2.WebAcl(
    "edge",
    { scope: "REGIONAL", defaultAction: { allow: {} }, rules, visibilityConfig: visible("all") },
    options,
  );
  const association = { resourceArn: loadBalancerArn, webAclArn: acl.arn };
  new aws.wafv2.WebAclAssociation("edge", association, options);
}

const notForModels = {
  notStatement: {
    statement: {
      byteMatchStatement: {
        fieldToMatch: { uriPath: {} },
        positionalConstraint: "STARTS_WITH",
        searchString: "/v1/",
        textTransformations: [{ priority: 0, type: "NONE" }],
      },
    },
  },
};

type ScopeDownStatement = typeof notForModels;
