import { GatewayError } from "../../errors.ts";

/** Where Bedrock runs models, and where it tells which ones there are. */
export type BedrockHost = {
  /** Without a query. */
  runtimeUrl: string;
  controlUrl: string;
  /** Part of every signature. */
  region: string;
};

/**
 * The region is in AWS's host names; for others, a proxy's say, it is in the base URL as `?region=`, which is not sent.
 * Throws `invalid_value`. https://docs.aws.amazon.com/general/latest/gr/bedrock.html
 */
export function readBedrockHost(baseUrl: string): BedrockHost {
  const url = new URL(baseUrl);
  const asked = url.searchParams.get("region");
  if (asked !== null && !/^[a-z0-9-]+$/.test(asked)) {
    throw new GatewayError("invalid_value", "The region in the base URL is none, such as us-east-1.", {
      param: "baseUrl",
    });
  }
  url.search = "";
  const runtimeUrl = url.href;
  const [, vpcEndpoint, region] = awsHost.exec(url.hostname) ?? [];
  // Behind a VPC endpoint for models there is nothing else that could be asked.
  if (region !== undefined && vpcEndpoint === undefined) {
    url.hostname = url.hostname.replace("bedrock-runtime", "bedrock");
  }
  return { runtimeUrl, controlUrl: url.href, region: asked ?? region ?? "us-east-1" };
}

/** bedrock-runtime-fips.us-gov-west-1.amazonaws.com, vpce-0a1b.bedrock-runtime.eu-west-1.vpce.amazonaws.com */
const awsHost = /^(vpce-[^.]+\.)?bedrock-runtime(?:-fips)?\.([a-z]{2,5}(?:-[a-z]+)+-\d+)\./;
