import type { GraphDefinition } from '../api/types';
import { allNodes, nodesOf } from '../model/definition';

const HISTORY = [
  '$previousNode()',
  '$executionCount("")',
  '$nodeExecution("", -1)',
  '$nodeExecutions("")',
];

/** What flows through a workflow. */
const FLOW = ['$.request', '$.response', '$.metadata', '$.variables'];

const SILENT = new Set(['switch', 'exit', 'start', 'end']);

/** What expressions of a tool or a workflow can read. */
export function namesOf(
  graph: GraphDefinition,
  noun: 'tool' | 'workflow' = 'tool',
): { label: string; detail: string }[] {
  const nodes = allNodes(nodesOf(graph.nodes)).filter((node) => !SILENT.has(node.type));
  return [
    ...nodes.map((node) => ({ label: `$.${node.id}`, detail: String(node.type) })),
    ...(noun === 'workflow' ? FLOW : []).map((label) => ({ label, detail: 'flow' })),
    ...HISTORY.map((label) => ({ label, detail: 'history' })),
  ];
}

/** What rules in JSON Logic can read: the same, without the dollar. */
export function variablesOf(
  graph: GraphDefinition,
  noun: 'tool' | 'workflow',
): { label: string; detail: string }[] {
  return namesOf(graph, noun)
    .filter(({ label }) => label.startsWith('$.'))
    .map(({ label, detail }) => ({ label: label.slice(2), detail }));
}

/** What a script finds and may give; see docs/workflows.md. */
export const SCRIPT_NAMES = [
  { label: 'context.request.params.arguments', detail: 'what the tool is called with' },
  { label: 'context.request.params.name', detail: 'the name of the tool' },
  { label: 'context.response', detail: 'after the call' },
  { label: 'context.metadata.clientId', detail: 'who asks' },
  { label: 'context.metadata.serverName', detail: 'of an upstream tool' },
  { label: 'context.metadata.toolName', detail: 'of an upstream tool' },
  { label: 'context.variables', detail: 'what hooks before it gave' },
  { label: 'console.log()', detail: 'into the record' },
  { label: 'sleep()', detail: 'milliseconds' },
  { label: 'fetch()', detail: 'hosts in allowHosts' },
  { label: "return { continue: false, error: { code: '', message: '' } };", detail: 'stop' },
  { label: 'return { request: context.request };', detail: 'another request' },
  { label: 'return { response: context.response };', detail: 'another response' },
  { label: 'return { context: {} };', detail: 'variables' },
];
