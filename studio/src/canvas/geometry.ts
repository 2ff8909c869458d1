/** A place on the canvas. */
export type Point = [number, number];

export interface Route {
  path: string;
  /** Where a text at the edge stands. */
  label: Point;
}

/** An edge from the bottom of a card to the top of another, past the places it has to pass. */
export function downward(from: Point, to: Point, bends: Point[]): Route {
  const points = [from, ...bends, to];
  let path = `M ${from[0]} ${from[1]}`;
  for (let index = 1; index < points.length; index += 1) {
    const [x0, y0] = points[index - 1] ?? from;
    const [x1, y1] = points[index] ?? to;
    const middle = (y0 + y1) / 2;
    path += ` C ${x0} ${middle}, ${x1} ${middle}, ${x1} ${y1}`;
  }
  // Near the beginning, where edges of the same card have not met others yet.
  const [x1, y1] = points[1] ?? to;
  return { path, label: [from[0] + (x1 - from[0]) * 0.5, from[1] + (y1 - from[1]) * 0.5] };
}

/** How far an arc stands off the cards it goes around, and one arc off the next. */
const ARC = 44;
const ARC_STEP = 22;

/** An edge that leads back: out of the right side of a card, up, and into the right side of another. */
export function sideArc(from: Point, to: Point, number: number): Route {
  const x = Math.max(from[0], to[0]) + ARC + number * ARC_STEP;
  const bow = Math.min(28, Math.abs(from[1] - to[1]) / 2 + 8);
  const up = from[1] >= to[1] ? -1 : 1;
  const path =
    `M ${from[0]} ${from[1]} L ${x - bow} ${from[1]}` +
    ` Q ${x} ${from[1]}, ${x} ${from[1] + up * bow}` +
    ` L ${x} ${to[1] - up * bow}` +
    ` Q ${x} ${to[1]}, ${x - bow} ${to[1]} L ${to[0]} ${to[1]}`;
  return { path, label: [x, (from[1] + to[1]) / 2] };
}
