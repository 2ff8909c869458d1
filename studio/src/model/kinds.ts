import type { JsonObject, NodeDefinition, NodeKind } from '../api/types';
import { oneLine, plural } from './format';
import { waitingText } from './waiting';

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
  command: { label: 'Command', about: 'Sends a command to a program, a database or a service' },
  ask: { label: 'Question', about: 'Asks a person and waits for the answer' },
  wait: { label: 'Wait', about: 'Waits for a while or until a time, also across restarts' },
  branch: { label: 'Branch', about: 'A branch of a parallel node' },
  start: { label: 'Start', about: 'Where the workflow begins, with the request' },
  end: { label: 'End', about: 'Where the workflow ends, with the response' },
  'mcp-call': { label: 'The call', about: 'What the workflow is put around' },
  hook: { label: 'Hook', about: 'A script that may change, stop or answer the request' },
  task: { label: 'Task', about: 'What the agent does, by its prompt and its tools' },
  decision: { label: 'Decision', about: 'Where the agent chooses how to go on' },
  todo: { label: 'Plan', about: 'The agent wrote down what is to be done' },
  invalid: { label: 'Not readable', about: 'The file does not say what this node does' },
};

/** A word for a kind; what is not known has its own. */
export const kindOf = (word: string): NodeKind => (word in KINDS ? (word as NodeKind) : 'task');

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

/** What an `ask` node asks: its text, or the expression that gives it. */
export function messageOf(node: NodeDefinition): string {
  const text = typeof node.message === 'string' ? node.message : object(node.message)?.expr;
  return typeof text === 'string' ? text : '';
}

/** What a node does, in the second line of its card. */
export function summary(node: NodeDefinition | undefined): string {
  if (!node) return '';
  if (typeof node.description === 'string') return oneLine(node.description);
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
    case 'command':
      return commandText(object(node.command));
    case 'ask':
      return oneLine(messageOf(node));
    case 'wait':
      return oneLine(waitingText(node));
    case 'hook':
      return hookText(object(node.hook));
    case 'start':
      return 'request';
    case 'mcp-call':
      return 'request → response';
    case 'end':
      return 'response';
    default:
      return String(node.type);
  }
}

/** What is sent, as far as it fits into a line. */
function commandText(command: JsonObject | null): string {
  const sent = command?.template ?? command?.url ?? command?.argv;
  if (Array.isArray(sent)) return sent.join(' ');
  return oneLine(typeof sent === 'string' ? sent : command?.build_sql ? 'SELECT …' : '');
}

function hookText(hook: JsonObject | null): string {
  const module = hook?.module ?? hook?.hookModuleId;
  const code = typeof module === 'string' ? `module ${module}` : String(hook?.script ?? '');
  const first = code.trim() === '' ? 'no script yet' : oneLine(code);
  return hook?.blocking === false ? `not waited for · ${first}` : first;
}
