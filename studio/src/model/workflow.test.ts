import { describe, expect, it } from 'vitest';
import type { GraphDefinition, GraphLink } from '../api/types';
import { findNode } from './definition';
import { WORKFLOW } from './grammar';
import { beginning, redone, replaced, undone } from './history';
import { targetsOf } from './workflow';

/** As people write it. */
const plain = (): GraphDefinition => ({
  name: 'w',
  nodes: [
    { id: 'start', type: 'start', next: 'call' },
    { id: 'call', type: 'mcp-call', next: 'end' },
    { id: 'end', type: 'end' },
  ],
});

/** As editors keep it. */
const kept = (): GraphDefinition => ({
  name: 'w',
  zoom: 1,
  nodes: [
    { id: 'start', type: 'start', position: { x: 1, y: 2 }, data: { label: 'Start' } },
    {
      id: 'h',
      type: 'hook',
      position: { x: 1, y: 2 },
      data: { label: 'H', hook: { script: 'return {}', blocking: true } },
    },
    { id: 'call', type: 'mcp-call', data: { label: 'Call' } },
    { id: 'end', type: 'end', data: { label: 'End' } },
  ],
  edges: [
    { id: '1', source: 'start', target: 'h', animated: true },
    { id: '2', source: 'h', target: 'call' },
    { id: '3', source: 'call', target: 'end' },
  ],
});

const link = (from: string, to: string, kind: GraphLink['kind'] = 'next'): GraphLink => ({
  from,
  to,
  kind,
  back: false,
  bends: [],
});

describe.each([
  ['with next', plain()],
  ['with edges', kept()],
])('a workflow %s', (_, workflow) => {
  it('takes a hook between two nodes', () => {
    const hook = WORKFLOW.template(workflow, 'hook');
    const added = WORKFLOW.addNode(workflow, hook, 'call');
    expect(targetsOf(added, 'call')).toEqual(['hook']);
    expect(targetsOf(added, 'hook')).toEqual(['end']);
    const node = findNode(added, 'hook');
    expect(node && WORKFLOW.said(node).hook).toEqual({ script: '', blocking: true });
  });

  it('leads to several, and loses an edge', () => {
    const hook = WORKFLOW.template(workflow, 'hook');
    const added = WORKFLOW.addNode(workflow, hook, null);
    expect(targetsOf(added, 'hook')).toEqual([]);
    const before = targetsOf(workflow, 'start');
    const led = WORKFLOW.connect(added, 'start', 'hook', 'next');
    expect(targetsOf(led, 'start')).toEqual([...before, 'hook']);
    const back = WORKFLOW.disconnect(led, link('start', 'hook'));
    expect(targetsOf(back, 'start')).toEqual(before);
  });

  it('closes the gap of a node that is removed', () => {
    const gone = WORKFLOW.removeNode(workflow, 'call');
    expect(findNode(gone, 'call')).toBeUndefined();
    const before = gone.nodes?.filter((node) => targetsOf(gone, node.id).includes('end')) ?? [];
    expect(before).toHaveLength(1);
  });

  it('takes a switch that goes on, with a rule more', () => {
    const added = WORKFLOW.addNode(workflow, WORKFLOW.template(workflow, 'switch'), 'start');
    const ruled = WORKFLOW.connect(added, 'switch', 'end', 'rule');
    const node = findNode(ruled, 'switch');
    const conditions = node && WORKFLOW.said(node).conditions;
    expect(conditions).toHaveLength(2);
    const gone = WORKFLOW.removeNode(ruled, 'end');
    const left = findNode(gone, 'switch');
    expect(left && WORKFLOW.said(left).conditions).toHaveLength(1);
  });
});

it('what an editor keeps beside it stays', () => {
  const node = findNode(kept(), 'h');
  const said = node && WORKFLOW.said(node);
  expect(said?.hook).toEqual({ script: 'return {}', blocking: true });
  const changed = WORKFLOW.setNode(kept(), {
    id: 'h',
    type: 'hook',
    ...said,
    hook: { script: 'x' },
  });
  expect(findNode(changed, 'h')).toEqual({
    id: 'h',
    type: 'hook',
    position: { x: 1, y: 2 },
    data: { label: 'H', hook: { script: 'x' } },
  });
  expect(changed.zoom).toBe(1);
  expect(changed.edges).toEqual(kept().edges);
});

it('a text is taken back and brought back', () => {
  const first = beginning('a');
  const second = replaced(replaced(first, 'b'), 'b');
  expect(second.past).toEqual(['a']);
  expect(undone(second).text).toBe('a');
  expect(redone(undone(second))).toEqual(second);
  expect(undone(first)).toEqual(first);
  expect(replaced(undone(second), 'c').future).toEqual([]);
});
