import type { GraphLink, GraphView, PlacedNode } from '../api/types';

/**
 * Where the text at an edge that leads down stands on its way to the next card or bend, across and
 * down: nearer to its end, where edges of the same card are further from each other.
 */
export const LABEL_AT = { across: 0.84, down: 0.7 };

/** The most room a text has, the least, and what is left free between two, in units of the canvas. */
const MOST = 190;
const LEAST = 36;
const GAP = 6;

/** How wide the text at each edge may be without reaching those of the same card beside it. */
export function roomsOf(
  { nodes, links }: Pick<GraphView, 'nodes' | 'links'>,
  off: (link: GraphLink) => number,
): Map<GraphLink, number> {
  const cards = new Map(nodes.map((node) => [node.key, node]));
  const middle = ({ x, width }: PlacedNode) => x + width / 2;
  const rooms = new Map<GraphLink, number>();
  const byCard = new Map<string, { link: GraphLink; x: number }[]>();
  for (const link of links) {
    const [from, to] = [cards.get(link.from), cards.get(link.to)];
    if (link.kind === 'next' || link.back || !from || !to) continue;
    const start = middle(from) + off(link);
    const end = link.bends[0]?.[0] ?? middle(to) + off(link);
    const places = byCard.get(link.from) ?? [];
    places.push({ link, x: start + (end - start) * LABEL_AT.across });
    byCard.set(link.from, places);
  }
  for (const places of byCard.values()) {
    places.sort((a, b) => a.x - b.x);
    places.forEach(({ link, x }, at) => {
      const beside = [places[at - 1], places[at + 1]].filter((place) => place !== undefined);
      const nearest = Math.min(MOST + GAP, ...beside.map((other) => Math.abs(other.x - x)));
      rooms.set(link, Math.max(LEAST, nearest - GAP));
    });
  }
  return rooms;
}
