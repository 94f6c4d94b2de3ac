import type { Asked, VendorForm } from "./native-upstream.ts";
import { asFields, asList, type Fields, readJson, VendorRefusal } from "./vendor-refusal.ts";

/**
 * Adds OpenAI's store of responses, which resolves references to responses and to items.
 * https://platform.openai.com/docs/guides/conversation-state
 */
export function withStore(form: VendorForm): VendorForm {
  const items = new Map<unknown, Fields>();
  const conversations = new Map<unknown, unknown[]>();

  function resolve({ input, previous_response_id: previous = null }: Fields): unknown[] {
    const earlier = previous === null ? [] : conversations.get(previous);
    if (earlier === undefined) throw notFound(`Previous response with id '${String(previous)}'`);
    const added = typeof input === "string" ? [{ role: "user", content: input }] : asList(input, "input");
    return [...earlier, ...added].map((each) => {
      const { type, id } = asFields(each, "input");
      if (type !== "item_reference") return each;
      const item = items.get(id);
      if (item === undefined) throw notFound(`Item with id '${String(id)}'`);
      return item;
    });
  }

  function keep(response: Fields, { input = [] }: StateAsked): void {
    const output = asList(response["output"], "output");
    conversations.set(response["id"], [...input, ...output]);
    for (const each of output) {
      const item = asFields(each, "output");
      items.set(item["id"], item);
    }
  }

  return {
    ...form,
    read(request): StateAsked {
      const { previous_response_id, ...body } = readJson(request.body);
      const input = resolve({ ...body, previous_response_id });
      const asked = form.read({ ...request, body: JSON.stringify({ ...body, input }) });
      const refers = JSON.stringify(body["input"]).includes('"item_reference"');
      const usesState = refers || typeof previous_response_id === "string";
      return { ...asked, usesState, ...(body["store"] !== false && { input }) };
    },
    answer(answer, asked: StateAsked) {
      const response = form.answer(answer, asked);
      if (asked.input !== undefined) keep(response as Fields, asked);
      return response;
    },
    streamEnd(answer, asked: StateAsked) {
      if (asked.input !== undefined) keep(form.answer(answer, asked) as Fields, asked);
      return form.streamEnd(answer, asked);
    },
  };
}

/** `input` is missing if the request has `store: false`. */
type StateAsked = Asked & { input?: unknown[] };

/**
 * Adds Anthropic's message threads: a request can continue from a reply and contain only the new messages.
 * https://github.com/anthropics/anthropic-sdk-typescript (lib/internal/threads)
 */
export function withThreads(form: VendorForm): VendorForm {
  const threads = new Map<unknown, Fields>();
  let count = 0;

  function resolve(body: Fields, thread: Fields): Fields {
    if (thread["type"] !== "continue") return body;
    const known = threads.get(thread["previous_message_id"]);
    if (known === undefined) throw notFound(`Message ${String(thread["previous_message_id"])}`);
    const { messages, ...rest } = body;
    return {
      ...known,
      ...rest,
      messages: [...asList(known["messages"], "messages"), ...asList(messages, "messages")],
    };
  }

  return {
    ...form,
    read(request): ThreadAsked {
      const { thread, ...body } = readJson(request.body);
      if (thread === undefined) return form.read(request);
      if (!String(request.headers["anthropic-beta"]).includes("message-threads-2026-08-12")) {
        throw new VendorRefusal("invalid", "thread: Extra inputs are not permitted");
      }
      const fields = asFields(thread, "thread");
      const whole = resolve(body, fields);
      const asked = form.read({ ...request, body: JSON.stringify(whole) });
      const usesState = fields["type"] === "continue";
      return { ...asked, usesState, threaded: { whole, replyId: `msg_01Thread${count++}` } };
    },
    answer(answer, asked: ThreadAsked) {
      const message = form.answer(answer, asked) as Fields;
      if (asked.threaded === undefined) return message;
      keep(message, asked.threaded);
      return { ...message, id: asked.threaded.replyId };
    },
    streamStart(answer, asked: ThreadAsked) {
      const { threaded } = asked;
      const events = form.streamStart(answer, asked);
      if (threaded === undefined) return events;
      const message = form.answer(answer, asked) as Fields;
      keep(message, threaded);
      const setId = (event: Buffer) =>
        event.toString("utf8").replace(String(message["id"]), threaded.replyId);
      return events.map((event) => Buffer.from(setId(event)));
    },
  };

  function keep({ content }: Fields, { whole, replyId }: Threaded): void {
    const { system, tools, messages } = whole;
    const reply = { role: "assistant", content };
    const created = { ...(system !== undefined && { system }), ...(tools !== undefined && { tools }) };
    threads.set(replyId, { ...created, messages: [...asList(messages, "messages"), reply] });
  }
}

type Threaded = { whole: Fields; replyId: string };
type ThreadAsked = Asked & { threaded?: Threaded };

function notFound(subject: string): VendorRefusal {
  return new VendorRefusal("not found", `${subject} not found.`);
}
