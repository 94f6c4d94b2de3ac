import adapter from "@sveltejs/adapter-static";
import { sveltekit } from "@sveltejs/kit/vite";
import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";

/** Where `npm run dev` has the gateway. */
const gateway = "http://127.0.0.1:8080";

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
  server: { proxy: { "/trpc": gateway, "/graphql": gateway, "/v1": gateway, "/openapi.json": gateway } },
});
