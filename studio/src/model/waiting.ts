import type { Json, NodeDefinition } from '../api/types';

/** How a `wait` node waits. */
export interface Waiting {
  /** For a length of time, or until a time. */
  key: 'duration' | 'until';
  /** Whether the text is an expression. */
  isComputed: boolean;
  text: string;
}

/** What a `wait` node says. */
export function waitingOf(node: NodeDefinition): Waiting {
  const key = node.until === undefined ? 'duration' : 'until';
  const value = node[key];
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { key, isComputed: true, text: typeof value.expr === 'string' ? value.expr : '' };
  }
  return { key, isComputed: false, text: value === undefined ? '' : String(value) };
}

/** The node, which waits like this and no other way. */
export function withWaiting(node: NodeDefinition, { key, isComputed, text }: Waiting) {
  const { duration, until, ...rest } = node;
  // A length of time without a unit is a number of milliseconds, which is no text in the file.
  const isNumber = /^\s*\d+\s*$/.test(text);
  const value: Json = isComputed ? { expr: text } : isNumber ? Number(text) : text.trim();
  return { ...rest, [key]: value } as NodeDefinition;
}

/** How long it waits, in a few words. */
export function waitingText(node: NodeDefinition): string {
  const { key, isComputed, text } = waitingOf(node);
  const unit = key === 'duration' && !isComputed && /^\d+$/.test(text) ? ' ms' : '';
  return `${key === 'until' ? 'until' : 'for'} ${text}${unit}`;
}
