import type { ChartPoint, ChartSeries } from "./chart-series.ts";

/** The left edge and the width of a bar, and the y coordinate of a value, in pixels. */
type Scales = { left: (at: Date) => number; width: number; height: (value: number) => number };

const radiusMax = 4;

/** Returns the stacked bars as one SVG path per series. An element per bar would take 4 times as long to draw. */
export function barPaths(
  points: ChartPoint[],
  series: Pick<ChartSeries, "key">[],
  { left, width, height }: Scales,
): string[] {
  const paths = series.map(() => "");
  for (const point of points) {
    const values = series.map(({ key }) => Number(point[key] ?? 0));
    const top = values.findLastIndex((value) => value > 0);
    let below = 0;
    for (const [index, value] of values.entries()) {
      if (value <= 0) continue;
      const [bottomY, topY] = [height(below), height(below + value)];
      const radius = index === top ? Math.min(radiusMax, width / 2, bottomY - topY) : 0;
      const [x, inner] = [left(point.at), width - 2 * radius];
      const corner = (right: number, down: number) => `a${radius} ${radius} 0 0 1 ${right} ${down}`;
      paths[index] += `M${x} ${bottomY}V${topY + radius}${corner(radius, -radius)}h${inner}`;
      paths[index] += `${corner(radius, radius)}V${bottomY}z`;
      below += value;
    }
  }
  return paths;
}
