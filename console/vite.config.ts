import adapter from "@sveltejs/adapter-static";
import { sveltekit } from "@sveltejs/kit/vite";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";

/** The URL of the gateway that `npm run dev` starts. */
const gateway = "http://127.0.0.1:8080";

/** Groups the code that several pages share. Without groups, a key's page would start with 71 requests. */
const everywhere = {
  name: "parts",
  test: /src.lib.(shell|session|entrance|when-idle)|@tanstack|@lucide.*icons/,
  minShareCount: 2,
};
/** Without what only some pages need: overlays, lists, limits, and the choice of models. */
const shared = {
  name: "parts",
  test: /src.lib.(?!ui.overlays.[A-Zo]|ui.(ListPage|DataTable|create-list|columns|Filter|Search)|limits|people|keys.[Mm]odel|overview.Budget)/,
  minShareCount: 3,
};

/** The chunk of everything that opens above a page, such as menus. The chunk loads after the page. */
const overlays = { name: "overlays", test: /lib.ui.overlays|node_modules.bits-ui/, priority: -2 };

const output = {
  codeSplitting: { groups: [everywhere, shared, overlays].map((group) => ({ priority: -1, ...group })) },
  // Modules must run in order, because SvelteKit's runtime reads the page's data as soon as the runtime starts.
  strictExecutionOrder: true,
};

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
