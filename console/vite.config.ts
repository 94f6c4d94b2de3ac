import adapter from "@sveltejs/adapter-static";
import { sveltekit } from "@sveltejs/kit/vite";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";

/** Where `npm run dev` has the gateway. */
const gateway = "http://127.0.0.1:8080";

/**
 * What three pages or more have of icons and small parts is one file, with what it needs. Each would be one of its own, of
 * 300 bytes on average, and a key's page would begin with 71 requests in place of 30.
 */
const sharedParts = {
  name: "parts",
  test: /@lucide.*icons|src.lib.(ui|format)/,
  minShareCount: 3,
  // SvelteKit's own come first.
  priority: -1,
};

const output = {
  codeSplitting: { groups: [sharedParts] },
  // In one file or not: SvelteKit's runtime reads, as soon as it runs, what the page has set before it asks for it.
  strictExecutionOrder: true,
};

/** A static app: the gateway serves what stands in `console/build`, so that rendering never shares a thread with streams. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [
    tailwindcss(),
    sveltekit({
      adapter: adapter({
        pages: "console/build",
        assets: "console/build",
        fallback: "index.html",
        precompress: true,
      }),
      paths: { relative: false },
    }),
  ],
  environments: { client: { build: { rolldownOptions: { output } } } },
  server: { proxy: { "/trpc": gateway, "/graphql": gateway, "/v1": gateway, "/openapi.json": gateway } },
});
