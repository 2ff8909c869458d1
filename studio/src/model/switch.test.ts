import { describe, expect, it } from 'vitest';
import type { GraphDefinition, GraphLink, NodeDefinition } from '../api/types';
import { addNode, connect, findNode, removeNode, template, usualConnection } from './definition';
import { disconnectSwitch, harmless, ledBy, waysOf, withWays } from './switch';

const byTarget: NodeDefinition = {
  id: 'choose',
  type: 'switch',
  conditions: [{ rule: { var: 'x' }, target: 'a' }, { target: 'b' }],
};
const byNext: NodeDefinition = {
  id: 'choose',
  type: 'switch',
  conditions: [{ rule: { var: 'x' }, next: 'a' }],
  next: 'b',
};
const tool = (choose: NodeDefinition): GraphDefinition => ({
  name: 't',
  nodes: [
    { id: 'entry', type: 'entry', next: 'choose' },
    choose,
    { id: 'a', type: 'transform', next: 'exit' },
    { id: 'b', type: 'transform', next: 'exit' },
    { id: 'exit', type: 'exit' },
  ],
});
const link = (facts: Partial<GraphLink>): GraphLink => ({
  from: 'choose',
  to: 'a',
  kind: 'case',
  back: false,
  bends: [],
  index: 0,
  ...facts,
});

describe.each([
  ['target', byTarget],
  ['next', byNext],
])('a switch written with %s', (key, node) => {
  const other = key === 'target' ? 'next' : 'target';
  /** What is written one way has nothing of the other. */
  const isPure = (changed: NodeDefinition | undefined) => {
    const text = JSON.stringify(changed);
    expect(text).not.toContain(`"${other}"`);
    return changed;
  };

  it('says where it leads', () => {
    const { rules, otherwise } = waysOf(node);
    expect([rules.length, otherwise]).toEqual([1, 'b']);
    expect(withWays(node, { rules, otherwise })).toEqual(node);
    expect(usualConnection(node)).toBe('rule');
  });

  it('keeps its way of writing when it leads elsewhere', () => {
    const { rules } = waysOf(node);
    expect(waysOf(isPure(withWays(node, { rules, otherwise: 'exit' })) ?? node).otherwise).toBe(
      'exit',
    );
    const [rule] = rules;
    expect(rule && ledBy(node, rule, 'exit')).toEqual({ rule: { var: 'x' }, [key]: 'exit' });
    const ruled = isPure(findNode(connect(tool(node), 'choose', 'exit', 'rule'), 'choose'));
    expect(ruled && waysOf(ruled)).toEqual({
      rules: [...rules, { rule: false, [key]: 'exit' }],
      otherwise: 'b',
    });
    const led = isPure(findNode(connect(tool(node), 'choose', 'exit', 'otherwise'), 'choose'));
    expect(led && waysOf(led)).toEqual({ rules, otherwise: 'exit' });
  });

  it('loses a way, and follows what is removed', () => {
    expect(waysOf(disconnectSwitch(node, link({}))).rules).toEqual([]);
    expect(waysOf(disconnectSwitch(node, link({ kind: 'otherwise' }))).otherwise).toBe('');
    for (const gone of ['a', 'b']) {
      const left = isPure(findNode(removeNode(tool(node), gone), 'choose'));
      expect(JSON.stringify(left)).toContain('exit');
      expect(JSON.stringify(left)).not.toContain(`"${gone}"`);
    }
  });

  it('has others written like it', () => {
    const added = template(tool(node), 'switch');
    const more = addNode(tool(node), added, 'a');
    expect(waysOf(isPure(findNode(more, added.id)) ?? node).otherwise).toBe('exit');
  });
});

it('a new rule leads where the switch leads anyway, and never back to the entry', () => {
  const { nodes = [] } = tool(byNext);
  expect(harmless(byNext, nodes)).toBe('b');
  expect(harmless({ ...byNext, next: '' }, nodes)).toBe('a');
  expect(harmless({ id: 'a', type: 'switch' }, nodes.slice(0, 1))).toBeUndefined();
});

it('what only a person can know of a new call is left open', () => {
  expect(template(tool(byNext), 'mcp', 'shop')).toMatchObject({ server: 'shop', tool: '' });
  expect(template(tool(byNext), 'graph')).toMatchObject({ tool: '' });
});
