export { Toaster } from "svelte-sonner";
