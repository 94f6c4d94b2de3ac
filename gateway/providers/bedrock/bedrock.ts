import type { EmbeddingsTranslation, Provider } from "../provider.ts";
import { readModelNames } from "../endpoint-at.ts";
import { AwsEventStreamDecoder } from "./aws-event-stream-decoder.ts";
import { bedrockEndpoint, parseBedrockCredential } from "./bedrock-endpoint.ts";
import { buildConverseRequest } from "./build-converse-request.ts";
import { ConverseStreamReader, readConverseAnswer } from "./converse-stream-reader.ts";
import { findModelFamily } from "./model-family.ts";
import { GatewayError } from "../../errors.ts";
import { isObject } from "../../wire/json.ts";
import type { EmbeddingsRequestBody } from "../../wire/chat-completion.ts";
import {
  ifGiven,
  expectString,
  invalidValue,
  unsupported,
  expectNumber,
} from "../../wire/parameter-errors.ts";

/**
 * Amazon Bedrock's Converse API, with one format for all models. A model's name is its ID, or the ID or ARN
 * of an inference profile. https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference.html
 */
export const bedrock: Provider = {
  label: "Amazon Bedrock",
  fields: {
    form: "aws",
    baseUrl: "required",
    apiKey: "required",
    apiKeyLabel: "Bedrock credential",
    apiKeyHint: "Enter a Bedrock API key or accessKeyId:secretAccessKey.",
  },
  telemetryName: "aws.bedrock",
  // The administrator chooses the region, because it determines the location of the data.
  defaultBaseUrl: null,
  presets: [
    {
      name: "bedrock",
      label: "Amazon Bedrock",
      baseUrl: null,
      keyPageUrl: "https://console.aws.amazon.com/bedrock/home#/api-keys",
      hint: "Use a base URL with your region, such as https://bedrock-runtime.us-east-1.amazonaws.com, and a Bedrock API key or accessKeyId:secretAccessKey as the key.",
      keyVariable: "AWS_BEARER_TOKEN_BEDROCK",
      // Credentials with a session token expire within hours, so the gateway ignores them.
      readEnvironment({ AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, ...environment }) {
        const region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"];
        const isKept = id && secret && !environment["AWS_SESSION_TOKEN"];
        return {
          baseUrl:
            region === undefined
              ? null
              : `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`,
          key: isKept ? ["AWS_ACCESS_KEY_ID", `${id}:${secret}`] : null,
        };
      },
    },
  ],
  connect({ baseUrl, secret }) {
    const { runtimeUrl, controlUrl, region } = readBedrockHost(baseUrl);
    const credential = secret === null ? null : parseBedrockCredential(secret);
    const at = (url: string, path: string, accept = "application/json") =>
      bedrockEndpoint({ url, path, accept, region, secret, credential });
    return {
      modelsEndpoint: at(controlUrl, "/foundation-models"),
      readModelNames: (list) => readModelNames(list, "modelSummaries", "modelId", isUsable),
      apis({ name }) {
        const family = findModelFamily(name);
        const translation = findEmbeddingsForm(name);
        // IDs contain colons, and ARNs contain slashes.
        const path = `/model/${encodeURIComponent(name.toWellFormed())}`;
        return {
          "chat/completions": {
            quirks: null,
            endpoint: at(runtimeUrl, `${path}/converse`),
            streamEndpoint: at(runtimeUrl, `${path}/converse-stream`, streamContentType),
            buildRequest: buildConverseRequest,
            readAnswer: (answer) => readConverseAnswer(answer, family),
            streamContentType,
            createDecoder: (eventBytesMax) => new AwsEventStreamDecoder(eventBytesMax),
            createStreamReader: () => new ConverseStreamReader(family),
          },
          ...(translation && { embeddings: { endpoint: at(runtimeUrl, `${path}/invoke`), translation } }),
        };
      },
      effectiveStatus,
    };
  },
};

const streamContentType = "application/vnd.amazon.eventstream";

/**
 * Bedrock has two hosts: one runs models, the other lists them. The region comes from `?region=` or an AWS host name.
 * The default for other hosts, such as a proxy, is us-east-1. Throws `invalid_value` for an invalid region.
 * https://docs.aws.amazon.com/general/latest/gr/bedrock.html
 */
function readBedrockHost(baseUrl: string): { runtimeUrl: string; controlUrl: string; region: string } {
  const url = new URL(baseUrl);
  const requested = url.searchParams.get("region");
  if (requested !== null && !/^[a-z0-9-]+$/.test(requested)) {
    const message = `The AWS region "${requested.slice(0, 60)}" in the base URL is invalid. Use a region such as us-east-1.`;
    throw new GatewayError("invalid_value", message, { param: "baseUrl" });
  }
  url.search = "";
  const runtimeUrl = url.href;
  const [, vpcEndpoint, region] = awsHost.exec(url.hostname) ?? [];
  // A VPC endpoint for models offers no other service.
  if (region !== undefined && vpcEndpoint === undefined) {
    url.hostname = url.hostname.replace("bedrock-runtime", "bedrock");
  }
  return { runtimeUrl, controlUrl: url.href, region: requested ?? region ?? "us-east-1" };
}

/** bedrock-runtime-fips.us-gov-west-1.amazonaws.com, vpce-0a1b.bedrock-runtime.eu-west-1.vpce.amazonaws.com */
const awsHost = /^(vpce-[^.]+\.)?bedrock-runtime(?:-fips)?\.([a-z]{2,5}(?:-[a-z]+)+-\d+)\./;

/**
 * 408 is a timeout of the model. The body of a 424 usually contains the model's own status.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors
 */
function effectiveStatus(status: number, body: unknown): number {
  if (status === 408) return 504;
  if (status !== 424) return status;
  const original = isObject(body) ? body["originalStatusCode"] : null;
  return typeof original === "number" && original >= 400 && original <= 599 ? original : 500;
}

/**
 * Text and embedding models that run on demand, or through an inference profile (`us.anthropic.…`).
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListFoundationModels.html
 */
function isUsable({ outputModalities, inferenceTypesSupported }: Record<string, unknown>): boolean {
  return (
    hasOneOf(outputModalities, ["TEXT", "EMBEDDING"]) &&
    hasOneOf(inferenceTypesSupported, ["ON_DEMAND", "INFERENCE_PROFILE"])
  );
}

function hasOneOf(list: unknown, names: string[]): boolean {
  return Array.isArray(list) && list.some((name) => names.includes(name));
}

/** Finds the model's own embeddings format, because Converse has no embeddings. Null for an unknown model. */
function findEmbeddingsForm(modelName: string): EmbeddingsTranslation | null {
  if (/amazon\.titan-embed-(g1-)?text/.test(modelName)) return titanEmbeddings(modelName.includes("text-v2"));
  if (modelName.includes("cohere.embed-")) return cohereEmbeddings(modelName.includes("embed-v4"));
  return null;
}

/**
 * Forwards Cohere's own parameter `input_type`, which states the purpose of the embeddings.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html
 */
function cohereEmbeddings(isV4: boolean): EmbeddingsTranslation {
  return {
    buildRequest(body) {
      return {
        texts: textsOf(body),
        input_type: ifGiven(body["input_type"], "input_type", expectString) ?? "search_document",
        embedding_types: ["float"],
        output_dimension: dimensionsOf(body, isV4),
      };
    },
    readAnswer(answer) {
      const embeddings = isObject(answer) ? answer["embeddings"] : null;
      const vectors = isObject(embeddings) ? embeddings["float"] : embeddings;
      if (!Array.isArray(vectors)) throw new Error("The Cohere response is malformed.");
      // Only a header reports the number of tokens.
      return { embeddings: vectors.map(expectVector), inputTokens: null };
    },
  };
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html */
function titanEmbeddings(isV2: boolean): EmbeddingsTranslation {
  return {
    buildRequest(body) {
      const [inputText, ...more] = textsOf(body);
      if (inputText === undefined || more.length > 0) {
        throw invalidValue("input", "must be a single text, because Titan embeds one at a time");
      }
      return { inputText, dimensions: dimensionsOf(body, isV2) };
    },
    readAnswer(answer) {
      if (!isObject(answer)) throw new Error("The Titan response is malformed.");
      const { embedding, inputTextTokenCount: count } = answer;
      const isCount = typeof count === "number" && Number.isSafeInteger(count) && count >= 0;
      return { embeddings: [expectVector(embedding)], inputTokens: isCount ? count : null };
    },
  };
}

function textsOf({ input }: EmbeddingsRequestBody): string[] {
  if (!Array.isArray(input)) return [expectString(input, "input")];
  return input.map((text: unknown, index) => {
    if (typeof text === "number" || Array.isArray(text)) {
      throw unsupported("input", "models on Bedrock accept text, not token IDs. Send strings.");
    }
    return expectString(text, `input[${index}]`);
  });
}

function dimensionsOf(body: EmbeddingsRequestBody, canChoose: boolean): number | undefined {
  const dimensions = ifGiven(body["dimensions"], "dimensions", expectNumber);
  if (dimensions === undefined || canChoose) return dimensions;
  throw unsupported("dimensions", "this model's embeddings have a fixed length. Remove the parameter.");
}

function expectVector(value: unknown): number[] {
  if (!Array.isArray(value) || !value.every((number) => Number.isFinite(number))) {
    throw new Error("The embedding is malformed.");
  }
  return value;
}
