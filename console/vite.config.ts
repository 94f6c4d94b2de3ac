import adapter from "@sveltejs/adapter-static";
import { sveltekit } from "@sveltejs/kit/vite";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";

/** The gateway's URL for `npm run dev`. */
const gateway = "http://127.0.0.1:8080";

/** Modules that three pages share form one file. Separate files would start a key's page with 71 requests. */
const shared = {
  name: "parts",
  test: /src.lib/,
  minShareCount: 3,
  // SvelteKit's own groups come first.
  priority: -1,
};

/** The navigation alone has six icons that one other page uses. */
const icons = { name: "icons", test: /@lucide.*icons/, minShareCount: 2, priority: -1 };

const output = {
  codeSplitting: { groups: [shared, icons] },
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
