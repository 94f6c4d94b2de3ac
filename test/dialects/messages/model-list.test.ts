import test from "ava";
import { GatewayError } from "../../../gateway/errors.ts";
import { formatModel, formatModelList } from "../../../gateway/dialects/messages/messages.ts";

const models = Array.from({ length: 45 }, (_, index) => ({
  slug: `demo/model-${index + 1}`,
  createdAt: new Date(Date.UTC(2026, 10, 21, 9, 23)),
}));
const idsOf = (query: Record<string, unknown>) =>
  formatModelList(models, query).data.map(({ id }) => Number(id.slice(11)));

test("a model is returned in Anthropic's form", (t) => {
  t.deepEqual(formatModel({ slug: "anthropic/claude", createdAt: new Date(0) }), {
    type: "model",
    id: "anthropic/claude",
    display_name: "anthropic/claude",
    created_at: "1970-01-01T00:00:00.000Z",
  });
});

test("the first page has 20 models by default", (t) => {
  const { data, ...rest } = formatModelList(models, {});
  t.is(data.length, 20);
  t.deepEqual(rest, { has_more: true, first_id: "demo/model-1", last_id: "demo/model-20" });
  t.is(formatModelList(models, { limit: "1000", beta: "true" }).data.length, 45);
});

test("pages are read forwards and backwards", (t) => {
  const seen: string[] = [];
  let query: Record<string, string> = { limit: "7" };
  for (;;) {
    const page = formatModelList(models, query);
    seen.push(...page.data.map(({ id }) => id));
    if (!page.has_more) break;
    query = { limit: "7", after_id: String(page.last_id) };
  }
  t.deepEqual(
    seen,
    models.map(({ slug }) => slug),
  );
  t.deepEqual(idsOf({ limit: "3", before_id: "demo/model-10" }), [7, 8, 9]);
  t.deepEqual(idsOf({ limit: "3", before_id: "demo/model-3" }), [1, 2]);
  t.true(formatModelList(models, { limit: "3", before_id: "demo/model-10" }).has_more);
  t.false(formatModelList(models, { limit: "3", before_id: "demo/model-4" }).has_more);
});

test("a last page and an empty list have no next page", (t) => {
  const none = { data: [], has_more: false, first_id: null, last_id: null };
  t.deepEqual(formatModelList(models, { after_id: "demo/model-45" }), none);
  t.deepEqual(formatModelList(models, { before_id: "demo/model-1" }), none);
  t.deepEqual(formatModelList([], {}), none);
});

for (const query of [
  { limit: "0" },
  { limit: "1001" },
  { limit: "many" },
  { limit: "-1" },
  { limit: ["1", "2"] },
  { after_id: "demo/other" },
  { after_id: { x: "y" } },
  { after_id: "demo/model-1", before_id: "demo/model-3" },
]) {
  test(`the query ${JSON.stringify(query)} is rejected`, (t) => {
    const error = t.throws(() => formatModelList(models, query), { instanceOf: GatewayError });
    t.true(error?.param !== null && error.param in query);
  });
}
