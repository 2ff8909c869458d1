import { describe, expect, it } from 'vitest';
import type { PlacedNode } from '../api/types';
import { boxOf, firstSight, outOfSight, READABLE } from './view';

const card = (key: string, y: number, facts: Partial<PlacedNode> = {}): PlacedNode => ({
  key,
  id: key,
  kind: 'transform',
  inside: null,
  x: 0,
  y,
  width: 200,
  height: 76,
  pinned: false,
  ...facts,
});
const chain = (length: number): PlacedNode[] =>
  Array.from({ length }, (_, at) => card(`n${at}`, at * 120, at === 0 ? { kind: 'entry' } : {}));
const SIZE = { width: 800, height: 600 };

describe('what is in sight', () => {
  it('is all of a graph that can be read so', () => {
    expect(firstSight(chain(5), SIZE)).toBeNull();
    expect(firstSight([], SIZE)).toBeNull();
  });

  it('is the entry of a graph that cannot, and what follows', () => {
    const sight = firstSight(chain(40), SIZE);
    expect(sight?.zoom).toBe(READABLE);
    expect(sight && outOfSight(card('n0', 0), sight, SIZE)).toBeNull();
    expect(sight && outOfSight(card('n30', 3600), sight, SIZE)).toEqual({ x: 100, y: 3638 });
  });

  it('follows cards inside others', () => {
    const nodes = [
      card('each', 100, { x: 50 }),
      card('lane', 10, { inside: 'each', x: 5 }),
      card('inner', 20, { inside: 'lane', x: 6 }),
    ];
    expect(boxOf(nodes, 'inner')).toEqual({ x: 61, y: 130, width: 200, height: 76 });
    expect(boxOf(nodes, 'none')).toBeNull();
  });
});
