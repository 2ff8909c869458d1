import type { Json } from '../api/types';

const INFIX = new Set([
  '<',
  '<=',
  '>',
  '>=',
  '==',
  '===',
  '!=',
  '!==',
  '+',
  '-',
  '*',
  '/',
  '%',
  'in',
]);
const JOINED: Record<string, string> = { and: ' and ', or: ' or ' };
const SHOWN: Record<string, string> = {
  '===': '=',
  '==': '=',
  '!==': '≠',
  '!=': '≠',
  '<=': '≤',
  '>=': '≥',
};

/** A JSON Logic rule as people would write it. */
export function ruleText(rule: Json | undefined): string {
  if (rule === undefined || rule === null) return String(rule);
  if (typeof rule === 'string') return `"${rule}"`;
  if (Array.isArray(rule)) return `[${rule.map(ruleText).join(', ')}]`;
  if (typeof rule !== 'object') return String(rule);
  const entries = Object.entries(rule);
  const first = entries[0];
  if (entries.length !== 1 || !first) return JSON.stringify(rule);
  const [operator, operand] = first;
  const operands = Array.isArray(operand) ? operand : [operand];
  if (operator === 'var') return variable(operands[0]);
  if (operator === '!' || operator === '!!')
    return `${operator === '!' ? 'not ' : ''}${inner(operands[0])}`;
  const joint = JOINED[operator];
  if (joint) return operands.map(inner).join(joint);
  if (INFIX.has(operator) && operands.length === 2) {
    return `${inner(operands[0])} ${SHOWN[operator] ?? operator} ${inner(operands[1])}`;
  }
  return `${operator}(${operands.map(ruleText).join(', ')})`;
}

function variable(name: Json | undefined): string {
  return typeof name === 'string' ? name.replace(/^\$\./, '') : ruleText(name);
}

/** An operand, in brackets where it would be read otherwise. */
function inner(rule: Json | undefined): string {
  const text = ruleText(rule);
  const isJoined =
    typeof rule === 'object' &&
    rule !== null &&
    !Array.isArray(rule) &&
    ('and' in rule || 'or' in rule);
  return isJoined ? `(${text})` : text;
}
