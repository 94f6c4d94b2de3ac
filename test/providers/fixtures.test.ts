import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { GatewayError } from "../../gateway/errors.ts";
import type { ChatApi, EmbeddingsApi, UpstreamApi, UpstreamModel } from "../../gateway/providers/provider.ts";
import { providerKinds } from "../../gateway/providers/registry.ts";
import type { ChatRequestBody, EmbeddingsRequestBody } from "../../gateway/wire/chat-completion.ts";
import { frameEvents } from "../helpers/frame-events.ts";
import { readStream } from "../helpers/read-stream.ts";

type Fixture = {
  model?: UpstreamModel;
  baseUrl?: string;
  secret?: string;
  chatRequest?: ChatRequestBody;
  upstreamRequest?: unknown;
  refused?: { param: string };
  /** The parameters that the request omits. */
  dropped?: string[];
  upstreamAnswer?: unknown;
  chatAnswer?: unknown;
  chatChoices?: unknown;
  chatUsage?: unknown;
  embeddingsRequest?: EmbeddingsRequestBody;
  upstreamEmbeddingsRequest?: unknown;
  upstreamEmbeddingsAnswer?: unknown;
  embeddingsAnswer?: unknown;
};

const folder = path.resolve(import.meta.dirname, "../fixtures/providers");

for (const file of globSync("*/*.json", { cwd: folder }).toSorted()) {
  const fixture = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Fixture;
  const kind = path.dirname(file);
  const name = `${kind}: ${path.basename(file, ".json")}`;
  const model = fixture.model ?? { name: "some-model", outputTokensMax: null };
  const chunksFile = path.join(folder, file.replace(/\.json$/, ".chunks.txt"));

  if (fixture.refused !== undefined) {
    test(`${name} is rejected`, (t) => {
      const error = t.throws(() => requestOf(kind, fixture, model), { instanceOf: GatewayError });
      t.is(error?.param ?? null, fixture.refused?.param ?? null);
    });
  }
  if (fixture.upstreamRequest !== undefined) {
    test(`${name}: the request is translated`, (t) => {
      const dropped = new Set<string>();
      t.deepEqual(viaJson(requestOf(kind, fixture, model, dropped)), fixture.upstreamRequest);
      t.deepEqual([...dropped], fixture.dropped ?? []);
    });
  }
  if (fixture.chatAnswer !== undefined) {
    test(`${name}: the response is translated`, (t) => {
      const answer = translated(apiOf(kind, fixture).chat(model)).readAnswer(fixture.upstreamAnswer);
      t.deepEqual(viaJson(answer), fixture.chatAnswer);
    });
  }
  if (fixture.chatChoices !== undefined) {
    test(`${name}: the stream is translated, wherever it is cut`, (t) => {
      const api = translated(apiOf(kind, fixture).chat(model));
      const bytes = frameEvents(readFileSync(chunksFile, "utf8"), api.streamContentType);
      for (const size of [bytes.length, 7, 1]) {
        const { choices, usage, state } = readStream(api, bytes, size);
        t.deepEqual(viaJson(choices), fixture.chatChoices, `pieces of ${size} bytes`);
        t.deepEqual(viaJson(usage), fixture.chatUsage ?? null);
        t.not(state, "unfinished");
      }
    });
  }
  if (fixture.upstreamEmbeddingsRequest !== undefined) {
    test(`${name}: the embeddings request is translated`, (t) => {
      const api = embeddings(apiOf(kind, fixture).embeddings(model));
      const body = fixture.embeddingsRequest ?? { model: "", input: "" };
      t.deepEqual(viaJson(api.buildRequest(body, model)), fixture.upstreamEmbeddingsRequest);
    });
  }
  if (fixture.embeddingsAnswer !== undefined) {
    test(`${name}: the embeddings response is translated`, (t) => {
      const api = embeddings(apiOf(kind, fixture).embeddings(model));
      t.deepEqual(viaJson(api.readAnswer(fixture.upstreamEmbeddingsAnswer)), fixture.embeddingsAnswer);
    });
  }
}

function requestOf(
  kind: string,
  fixture: Fixture,
  model: UpstreamModel,
  dropped = new Set<string>(),
): object {
  const body = fixture.chatRequest ?? { model: "", messages: [] };
  return translated(apiOf(kind, fixture).chat(model)).buildRequest(body, model, dropped);
}

function apiOf(kind: string, { baseUrl, secret = "secret" }: Fixture): UpstreamApi {
  const provider = Object.entries(providerKinds).find(([name]) => name === kind)?.[1];
  if (!provider) throw new Error(`${kind} is no kind of provider`);
  return provider.connect({
    baseUrl: baseUrl ?? provider.defaultBaseUrl ?? "https://bedrock-runtime.us-east-1.amazonaws.com",
    secret,
    preset: null,
  });
}

function translated(api: ChatApi): ChatApi {
  if (api.quirks !== null) throw new Error("there is nothing to translate");
  return api;
}

function embeddings(api: EmbeddingsApi | null): EmbeddingsApi & { form: "translated" } {
  if (api?.form !== "translated") throw new Error("there is nothing to translate");
  return api;
}

/** Drops undefined members, which a fixture in JSON cannot contain. */
function viaJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
