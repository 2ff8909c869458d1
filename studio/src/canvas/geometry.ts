import { LABEL_AT } from './labels';

/** A place on the canvas. */
export type Point = [number, number];

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Route {
  path: string;
  /** Where a text at the edge stands. */
  label: Point;
  /** The three corners of the arrow head. */
  head: Point[];
}

/** The length of an arrow head, before which the line ends, and half its width. */
const HEAD = 8;
const HEAD_SIDE = 5;

/** The head of an arrow at a place, coming from a direction. */
function headAt([x, y]: Point, [dx, dy]: Point): Point[] {
  const [bx, by] = [x - dx * HEAD, y - dy * HEAD];
  return [
    [bx - dy * HEAD_SIDE, by - dx * HEAD_SIDE],
    [bx + dy * HEAD_SIDE, by + dx * HEAD_SIDE],
    [x, y],
  ];
}

/**
 * How an edge goes from one card to another: down from the one to the top of the other, across
 * from side to side where they stand beside each other, or in an arc where it leads back up.
 */
export function routeOf(
  from: Box,
  to: Box,
  back: number | null,
  bends: Point[],
  off: number,
): Route {
  if (back !== null) return sideArc(from, to, back);
  if (to.y >= from.y + from.height) return downward(from, to, bends, off);
  if (to.x >= from.x + from.width || to.x + to.width <= from.x) return across(from, to);
  return sideArc(from, to, 0);
}

/** From the bottom of a card to the top of another, past the places it has to pass. */
function downward(from: Box, to: Box, bends: Point[], off: number): Route {
  const start: Point = [from.x + from.width / 2 + off, from.y + from.height];
  const tip: Point = [to.x + to.width / 2 + off, to.y - 1];
  const points = [start, ...bends, [tip[0], tip[1] - HEAD + 2] as Point];
  let path = `M ${start[0]} ${start[1]}`;
  for (let index = 1; index < points.length; index += 1) {
    const [x0, y0] = points[index - 1] ?? start;
    const [x1, y1] = points[index] ?? tip;
    const middle = (y0 + y1) / 2;
    path += ` C ${x0} ${middle}, ${x1} ${middle}, ${x1} ${y1}`;
  }
  // Before the first bend, where edges of the same card have not met others yet.
  const [x1, y1] = points[1] ?? tip;
  const { across, down } = LABEL_AT;
  const label: Point = [start[0] + (x1 - start[0]) * across, start[1] + (y1 - start[1]) * down];
  return { path, label, head: headAt(tip, [0, 1]) };
}

/** From the side of a card to the side of another that stands beside it, or above beside it. */
function across(from: Box, to: Box): Route {
  const way = to.x >= from.x + from.width ? 1 : -1;
  const start: Point = [way > 0 ? from.x + from.width : from.x, from.y + from.height / 2];
  const tip: Point = [way > 0 ? to.x - 1 : to.x + to.width + 1, to.y + to.height / 2];
  const end: Point = [tip[0] - way * (HEAD - 2), tip[1]];
  const middle = (start[0] + end[0]) / 2;
  const path = `M ${start[0]} ${start[1]} C ${middle} ${start[1]}, ${middle} ${end[1]}, ${end[0]} ${end[1]}`;
  return { path, label: [middle, (start[1] + end[1]) / 2], head: headAt(tip, [way, 0]) };
}

/** How far an arc stands off the cards it goes around, and one arc off the next. */
const ARC = 44;
const ARC_STEP = 22;

/** Out of the right side of a card, up, and into the right side of another. */
function sideArc(from: Box, to: Box, number: number): Route {
  // An edge to the card itself needs two places at its side.
  const start: Point = [from.x + from.width, from.y + from.height * 0.66];
  const tip: Point = [to.x + to.width + 1, to.y + to.height * 0.34];
  const end: Point = [tip[0] + HEAD - 2, tip[1]];
  const x = Math.max(start[0], end[0]) + ARC + number * ARC_STEP;
  const bow = Math.min(28, Math.abs(start[1] - end[1]) / 2 + 8);
  const up = start[1] >= end[1] ? -1 : 1;
  const path =
    `M ${start[0]} ${start[1]} L ${x - bow} ${start[1]}` +
    ` Q ${x} ${start[1]}, ${x} ${start[1] + up * bow}` +
    ` L ${x} ${end[1] - up * bow}` +
    ` Q ${x} ${end[1]}, ${x - bow} ${end[1]} L ${end[0]} ${end[1]}`;
  return { path, label: [x, (start[1] + end[1]) / 2], head: headAt(tip, [-1, 0]) };
}
