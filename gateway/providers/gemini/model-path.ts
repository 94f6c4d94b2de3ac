/** Where a model is below the base URL. Google writes its name with `models/` in front and without. */
export function modelPath(name: string): string {
  return `/models/${encodeURIComponent(bareModelName(name).toWellFormed())}`;
}

export function bareModelName(name: string): string {
  return name.replace(/^models\//, "");
}
