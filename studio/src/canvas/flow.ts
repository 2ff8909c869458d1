import type { Edge, Node } from '@xyflow/react';
import type { GraphLink, GraphView, NodeDefinition, PlacedNode } from '../api/types';
import { allNodes, nodesOf } from '../model/definition';
import type { Grammar } from '../model/grammar';
import { roomsOf } from './labels';

export type CardData = { placed: PlacedNode; node: NodeDefinition | undefined };
export type CardNode = Node<CardData>;
export type LinkData = {
  link: GraphLink;
  /** The number of an arc among those at the side. */
  side: number;
  /** How far it stands off the middle, where several lead from one card to the same other. */
  off: number;
  /** How wide its text may be. */
  room?: number;
};
export type LinkEdge = Edge<LinkData>;

/** What each node says, by its id. A tool that is one command says it itself. */
export function saidById(
  { definition }: GraphView,
  said: Grammar['said'] = (node) => node,
): Map<string, NodeDefinition> {
  const nodes = definition.nodes ? allNodes(nodesOf(definition.nodes)) : [];
  const byId = new Map(nodes.map((node) => [node.id, said(node)]));
  if (definition.command !== undefined) {
    byId.set('command', { id: 'command', type: 'command', command: definition.command });
  }
  return byId;
}

/** The cards of a graph as React Flow wants them. */
export function toNodes(
  view: GraphView,
  said: Grammar['said'] | undefined,
  isFixed: boolean,
): CardNode[] {
  const byId = saidById(view, said);
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
    // What is inside another node has its place there.
    draggable: !isFixed && placed.inside === null,
    ariaLabel: `${placed.kind} ${placed.id}`,
    data: { placed, node: byId.get(placed.id) },
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

/** The room for edges that lead from one card to the same other. */
const TWINS_WIDTH = 180;

export function toEdges(view: GraphView): LinkEdge[] {
  let arcs = 0;
  const pair = ({ from, to }: GraphLink) => `${from}→${to}`;
  const pairs = Map.groupBy(view.links, pair);
  const off = (link: GraphLink) => {
    const twins = pairs.get(pair(link)) ?? [];
    const step = twins.length > 1 ? TWINS_WIDTH / (twins.length - 1) : 0;
    return step * twins.indexOf(link) - (twins.length > 1 ? TWINS_WIDTH / 2 : 0);
  };
  const rooms = roomsOf(view, off);
  return view.links.map((link) => ({
    id: linkId(link),
    source: link.from,
    target: link.to,
    type: 'link',
    ariaLabel: `from ${link.from} to ${link.to}`,
    data: { link, side: link.back ? arcs++ : 0, off: off(link), room: rooms.get(link) },
    zIndex: 1,
  }));
}
