import type {
  GraphDefinition,
  GraphLink,
  Json,
  JsonObject,
  LinkKind,
  NodeDefinition,
} from '../api/types';
import { isObject } from './schema';
import {
  conditionsOf,
  connectSwitch,
  disconnectSwitch,
  redirectSwitch,
  usualDialect,
  waysOf,
  withWays,
} from './switch';

/** How a node is to be connected with another. */
export type Connection = Exclude<LinkKind, 'case' | 'worded'> | 'rule';

export { conditionsOf, isObject };

export const nodesOf = (value: Json | undefined): NodeDefinition[] =>
  Array.isArray(value) ? (value as NodeDefinition[]) : [];

/** The lists of nodes inside a node. */
function inner(node: NodeDefinition): NodeDefinition[][] {
  const branches = isObject(node.branches) ? Object.values(node.branches) : [];
  return [node.body, ...branches].map(nodesOf).filter((nodes) => nodes.length > 0);
}

/** Every node, those inside others after them. */
export function allNodes(nodes: NodeDefinition[]): NodeDefinition[] {
  return nodes.flatMap((node) => [node, ...inner(node).flatMap(allNodes)]);
}

export function findNode(tool: GraphDefinition, id: string): NodeDefinition | undefined {
  return allNodes(nodesOf(tool.nodes)).find((node) => node.id === id);
}

export const nodeIds = ({ nodes, command }: GraphDefinition): string[] =>
  command === undefined ? allNodes(nodesOf(nodes)).map((node) => node.id) : ['command'];

/** The nodes that a graph has not any more. */
export function gone(before: GraphDefinition, after: GraphDefinition): string[] {
  const left = new Set(nodeIds(after));
  return nodeIds(before).filter((id) => !left.has(id));
}

/** Whether two graphs say the same. */
export const nothingOther = (a: GraphDefinition, b: GraphDefinition): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b);

/** The list that a node belongs to. */
export function siblings(tool: GraphDefinition, id: string): NodeDefinition[] {
  const search = (nodes: NodeDefinition[]): NodeDefinition[] | null => {
    if (nodes.some((node) => node.id === id)) return nodes;
    for (const node of nodes) {
      for (const list of inner(node)) {
        const found = search(list);
        if (found) return found;
      }
    }
    return null;
  };
  return search(nodesOf(tool.nodes)) ?? [];
}

/** The tool with every list of nodes changed, from the inside out. */
function mapLists(
  tool: GraphDefinition,
  change: (nodes: NodeDefinition[]) => NodeDefinition[],
): GraphDefinition {
  const list = (nodes: NodeDefinition[]): NodeDefinition[] => change(nodes.map(within));
  const within = (node: NodeDefinition): NodeDefinition => {
    const copy: NodeDefinition = { ...node };
    if (Array.isArray(node.body)) copy.body = list(nodesOf(node.body));
    if (isObject(node.branches)) {
      const branches = Object.entries(node.branches);
      copy.branches = Object.fromEntries(
        branches.map(([name, nodes]) => [name, list(nodesOf(nodes))]),
      );
    }
    return copy;
  };
  return { ...tool, nodes: list(nodesOf(tool.nodes)) };
}

function mapNode(
  tool: GraphDefinition,
  id: string,
  change: (node: NodeDefinition) => NodeDefinition,
): GraphDefinition {
  return mapLists(tool, (nodes) => nodes.map((node) => (node.id === id ? change(node) : node)));
}

/** The tool with another definition of a node. */
export function setNode(tool: GraphDefinition, node: NodeDefinition): GraphDefinition {
  return mapNode(tool, node.id, () => node);
}

/** The member without a value is left out. */
export function setMember<T extends JsonObject>(node: T, key: string, value: Json | undefined): T {
  const { [key]: _, ...rest } = node;
  if (value === undefined) return rest as T;
  return { ...node, [key]: value };
}

/** A name that no node of the tool has. */
export function freshId(tool: GraphDefinition, base: string): string {
  const taken = new Set(allNodes(nodesOf(tool.nodes)).map((node) => node.id));
  if (!taken.has(base)) return base;
  let number = 2;
  while (taken.has(`${base}_${number}`)) number += 1;
  return `${base}_${number}`;
}

/**
 * What a new node of a kind says before anybody has filled it in. What only a person can know is
 * left open: until it is said, the file has an error and is not saved.
 */
export function template(tool: GraphDefinition, type: string, server?: string): NodeDefinition {
  const id = (base: string) => freshId(tool, base);
  switch (type) {
    case 'transform':
      return { id: id('transform'), type, transform: { expr: '$' } };
    case 'mcp':
      return { id: id('call'), type, server: server ?? '', tool: '', args: {} };
    case 'switch':
      return { id: id('switch'), type, conditions: [] };
    case 'foreach': {
      const body = [{ id: id('each'), type: 'transform', transform: { expr: 'item' } }];
      return { id: id('foreach'), type, items: { expr: '[]' }, body };
    }
    case 'parallel': {
      const branch = (name: string) => [
        { id: id(name), type: 'transform', transform: { expr: '$' } },
      ];
      return {
        id: id('parallel'),
        type,
        branches: { left: branch('left'), right: branch('right') },
      };
    }
    case 'graph':
      return { id: id('graph'), type, tool: '', args: {} };
    case 'command':
      return { id: id('command'), type, command: { template: '' }, args: {} };
    case 'ask':
      return { id: id('ask'), type, message: 'Shall it go on?' };
    case 'wait':
      return { id: id('wait'), type, duration: '1m' };
    default:
      return { id: id(type), type };
  }
}

/** The tool with a new node: between `after` and where that leads, or at the end. */
export function addNode(
  tool: GraphDefinition,
  node: NodeDefinition,
  after: string | null,
): GraphDefinition {
  const before = after ? findNode(tool, after) : undefined;
  const splits = before && before.type !== 'switch' && before.type !== 'exit';
  const follows = splits && typeof before.next === 'string' ? before.next : undefined;
  const leads = node.type !== 'exit' && node.type !== 'switch' && follows !== undefined;
  // A switch goes on to where the node before it led, said as the other switches say it.
  const dialect = usualDialect(allNodes(nodesOf(tool.nodes)));
  const added = leads
    ? { ...node, next: follows }
    : node.type === 'switch' && follows !== undefined
      ? withWays(node, { rules: [], otherwise: follows }, dialect)
      : node;
  if (!before) return { ...tool, nodes: [...nodesOf(tool.nodes), added] };
  return mapLists(tool, (nodes) => {
    const at = nodes.findIndex((known) => known.id === before.id);
    if (at < 0) return nodes;
    const linked = nodes.map((known) =>
      splits && known.id === before.id ? { ...known, next: node.id } : known,
    );
    return [...linked.slice(0, at + 1), added, ...linked.slice(at + 1)];
  });
}

/** The keys that name who takes over when a node does not go on as planned. */
const HANDLERS: Partial<Record<Connection, string>> = {
  error: 'onError',
  declined: 'onDecline',
  unanswered: 'onTimeout',
};

/** The tool with an edge more. */
export function connect(
  tool: GraphDefinition,
  from: string,
  to: string,
  as: Connection,
): GraphDefinition {
  return mapNode(tool, from, (node) => {
    const handler = HANDLERS[as];
    if (handler) return { ...node, [handler]: to };
    if (node.type !== 'switch') return { ...node, next: to };
    const dialect = usualDialect(allNodes(nodesOf(tool.nodes)));
    return connectSwitch(node, to, as === 'rule' ? 'rule' : 'otherwise', dialect);
  });
}

/** What dragging from a node to another means. */
export function usualConnection(node: NodeDefinition | undefined): Connection {
  if (node?.type !== 'switch') return 'next';
  return waysOf(node).otherwise ? 'rule' : 'otherwise';
}

/** The tool without an edge. */
export function disconnect(tool: GraphDefinition, link: GraphLink): GraphDefinition {
  return mapNode(tool, link.from, (node) => {
    switch (link.kind) {
      case 'error':
      case 'declined':
      case 'unanswered':
        return setMember(node, HANDLERS[link.kind] ?? 'onError', undefined);
      case 'next':
        return setMember(node, 'next', undefined);
      case 'case':
      case 'otherwise':
        return disconnectSwitch(node, link);
      case 'worded':
        return node;
    }
  });
}

/** The tool without a node: what led to it leads to where it led. */
export function removeNode(tool: GraphDefinition, id: string): GraphDefinition {
  const next = findNode(tool, id)?.next;
  const onwards = typeof next === 'string' && next !== id ? next : undefined;
  const redirected = (node: NodeDefinition): NodeDefinition => {
    let changed = node;
    for (const key of ['next', ...Object.values(HANDLERS)]) {
      if (node[key] === id) changed = setMember(changed, key, onwards);
    }
    return redirectSwitch(changed, id, onwards);
  };
  return mapLists(tool, (nodes) => nodes.filter((node) => node.id !== id).map(redirected));
}

/** The pointer to a node in its definition. */
export function pointerTo(tool: GraphDefinition, id: string): string | null {
  const search = (nodes: NodeDefinition[], at: string): string | null => {
    for (const [index, node] of nodes.entries()) {
      const here = `${at}/${index}`;
      if (node.id === id) return here;
      const branches = isObject(node.branches) ? Object.entries(node.branches) : [];
      const lists: [string, Json | undefined][] = [
        ['body', node.body],
        ...branches.map(([name, list]): [string, Json] => [`branches/${escaped(name)}`, list]),
      ];
      for (const [name, list] of lists) {
        const found = search(nodesOf(list), `${here}/${name}`);
        if (found) return found;
      }
    }
    return null;
  };
  return search(nodesOf(tool.nodes), '/nodes');
}

const escaped = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1');

/** The node that a pointer of a problem is about. */
export function nodeAt(tool: GraphDefinition, pointer: string): string | null {
  let place: Json | undefined = tool;
  let found: string | null = null;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(place)) place = place[Number(key)];
    else if (isObject(place)) place = place[key];
    else break;
    if (isObject(place) && typeof place.id === 'string' && typeof place.type === 'string') {
      found = place.id;
    }
  }
  return found;
}
