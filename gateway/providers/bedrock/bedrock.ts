import type { ChatTranslation, NetworkProvider, UpstreamModel } from "../provider.ts";
import { AwsEventStreamDecoder } from "./aws-event-stream-decoder.ts";
import { parseBedrockCredential } from "./bedrock-credential.ts";
import { bedrockEndpoint } from "./bedrock-endpoint.ts";
import { readBedrockHost } from "./bedrock-host.ts";
import { buildConverseRequest } from "./build-converse-request.ts";
import { ConverseStreamReader } from "./converse-stream-reader.ts";
import { findEmbeddingsForm } from "./find-embeddings-form.ts";
import { meantStatus } from "./meant-status.ts";
import { findModelFamily } from "./model-family.ts";
import { readConverseAnswer } from "./read-converse-answer.ts";
import { readModelNames } from "./read-model-names.ts";

/**
 * Amazon Bedrock, by its Converse API, which has one form for all models. A model's name is its id, or the id or ARN of an
 * inference profile. https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference.html
 */
export const bedrock: NetworkProvider = {
  reach: "network",
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
      readModelNames,
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
