import type {
  ChatTranslation,
  EmbeddingsAnswer,
  Environment,
  EnvironmentSettings,
  Provider,
  UpstreamModel,
} from "../provider.ts";
import { readModelNames } from "../read-model-names.ts";
import { AwsEventStreamDecoder } from "./aws-event-stream-decoder.ts";
import { bedrockEndpoint, parseBedrockCredential } from "./bedrock-endpoint.ts";
import { buildConverseRequest } from "./build-converse-request.ts";
import { ConverseStreamReader } from "./converse-stream-reader.ts";
import { findModelFamily } from "./model-family.ts";
import { readConverseAnswer } from "./read-converse-answer.ts";
import { GatewayError } from "../../errors.ts";
import type { EmbeddingsRequestBody } from "../../wire/chat-completion.ts";
import { isObject } from "../../wire/json.ts";
import { expectNumber, expectString, ifGiven } from "../../wire/expect-type.ts";
import { invalidValue } from "../../wire/parameter-errors.ts";
import { unsupported } from "../../wire/unsupported.ts";

/**
 * Amazon Bedrock, by its Converse API, which has one form for all models. A model's name is its id, or the id or ARN of an
 * inference profile. https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference.html
 */
export const bedrock: Provider = {
  label: "Amazon Bedrock",
  fields: {
    form: "aws",
    baseUrl: "required",
    apiKey: "required",
    apiKeyLabel: "Bedrock API key, or accessKeyId:secretAccessKey",
  },
  telemetryName: "aws.bedrock",
  // Each region is a place of its own, and where data may go is not for us to say.
  defaultBaseUrl: null,
  presets: [
    {
      name: "bedrock",
      label: "Amazon Bedrock",
      baseUrl: null,
      keyPageUrl: "https://console.aws.amazon.com/bedrock/home#/api-keys",
      hint: "The base URL names the region, such as https://bedrock-runtime.us-east-1.amazonaws.com. The key is a Bedrock API key, or accessKeyId:secretAccessKey.",
      keyVariable: "AWS_BEARER_TOKEN_BEDROCK",
      readEnvironment,
    },
  ],
  connect({ baseUrl, secret }) {
    const { runtimeUrl, controlUrl, region } = readBedrockHost(baseUrl);
    const credential = secret === null ? null : parseBedrockCredential(secret);
    const endpointOf = ({ name }: UpstreamModel, operation: string, accept = "application/json") => {
      // Ids have colons in them, and ARNs slashes.
      const path = `/model/${encodeURIComponent(name.toWellFormed())}/${operation}`;
      return bedrockEndpoint({ url: runtimeUrl, path, accept, region, credential });
    };
    return {
      modelsEndpoint: bedrockEndpoint({
        url: controlUrl,
        path: "/foundation-models",
        accept: "application/json",
        region,
        credential,
      }),
      readModelNames: (list) => readModelNames(list, "modelSummaries", "modelId", isUsable),
      chat: (model) => ({
        quirks: null,
        endpoint: endpointOf(model, "converse"),
        streamEndpoint: endpointOf(model, "converse-stream", streamContentType),
        ...converse(model),
      }),
      embeddings(model) {
        const form = findEmbeddingsForm(model.name);
        return form && { form: "translated", endpoint: endpointOf(model, "invoke"), ...form };
      },
      meantStatus,
    };
  },
};

function readEnvironment(environment: Environment): EnvironmentSettings {
  const region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"];
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = environment;
  return {
    baseUrl:
      region === undefined
        ? null
        : `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`,
    // Credentials with a session token expire within hours.
    key: id && secret && !session ? ["AWS_ACCESS_KEY_ID", `${id}:${secret}`] : null,
  };
}

function converse({ name }: UpstreamModel): ChatTranslation {
  const family = findModelFamily(name);
  return {
    buildRequest: buildConverseRequest,
    readAnswer: (answer) => readConverseAnswer(answer, family),
    streamContentType,
    createDecoder: (eventBytesMax) => new AwsEventStreamDecoder(eventBytesMax),
    createStreamReader: () => new ConverseStreamReader(family),
  };
}

const streamContentType = "application/vnd.amazon.eventstream";

/** Where Bedrock runs models, and where it tells which ones there are. */
type BedrockHost = {
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
function readBedrockHost(baseUrl: string): BedrockHost {
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

/** Converse has no embeddings, so each family of models has a form of its own. Null for models that make none that is known. */
function findEmbeddingsForm(modelName: string): EmbeddingsForm | null {
  if (/amazon\.titan-embed-(g1-)?text/.test(modelName)) return titanEmbeddings(modelName.includes("text-v2"));
  if (modelName.includes("cohere.embed-")) return cohereEmbeddings(modelName.includes("embed-v4"));
  return null;
}

/**
 * Cohere's own parameter `input_type`, which says what the embeddings are for, may be sent along.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html
 */
function cohereEmbeddings(isV4: boolean): EmbeddingsForm {
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
      if (!Array.isArray(vectors)) throw new Error("It is no answer of Cohere.");
      // How many tokens there were is told in a header only.
      return { embeddings: vectors.map(expectVector), inputTokens: null };
    },
  };
}

/**
 * Two client errors of Bedrock's are none of the client's: the model failed (424), mostly with a status of its own, or took
 * too long (408). https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors
 */
function meantStatus(status: number, body: unknown): number {
  if (status === 408) return 504;
  if (status !== 424) return status;
  const original = isObject(body) ? body["originalStatusCode"] : null;
  return typeof original === "number" && original >= 400 && original <= 599 ? original : 500;
}

/**
 * The foundation models that can be asked for text or embeddings without a capacity of one's own. Some of them can be asked
 * only by the name of an inference profile, which is theirs with the name of a geography before it (`us.anthropic.…`).
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

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html */
function titanEmbeddings(isV2: boolean): EmbeddingsForm {
  return {
    buildRequest(body) {
      const [inputText, ...more] = textsOf(body);
      if (inputText === undefined || more.length > 0) {
        throw invalidValue("input", "must be one text: Titan embeds one at a time");
      }
      return { inputText, dimensions: dimensionsOf(body, isV2) };
    },
    readAnswer(answer) {
      if (!isObject(answer)) throw new Error("It is no answer of Titan.");
      const { embedding, inputTextTokenCount: count } = answer;
      const isCount = typeof count === "number" && Number.isSafeInteger(count) && count >= 0;
      return { embeddings: [expectVector(embedding)], inputTokens: isCount ? count : null };
    },
  };
}

/** How one family of models is asked for embeddings. */
type EmbeddingsForm = {
  buildRequest(body: EmbeddingsRequestBody): object;
  readAnswer(answer: unknown): EmbeddingsAnswer;
};

/** What is to be embedded. Bedrock takes no tokens. */
function textsOf({ input }: EmbeddingsRequestBody): string[] {
  if (!Array.isArray(input)) return [expectString(input, "input")];
  return input.map((text: unknown, index) => {
    if (typeof text === "number" || Array.isArray(text)) {
      throw unsupported("input", "Models on Bedrock take texts, no tokens.");
    }
    return expectString(text, `input[${index}]`);
  });
}

/** How long the embeddings shall be, for models that can make shorter ones. */
function dimensionsOf(body: EmbeddingsRequestBody, canChoose: boolean): number | undefined {
  const dimensions = ifGiven(body["dimensions"], "dimensions", expectNumber);
  if (dimensions === undefined || canChoose) return dimensions;
  throw unsupported("dimensions", "This model's embeddings have one length only.");
}

function expectVector(value: unknown): number[] {
  if (!Array.isArray(value) || !value.every((number) => Number.isFinite(number))) {
    throw new Error("It is no embedding.");
  }
  return value;
}
