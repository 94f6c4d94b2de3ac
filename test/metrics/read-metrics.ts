/** Reads a page in Prometheus text format. Maps each sample, such as `name{label="value"}`, to its value. */
export async function readMetrics(url: string | null): Promise<Map<string, number>> {
  const samples = (await readMetricsPage(url))
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    samples.map((line) => {
      const end = line.lastIndexOf(" ");
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

export async function readMetricsPage(url: string | null): Promise<string> {
  if (url === null) throw new Error("There are no metrics");
  const answer = await fetch(url, { headers: { connection: "close" } });
  if (answer.status !== 200) throw new Error(`The metrics answer ${answer.status}`);
  return answer.text();
}
