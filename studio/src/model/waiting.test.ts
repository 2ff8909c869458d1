import { describe, expect, it } from 'vitest';
import type { NodeDefinition } from '../api/types';
import { summary } from './kinds';
import { waitingOf, withWaiting } from './waiting';

const node = (facts: Partial<NodeDefinition>): NodeDefinition => ({
  id: 'pause',
  type: 'wait',
  next: 'exit',
  ...facts,
});

describe('a node that waits', () => {
  it('is read in every way it can be written', () => {
    expect(waitingOf(node({ duration: '90s' }))).toEqual({
      key: 'duration',
      isComputed: false,
      text: '90s',
    });
    expect(waitingOf(node({ duration: 1500 })).text).toBe('1500');
    expect(waitingOf(node({ until: { expr: '$.entry.due' } }))).toEqual({
      key: 'until',
      isComputed: true,
      text: '$.entry.due',
    });
    expect(waitingOf(node({}))).toEqual({ key: 'duration', isComputed: false, text: '' });
  });

  it('says one thing, and keeps everything else', () => {
    const until = withWaiting(node({ duration: '90s' }), {
      key: 'until',
      isComputed: false,
      text: ' 2030-01-31T12:00:00Z ',
    });
    expect(until).toEqual(node({ until: '2030-01-31T12:00:00Z' }));
    const computed = withWaiting(until, { key: 'duration', isComputed: true, text: '$.a' });
    expect(computed).toEqual(node({ duration: { expr: '$.a' } }));
    const millis = withWaiting(computed, { key: 'duration', isComputed: false, text: '250' });
    expect(millis).toEqual(node({ duration: 250 }));
  });

  it('tells on its card how long it waits', () => {
    expect(summary(node({ duration: '2h' }))).toBe('for 2h');
    expect(summary(node({ duration: 250 }))).toBe('for 250 ms');
    expect(summary(node({ until: { expr: '$.entry.due' } }))).toBe('until $.entry.due');
  });
});
