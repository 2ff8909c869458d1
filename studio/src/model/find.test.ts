import { expect, it } from 'vitest';
import { expressionIn, find } from './find';
import type { Step } from './run';

const step = (number: number, facts: Partial<Step>): Step => ({
  step: number,
  path: String(number),
  node: 'a',
  kind: 'transform',
  beganMs: 0,
  beganSeq: 0,
  endSeq: 1,
  endMs: 5,
  edge: null,
  retries: 0,
  foreign: false,
  ...facts,
});

const steps = [
  step(0, { node: 'count', output: { lamp: 1 } }),
  step(1, { node: 'count', error: { code: 'MG0401', kind: 'x', message: 'no lamp' } }),
  step(2, { node: 'call', kind: 'mcp', endMs: 500 }),
  step(3, { node: 'call', endSeq: null, endMs: null }),
];

it.each([
  ['', []],
  ['lamp', [0, 1]],
  ['node:count status:failed', [1]],
  ['code:mg04', [1]],
  ['slower:100', [2, 3]],
  ['kind:mcp', [2]],
  ['status:running', [3]],
  ['node:', []],
  ['node:call lamp', []],
])('%s finds %j', (query, expected) => {
  expect([...find(steps, query)]).toEqual(expected);
});

it.each([
  ['lamp', null],
  ['a = b', null],
  ['= output.sum > 3', 'output.sum > 3'],
  [' =', ''],
])('%s asks for the expression %j', (query, expected) => {
  expect(expressionIn(query)).toBe(expected);
});
