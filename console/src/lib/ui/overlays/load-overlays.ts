import { tick } from "svelte";
import { reportError } from "../report-error.ts";

export type Overlays = typeof import("./overlays.ts");

/** Loads the large controls of bits-ui. Each plain control stays until its first use. */
export const loadOverlays = (): Promise<Overlays> => import("./overlays.ts");

/** Replaces a plain control with the bits-ui control of the same `id`, and focuses the new control. */
export async function takeOver(id: string, replace: (overlays: Overlays) => void): Promise<void> {
  try {
    replace(await loadOverlays());
  } catch (error) {
    return reportError("Couldn't load the control", error);
  }
  await tick();
  document.getElementById(id)?.focus();
}
