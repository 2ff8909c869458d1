import type { PlacedNode } from '../api/types';

/** What is drawn where: a point of the graph is at `x + zoom * its x` of the canvas. */
export interface Sight {
  x: number;
  y: number;
  zoom: number;
}

export interface Size {
  width: number;
  height: number;
}

interface Box extends Size {
  x: number;
  y: number;
}

/** The least zoom at which a graph is shown at first: below it, cards are hard to read. */
export const READABLE = 0.6;

/** What is left free around a graph that is shown as a whole, in parts of it. */
const PADDING = 0.12;

/** What is left free above the entry of a graph that is not, and the part of a card that is seen. */
const ABOVE = 32;
const EDGE = 24;
const HEAD = 38;

/** Where a card is in the graph, whatever it is inside of. */
export function boxOf(nodes: PlacedNode[], key: string): Box | null {
  const byKey = new Map(nodes.map((node) => [node.key, node]));
  const found = byKey.get(key);
  if (!found) return null;
  const box = { x: 0, y: 0, width: found.width, height: found.height };
  for (let at: PlacedNode | undefined = found; at; at = byKey.get(at.inside ?? '')) {
    box.x += at.x;
    box.y += at.y;
  }
  return box;
}

/** What is shown of a graph at first where it cannot be read as a whole: its entry, and on from it. */
export function firstSight(nodes: PlacedNode[], { width, height }: Size): Sight | null {
  const outer = nodes.filter((node) => node.inside === null);
  const [top] = outer.toSorted((a, b) => a.y - b.y);
  const begin = outer.find(({ kind }) => kind === 'entry' || kind === 'start') ?? top;
  if (!begin || width === 0 || height === 0) return null;
  const wide = Math.max(...outer.map((node) => node.x + node.width)) - least(outer, 'x');
  const high = Math.max(...outer.map((node) => node.y + node.height)) - least(outer, 'y');
  const around = 1 + 2 * PADDING;
  if (Math.min(width / (wide * around), height / (high * around)) >= READABLE) return null;
  return {
    zoom: READABLE,
    x: width / 2 - (begin.x + begin.width / 2) * READABLE,
    y: ABOVE - begin.y * READABLE,
  };
}

const least = (nodes: PlacedNode[], key: 'x' | 'y'): number =>
  Math.min(...nodes.map((node) => node[key]));

/** Where the head of a card is, if that is out of sight. */
export function outOfSight(
  box: Box,
  { x, y, zoom }: Sight,
  { width, height }: Size,
): { x: number; y: number } | null {
  const middle = { x: box.x + box.width / 2, y: box.y + Math.min(box.height / 2, HEAD) };
  const [across, down] = [x + middle.x * zoom, y + middle.y * zoom];
  const isInside =
    across >= EDGE && across <= width - EDGE && down >= EDGE && down <= height - EDGE;
  return isInside ? null : middle;
}
