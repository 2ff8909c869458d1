import { expect, it } from 'vitest';
import type { Breakpoint } from '../api/types';
import { carried, isStray, looked } from './breakpoints';

const at = (node: string, more: Partial<Breakpoint> = {}): Breakpoint => ({
  node,
  when: 'before',
  ...more,
});

it('a breakpoint goes with the name of its node', () => {
  const points = [at('a', { hits: 3 }), at('b')];
  expect(carried(points, 'a', 'c')).toEqual([at('c', { hits: 3 }), at('b')]);
  expect(carried(points, 'a', 'b')).toEqual([at('b', { hits: 3 })]);
  expect(carried(points, 'x', 'b')).toBe(points);
});

it('a breakpoint of a node that is not there is a stray, until it is there', () => {
  expect(isStray(at('a'), undefined)).toBe(false);
  expect(isStray(at('a'), { refused: [] })).toBe(false);
  expect(isStray(at('a'), { nodes: ['a'], refused: [] })).toBe(false);
  expect(isStray(at('a'), { nodes: ['b'], refused: [] })).toBe(true);
  const refused = { nodes: ['a', 'b'], refused: ['a'] };
  expect(isStray(at('a'), refused)).toBe(true);
  expect(isStray(at('a'), looked(refused, ['a', 'b']))).toBe(true);
  expect(isStray(at('a'), looked(refused, ['a', 'c']))).toBe(false);
});
