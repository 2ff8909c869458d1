import type { Edge, Node } from '@xyflow/react';
import type { GraphLink, NodeDefinition, PlacedNode, ToolView } from '../api/types';
import { allNodes } from '../model/definition';

export type CardData = { placed: PlacedNode; node: NodeDefinition | undefined; tool: string };
export type CardNode = Node<CardData>;
export type LinkData = { link: GraphLink; side: number };
export type LinkEdge = Edge<LinkData>;

/** The cards of a tool as React Flow wants them. */
export function toNodes(view: ToolView): CardNode[] {
  const byId = new Map(allNodes(view.definition.nodes).map((node) => [node.id, node]));
  return view.nodes.map((placed) => ({
    id: placed.key,
    type: typeOf(placed),
    position: { x: placed.x, y: placed.y },
    // Known sizes spare a measurement, and edges are there with the first picture.
    width: placed.width,
    height: placed.height,
    parentId: placed.inside ?? undefined,
    selectable: placed.kind !== 'branch',
    focusable: placed.kind !== 'branch',
    draggable: false,
    ariaLabel: `${placed.kind} ${placed.id}`,
    data: { placed, node: byId.get(placed.id), tool: view.name },
  }));
}

/** The height of a card without nodes inside it. */
const CARD_HEIGHT = 76;

function typeOf(placed: PlacedNode): string {
  if (placed.kind === 'branch') return 'lane';
  return placed.height > CARD_HEIGHT ? 'container' : 'card';
}

export const linkId = (link: GraphLink): string =>
  `${link.from}→${link.to}:${link.kind}${link.index ?? ''}`;

export function toEdges(view: ToolView): LinkEdge[] {
  let arcs = 0;
  return view.links.map((link) => ({
    id: linkId(link),
    source: link.from,
    target: link.to,
    type: 'link',
    ariaLabel: `from ${link.from} to ${link.to}`,
    data: { link, side: link.back ? arcs++ : 0 },
    zIndex: 1,
  }));
}
