import adapter from "@sveltejs/adapter-static";
import { sveltekit } from "@sveltejs/kit/vite";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";

/** The gateway's URL for `npm run dev`. */
const gateway = "http://127.0.0.1:8080";

/**
 * Icons and small parts that three pages share form one file. Separate files of about 300 bytes would make a
 * key's page start with 71 requests instead of 30.
 */
const sharedParts = {
  name: "parts",
  test: /@lucide.*icons|src.lib.(ui|format)/,
  minShareCount: 3,
  // SvelteKit's own groups come first.
  priority: -1,
};

const output = {
  codeSplitting: { groups: [sharedParts] },
  // SvelteKit's runtime reads the page's data as soon as it starts.
  strictExecutionOrder: true,
};

/** A static app, served by the gateway from `console/build`. Rendering never shares a thread with streams. */
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
  server: {
    proxy: {
      "/trpc": gateway,
      "/graphql": gateway,
      "/v1": gateway,
      "/setup/": gateway,
      "/openapi.json": gateway,
    },
    fs: { allow: ["../gateway/setup"] },
  },
});
