import type { JsonObject, NodeDefinition, NodeKind } from '../api/types';
import { oneLine, plural } from './format';

/** What people are told about a kind of node. */
export interface KindInfo {
  label: string;
  /** What it does, in one line. */
  about: string;
}

export const KINDS: Record<NodeKind, KindInfo> = {
  entry: { label: 'Entry', about: 'Where the tool starts; its output is the arguments' },
  exit: { label: 'Exit', about: 'Where the tool ends, with the last output as its result' },
  transform: { label: 'Transform', about: 'Computes its output with JSONata' },
  switch: { label: 'Switch', about: 'Chooses where to go by rules in JSON Logic' },
  mcp: { label: 'Call', about: 'Calls a tool of an upstream server' },
  foreach: { label: 'For each', about: 'Runs its nodes once for each item' },
  parallel: { label: 'Parallel', about: 'Runs its branches side by side and waits for all' },
  graph: { label: 'Sub-graph', about: 'Calls another tool of this file' },
  branch: { label: 'Branch', about: 'A branch of a parallel node' },
  invalid: { label: 'Not readable', about: 'The file does not say what this node does' },
};

/** The kinds a person can add. */
export const ADDABLE: NodeKind[] = [
  'transform',
  'mcp',
  'switch',
  'foreach',
  'parallel',
  'graph',
  'entry',
  'exit',
];

const object = (value: unknown): JsonObject | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : null;

/** The expression of a `transform` or the items of a `foreach`. */
export function expressionOf(node: NodeDefinition): string | null {
  const holder = node.type === 'foreach' ? node.items : object(node.transform)?.expr;
  const text = typeof holder === 'string' ? holder : object(holder)?.expr;
  return typeof text === 'string' ? text : null;
}

/** What a node does, in the second line of its card. */
export function summary(node: NodeDefinition | undefined): string {
  if (!node) return '';
  switch (node.type) {
    case 'entry':
      return 'arguments';
    case 'exit':
      return 'result';
    case 'transform':
      return oneLine(expressionOf(node) ?? '');
    case 'switch': {
      const conditions = Array.isArray(node.conditions) ? node.conditions : [];
      const rules = conditions.filter((condition) => object(condition)?.rule !== undefined);
      return plural(rules.length, 'rule');
    }
    case 'mcp':
      return `${node.server ?? '?'} · ${node.tool ?? '?'}`;
    case 'graph':
      return `${node.tool ?? '?'}`;
    case 'foreach':
      return `${String(node.as ?? 'item')} in ${oneLine(expressionOf(node) ?? '')}`;
    case 'parallel':
      return plural(Object.keys(object(node.branches) ?? {}).length, 'branch', 'branches');
    default:
      return String(node.type);
  }
}
