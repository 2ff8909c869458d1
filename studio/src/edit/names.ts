import type { ToolDefinition } from '../api/types';
import { allNodes } from '../model/definition';

const HISTORY = [
  '$previousNode()',
  '$executionCount("")',
  '$nodeExecution("", -1)',
  '$nodeExecutions("")',
];

/** What expressions of a tool can read. */
export function namesOf(tool: ToolDefinition): { label: string; detail: string }[] {
  const nodes = allNodes(tool.nodes).filter(
    (node) => node.type !== 'switch' && node.type !== 'exit',
  );
  return [
    ...nodes.map((node) => ({ label: `$.${node.id}`, detail: String(node.type) })),
    ...HISTORY.map((label) => ({ label, detail: 'history' })),
  ];
}
