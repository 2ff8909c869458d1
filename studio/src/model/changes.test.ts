import { describe, expect, it } from 'vitest';
import type { GraphDefinition } from '../api/types';
import { Changes } from './changes';
import { findNode, setMember, setNode } from './definition';

const TOOL = { tool: 'count' };

const graph = (...ids: string[]): GraphDefinition => ({
  name: 'count',
  nodes: ids.map((id) => ({ id, type: 'transform' })),
});

/** A change of one member of a node, as a form makes it. */
const put =
  (id: string, key: string, value: string) =>
  (definition: GraphDefinition, now: (node: string) => string): GraphDefinition => {
    const node = findNode(definition, now(id));
    return node ? setNode(definition, setMember(node, key, value)) : definition;
  };

describe('changes that are on their way', () => {
  it('are shown on top of each other, and on top of what the server says', () => {
    const changes = new Changes();
    const first = changes.add(TOOL, put('a', 'next', 'b'));
    changes.add(TOOL, put('a', 'note', 'mine'));
    const shown = changes.shown(TOOL, graph('a', 'b'));
    expect(findNode(shown, 'a')).toMatchObject({ next: 'b', note: 'mine' });

    // The first is made; the server's answer has something more.
    changes.remove(first);
    const answer = put('a', 'next', 'b')(graph('a', 'b', 'c'), (id) => id);
    const then = changes.shown(TOOL, answer);
    expect(findNode(then, 'a')).toMatchObject({ next: 'b', note: 'mine' });
    expect(then.nodes).toHaveLength(3);
  });

  it('are of what they were said of, under whichever name it has', () => {
    const changes = new Changes();
    const waiting = changes.add(TOOL, put('a', 'note', 'mine'));
    changes.renameNode(TOOL, 'a', 'b');
    changes.renameNode(TOOL, 'b', 'c');
    expect(waiting.now('a')).toBe('c');
    expect(findNode(changes.shown(TOOL, graph('c', 'd')), 'c')).toMatchObject({ note: 'mine' });
    changes.renameSubject(TOOL, { tool: 'tally' });
    expect(waiting.subject).toEqual({ tool: 'tally' });
    expect(changes.shown(TOOL, graph('c'))).toEqual(graph('c'));
  });

  it('that were made after a renaming name things as they were called then', () => {
    const changes = new Changes();
    changes.renameNode(TOOL, 'a', 'b');
    const later = changes.add(TOOL, put('a', 'note', 'another a'));
    expect(later.now('a')).toBe('a');
  });

  it('are of one graph and no other', () => {
    const changes = new Changes();
    changes.add({ workflow: 'count' }, put('a', 'note', 'of the workflow'));
    expect(changes.shown(TOOL, graph('a'))).toEqual(graph('a'));
  });
});
