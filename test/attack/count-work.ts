/**
 * Counts the bytes that this process parses, writes as JSON and joins while `run` runs. Callers must be serial
 * tests, with the gateway in this process.
 */
export async function countWork<Result>(
  run: () => Promise<Result>,
): Promise<{ result: Result; workBytes: number }> {
  const { parse, stringify } = JSON;
  const { concat } = Buffer;
  let workBytes = 0;
  JSON.parse = (...given: Parameters<typeof parse>): unknown => {
    workBytes += given[0].length;
    return parse(...given) as unknown;
  };
  JSON.stringify = ((...given: Parameters<typeof stringify>) => {
    const text = stringify(...given) as string | undefined;
    workBytes += text?.length ?? 0;
    return text;
  }) as typeof stringify;
  Buffer.concat = (...given: Parameters<typeof concat>) => {
    const joined = concat(...given);
    workBytes += joined.length;
    return joined;
  };
  try {
    return { result: await run(), workBytes };
  } finally {
    Object.assign(JSON, { parse, stringify });
    Object.assign(Buffer, { concat });
  }
}
