import { describe, expect, it } from 'vitest';
import type { GraphDefinition, GraphLink } from '../api/types';
import {
  addNode,
  allNodes,
  connect,
  disconnect,
  findNode,
  freshId,
  nodeAt,
  nodesOf,
  removeNode,
  setNode,
  siblings,
  template,
  usualConnection,
} from './definition';

const tool = (): GraphDefinition => ({
  name: 'sum',
  nodes: [
    { id: 'entry', type: 'entry', next: 'each' },
    {
      id: 'each',
      type: 'foreach',
      items: '$.entry.list',
      body: [
        { id: 'a', type: 'transform', transform: { expr: 'item' }, next: 'b' },
        { id: 'b', type: 'transform', transform: { expr: '$.a' } },
      ],
      next: 'choose',
    },
    {
      id: 'choose',
      type: 'switch',
      conditions: [{ rule: { var: 'x' }, target: 'entry' }, { target: 'exit' }],
    },
    { id: 'exit', type: 'exit' },
  ],
});

const link = (facts: Partial<GraphLink>): GraphLink => ({
  from: 'choose',
  to: 'entry',
  kind: 'case',
  back: true,
  bends: [],
  ...facts,
});

describe('a definition', () => {
  it('has nodes inside nodes', () => {
    expect(allNodes(nodesOf(tool().nodes)).map((node) => node.id)).toEqual([
      'entry',
      'each',
      'a',
      'b',
      'choose',
      'exit',
    ]);
    expect(siblings(tool(), 'b').map((node) => node.id)).toEqual(['a', 'b']);
    expect(freshId(tool(), 'a')).toBe('a_2');
  });

  it('takes a node between two others', () => {
    const added = addNode(tool(), template(tool(), 'transform'), 'entry');
    expect(findNode(added, 'entry')?.next).toBe('transform');
    expect(findNode(added, 'transform')?.next).toBe('each');
    expect(added.nodes?.map((node) => node.id)).toEqual([
      'entry',
      'transform',
      'each',
      'choose',
      'exit',
    ]);
  });

  it('takes a node inside a loop, and a switch that goes on', () => {
    const added = addNode(tool(), template(tool(), 'switch'), 'a');
    expect(siblings(added, 'a').map((node) => node.id)).toEqual(['a', 'switch', 'b']);
    expect(findNode(added, 'switch')?.conditions).toEqual([{ target: 'b' }]);
    const first = addNode({ name: 't', nodes: [] }, { id: 'entry', type: 'entry' }, null);
    expect(first.nodes).toEqual([{ id: 'entry', type: 'entry' }]);
  });

  it('gets and loses edges', () => {
    expect(findNode(connect(tool(), 'each', 'exit', 'error'), 'each')?.onError).toBe('exit');
    expect(usualConnection(findNode(tool(), 'choose'))).toBe('rule');
    const ruled = connect(tool(), 'choose', 'each', 'rule');
    expect(findNode(ruled, 'choose')?.conditions).toEqual([
      { rule: { var: 'x' }, target: 'entry' },
      { rule: false, target: 'each' },
      { target: 'exit' },
    ]);
    const other = connect(tool(), 'choose', 'each', 'otherwise');
    expect(findNode(other, 'choose')?.conditions).toHaveLength(2);
    expect(findNode(disconnect(tool(), link({ index: 0 })), 'choose')?.conditions).toEqual([
      { target: 'exit' },
    ]);
    const without = disconnect(tool(), link({ kind: 'otherwise', to: 'exit' }));
    expect(findNode(without, 'choose')?.conditions).toEqual([
      { rule: { var: 'x' }, target: 'entry' },
    ]);
    expect(
      findNode(disconnect(tool(), link({ from: 'entry', kind: 'next' })), 'entry'),
    ).not.toHaveProperty('next');
  });

  it('closes the gap that a node leaves', () => {
    const without = removeNode(tool(), 'each');
    expect(findNode(without, 'entry')?.next).toBe('choose');
    expect(findNode(without, 'a')).toBeUndefined();
    expect(findNode(removeNode(tool(), 'exit'), 'choose')?.conditions).toEqual([
      { rule: { var: 'x' }, target: 'entry' },
    ]);
    expect(findNode(removeNode(tool(), 'b'), 'a')).not.toHaveProperty('next');
  });

  it('knows which node a problem is about', () => {
    expect(nodeAt(tool(), '/nodes/1/body/0/transform/expr')).toBe('a');
    expect(nodeAt(tool(), '/nodes/2/conditions/0/rule')).toBe('choose');
    expect(nodeAt(tool(), '/description')).toBeNull();
  });

  it('is not changed in its place', () => {
    const before = tool();
    setNode(before, { id: 'a', type: 'exit' });
    removeNode(before, 'entry');
    expect(before).toEqual(tool());
  });
});
