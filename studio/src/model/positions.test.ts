import { describe, expect, it } from 'vitest';
import type { GraphDefinition, PlacedNode } from '../api/types';
import { firstFree, placed, unplaced } from './positions';

const SIZE = { width: 240, height: 76 };

const card = (id: string, x: number, y: number, pinned = false): PlacedNode => ({
  key: id,
  id,
  kind: 'transform',
  inside: null,
  x,
  y,
  pinned,
  ...SIZE,
});

const tool: GraphDefinition = {
  name: 't',
  nodes: [
    { id: 'a', type: 'entry', next: 'b' },
    { id: 'b', type: 'exit' },
  ],
};

it.each([
  [
    { x: 0, y: 200 },
    { x: 0, y: 200 },
  ],
  [
    { x: 10, y: 10 },
    { x: 564, y: 10 },
  ],
  [
    { x: 250, y: 0 },
    { x: 564, y: 0 },
  ],
  [
    { x: -240, y: 0 },
    { x: -240, y: 0 },
  ],
])('a card at %j stands at %j', (wanted, stands) => {
  const others = [card('a', 0, 0), card('b', 300, 40)];
  expect(firstFree({ ...wanted, ...SIZE }, others)).toEqual(stands);
});

describe('a place', () => {
  const shown = [card('a', 0, 0), card('b', 0, 140)];

  it('is kept by the node alone', () => {
    const moved = placed(tool, shown, 'b', { x: 400, y: 140 });
    expect(moved.nodes).toEqual([
      { id: 'a', type: 'entry', next: 'b' },
      { id: 'b', type: 'exit', position: { x: 400, y: 140 } },
    ]);
    expect(unplaced(moved, 'b')).toEqual(tool);
  });

  it('on a card that nobody has placed is taken, on one that somebody has it is not', () => {
    expect(placed(tool, shown, 'b', { x: 0, y: 0 }).nodes?.[1]?.position).toEqual({ x: 0, y: 0 });
    const pinned = [card('a', 0, 0, true), card('b', 0, 140)];
    expect(placed(tool, pinned, 'b', { x: 0, y: 0 }).nodes?.[1]?.position).toEqual({
      x: 264,
      y: 0,
    });
  });

  it('is kept by all nodes where an editor keeps edges', () => {
    const kept = { ...tool, edges: [] };
    const moved = placed(kept, shown, 'b', { x: 400, y: 140 });
    expect(moved.nodes?.map((node) => node.position)).toEqual([
      { x: 0, y: 0 },
      { x: 400, y: 140 },
    ]);
    expect(unplaced(moved)).toEqual(kept);
  });
});
