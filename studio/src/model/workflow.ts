import type { GraphDefinition, GraphLink, Json, JsonObject, NodeDefinition } from '../api/types';
import { type Connection, freshId, isObject, nodesOf, setMember } from './definition';
import { connectSwitch, disconnectSwitch, redirectSwitch, usualDialect } from './switch';

/** What says what a node does; editors keep it under `data`. */
const SAID = ['hook', 'transform', 'conditions'];

/** A node as if it said everything itself, whichever way it is written. */
export function said(node: NodeDefinition): NodeDefinition {
  if (!isObject(node.data)) return node;
  const inner: JsonObject = {};
  for (const key of SAID) if (node.data[key] !== undefined) inner[key] = node.data[key];
  return { ...inner, ...node };
}

/** The node with what it says changed, in the place where it was written. */
export function written(node: NodeDefinition, changed: NodeDefinition): NodeDefinition {
  const data = isObject(node.data) ? node.data : null;
  if (!data) return changed;
  let own: NodeDefinition = changed;
  const inner: JsonObject = { ...data };
  for (const key of SAID) {
    if (node[key] !== undefined || changed[key] === undefined) continue;
    inner[key] = changed[key];
    own = setMember(own, key, undefined);
  }
  return { ...own, data: inner };
}

const edgesOf = (workflow: GraphDefinition): JsonObject[] | null =>
  Array.isArray(workflow.edges) ? workflow.edges.filter(isObject) : null;

const names = (next: Json | undefined): string[] =>
  (Array.isArray(next) ? next : [next]).filter((name) => typeof name === 'string');

function mapNodes(
  workflow: GraphDefinition,
  change: (node: NodeDefinition) => NodeDefinition,
): GraphDefinition {
  return { ...workflow, nodes: nodesOf(workflow.nodes).map(change) };
}

function mapNode(
  workflow: GraphDefinition,
  id: string,
  change: (node: NodeDefinition) => NodeDefinition,
): GraphDefinition {
  return mapNodes(workflow, (node) => (node.id === id ? written(node, change(said(node))) : node));
}

/** The workflow with another definition of a node. */
export function setNode(workflow: GraphDefinition, changed: NodeDefinition): GraphDefinition {
  return mapNode(workflow, changed.id, () => changed);
}

/** Where a node leads, apart from the rules of a switch. */
export function targetsOf(workflow: GraphDefinition, id: string): string[] {
  const node = nodesOf(workflow.nodes).find((known) => known.id === id);
  const edges = (edgesOf(workflow) ?? []).filter((edge) => edge.source === id);
  return [...names(node?.next), ...edges.flatMap((edge) => names(edge.target))];
}

/** An edge more, written as the others are. */
function addEdge(workflow: GraphDefinition, from: string, to: string): GraphDefinition {
  if (targetsOf(workflow, from).includes(to)) return workflow;
  const edges = edgesOf(workflow);
  if (edges) {
    const edge = { id: `${from}-${to}`, source: from, target: to };
    return { ...workflow, edges: [...edges, edge] };
  }
  return mapNodes(workflow, (node) => {
    if (node.id !== from) return node;
    const all = [...names(node.next), to];
    return { ...node, next: all.length === 1 ? to : all };
  });
}

function removeEdge(workflow: GraphDefinition, from: string, to: string): GraphDefinition {
  const edges = edgesOf(workflow);
  const without = mapNodes(workflow, (node) => {
    if (node.id !== from || !names(node.next).includes(to)) return node;
    const { next, ...rest } = node;
    const left = names(next).filter((name) => name !== to);
    const [only] = left;
    if (only === undefined) return rest as NodeDefinition;
    return { ...node, next: left.length === 1 ? only : left };
  });
  if (!edges) return without;
  const kept = edges.filter((edge) => edge.source !== from || edge.target !== to);
  return { ...without, edges: kept };
}

/** What a new node of a kind says before anybody has filled it in. */
export function template(workflow: GraphDefinition, type: string): NodeDefinition {
  const id = freshId(workflow, type);
  const said: Record<string, JsonObject> = {
    hook: { hook: { script: '', blocking: true } },
    transform: { transform: { expr: '{}' } },
    switch: { conditions: [] },
  };
  const inner = said[type] ?? {};
  // Editors keep a label, which can be anything.
  return edgesOf(workflow) ? { id, type, data: { label: id, ...inner } } : { id, type, ...inner };
}

/** The workflow with a new node: between `after` and where that leads first, or unconnected. */
export function addNode(
  workflow: GraphDefinition,
  node: NodeDefinition,
  after: string | null,
): GraphDefinition {
  const nodes = nodesOf(workflow.nodes);
  const at = nodes.findIndex((known) => known.id === after);
  const before = nodes[at];
  const added: GraphDefinition = {
    ...workflow,
    nodes: [
      ...nodes.slice(0, at < 0 ? nodes.length : at + 1),
      node,
      ...nodes.slice(at < 0 ? nodes.length : at + 1),
    ],
  };
  if (!before || before.type === 'switch' || before.type === 'end') return added;
  const [follows] = targetsOf(workflow, before.id);
  const cut = follows === undefined ? added : removeEdge(added, before.id, follows);
  const led = addEdge(cut, before.id, node.id);
  if (follows === undefined) return led;
  return node.type === 'switch'
    ? connect(led, node.id, follows, 'otherwise')
    : addEdge(led, node.id, follows);
}

export function connect(
  workflow: GraphDefinition,
  from: string,
  to: string,
  as: Connection,
): GraphDefinition {
  const node = nodesOf(workflow.nodes).find((known) => known.id === from);
  if (node?.type !== 'switch') return addEdge(workflow, from, to);
  const dialect = usualDialect(nodesOf(workflow.nodes).map(said));
  const way = as === 'rule' ? 'rule' : 'otherwise';
  return mapNode(workflow, from, (known) => connectSwitch(known, to, way, dialect));
}

export function disconnect(workflow: GraphDefinition, link: GraphLink): GraphDefinition {
  if (link.kind === 'next') return removeEdge(workflow, link.from, link.to);
  return mapNode(workflow, link.from, (node) => disconnectSwitch(node, link));
}

/** The workflow without a node: what led to it leads to where it led first. */
export function removeNode(workflow: GraphDefinition, id: string): GraphDefinition {
  const onwards = targetsOf(workflow, id).find((target) => target !== id);
  let changed = workflow;
  for (const node of nodesOf(workflow.nodes)) {
    if (!targetsOf(workflow, node.id).includes(id)) continue;
    changed = removeEdge(changed, node.id, id);
    if (onwards !== undefined) changed = addEdge(changed, node.id, onwards);
  }
  for (const target of targetsOf(workflow, id)) changed = removeEdge(changed, id, target);
  const kept = nodesOf(changed.nodes)
    .filter((node) => node.id !== id)
    .map((node) => written(node, redirectSwitch(said(node), id, onwards)));
  return { ...changed, nodes: kept };
}
