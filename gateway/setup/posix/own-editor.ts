/** Writes the operations, which are the whole file, and inserts the key. */
export const ownEditor = String.raw`
BEGIN {
  while ((getline line < operations) > 0) print fill_key(line)
}`;
