import { tick } from "svelte";
import { reportError } from "../report-error.ts";

export type Overlays = typeof import("./overlays.ts");

/** Loads the controls of bits-ui, a third of the console's scripts. Pages show plain controls until one is used. */
export const loadOverlays = (): Promise<Overlays> => import("./overlays.ts");

/** Replaces a plain control with one of bits-ui that has the same `id`, and moves the focus to it. */
export async function takeOver(id: string, replace: (overlays: Overlays) => void): Promise<void> {
  try {
    replace(await loadOverlays());
  } catch (error) {
    return reportError("Couldn't load the control", error);
  }
  await tick();
  document.getElementById(id)?.focus();
}
