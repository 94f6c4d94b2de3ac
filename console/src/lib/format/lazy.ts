/** Creates a value on its first use. Creating the first `Intl` object of a page takes more than 10 ms. */
export function lazy<Value>(create: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= create());
}
