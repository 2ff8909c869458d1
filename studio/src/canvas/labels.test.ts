import { describe, expect, it } from 'vitest';
import type { GraphLink, PlacedNode } from '../api/types';
import { roomsOf } from './labels';

const node = (key: string, x: number): PlacedNode => ({
  key,
  id: key,
  kind: 'transform',
  inside: null,
  x,
  y: 0,
  width: 240,
  height: 76,
  pinned: false,
});

const link = (to: string, bends: [number, number][] = []): GraphLink => ({
  from: 'switch',
  to,
  kind: 'case',
  back: false,
  bends,
});

describe('the texts at edges', () => {
  const nodes = [node('switch', 140), node('left', 0), node('right', 280)];

  it('have all their room where cards stand beside each other', () => {
    const links = [link('left'), link('right')];
    expect([...roomsOf({ nodes, links }, () => 0).values()]).toEqual([190, 190]);
  });

  it('have what is left between edges that are near each other', () => {
    const links = [link('right'), link('left', [[380, 100]]), link('left')];
    const rooms = roomsOf({ nodes, links }, () => 0);
    // The two on the right end 20 apart, which is less than any text needs.
    expect(links.map((link) => rooms.get(link))).toEqual([36, 36, 190]);
  });

  it('have their part of the room of edges to the same card', () => {
    const links = [link('left'), link('left'), link('left')];
    const off = (one: GraphLink) => (links.indexOf(one) - 1) * 90;
    expect([...roomsOf({ nodes, links }, off).values()]).toEqual([84, 84, 84]);
  });
});
