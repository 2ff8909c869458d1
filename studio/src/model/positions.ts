import type { GraphDefinition, PlacedNode } from '../api/types';
import { nodesOf, setMember } from './definition';

export interface Place {
  x: number;
  y: number;
}

type Box = Place & { width: number; height: number };

/** The space to a card that was in the way. */
const GAP = 24;

/** The place itself, or the first on its right where a card lies on no other. */
export function firstFree(wanted: Box, others: Box[]): Place {
  const isBeside = (other: Box) =>
    other.y < wanted.y + wanted.height && wanted.y < other.y + other.height;
  let { x } = wanted;
  for (const other of others.filter(isBeside).sort((a, b) => a.x - b.x)) {
    if (other.x < x + wanted.width && x < other.x + other.width) x = other.x + other.width + GAP;
  }
  return { x, y: wanted.y };
}

/**
 * The definition with a node at a place. Editors that keep edges keep the place of every node, so
 * there all get the one at which they are shown.
 */
export function placed(
  definition: GraphDefinition,
  shown: PlacedNode[],
  id: string,
  at: Place,
): GraphDefinition {
  const isWhole = Array.isArray(definition.edges);
  const outer = shown.filter((node) => node.inside === null);
  const others = outer.filter((node) => node.id !== id && (isWhole || node.pinned));
  const moved = outer.find((node) => node.id === id);
  if (!moved) return definition;
  const places = new Map<string, Place>(isWhole ? others.map((node) => [node.id, node]) : []);
  places.set(id, firstFree({ ...moved, ...at }, others));
  const nodes = nodesOf(definition.nodes).map((node) => {
    const place = places.get(node.id);
    return place ? { ...node, position: { x: place.x, y: place.y } } : node;
  });
  return { ...definition, nodes };
}

/** The definition with the layout left to the server: of one node, or of all. */
export function unplaced(definition: GraphDefinition, id?: string): GraphDefinition {
  const nodes = nodesOf(definition.nodes).map((node) =>
    id === undefined || node.id === id ? setMember(node, 'position', undefined) : node,
  );
  return { ...definition, nodes };
}
