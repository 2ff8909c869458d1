import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../api/types';
import { changedOutput, emptyRun, extend, markAt, momentOf, takenAt, wasStopped } from './run';
import { bars } from './timeline';

/** A run of entry → count (twice, over a switch) → exit. */
function events(): RunEvent[] {
  const nodes = ['entry', 'count', 'more', 'count', 'more', 'exit'];
  const steps = nodes.flatMap((node, step): RunEvent[] => {
    const [seq, beganMs] = [1 + step * 2, step * 10];
    const place = { step, path: String(step), node, kind: 'transform' as const };
    return [
      { type: 'stepStarted', seq, atMs: beganMs, beganMs, ...place },
      {
        type: 'stepFinished',
        seq: seq + 1,
        atMs: beganMs + 4,
        step,
        edge: nodes[step + 1] ?? null,
        output: step,
      },
    ];
  });
  return [
    { type: 'started', seq: 0, atMs: 0, tool: 'sum', input: { n: 2 } },
    ...steps,
    { type: 'finished', seq: 13, atMs: 60, result: 5 },
  ];
}

it('an output that was set by hand counts until its node runs again', () => {
  const all = events();
  const [before, after] = [all.slice(0, 5), all.slice(5)];
  const change: RunEvent = { type: 'outputChanged', seq: 5, atMs: 15, node: 'count', output: 9 };
  const later = after.map((event) => ({ ...event, seq: event.seq + 1 }));
  const run = extend(emptyRun(), [...before, change, ...later]);
  expect(markAt(run, 'count', 4).state).toBe('done');
  expect(markAt(run, 'count', 5).state).toBe('changed');
  expect(markAt(run, 'count', run.length - 1).state).toBe('done');
  const [first, second] = run.byNode.get('count') ?? [];
  expect(first && changedOutput(run, first)?.output).toBe(9);
  expect(second && changedOutput(run, second)).toBeUndefined();
});

describe('a run', () => {
  it('is the same however its events arrive', () => {
    const whole = extend(emptyRun(), events());
    let piecewise = emptyRun();
    for (const event of events()) piecewise = extend(piecewise, [event]);
    expect(piecewise).toEqual(whole);
    expect(whole.finished?.result).toBe(5);
  });

  it('takes every event once, also when a stream begins anew', () => {
    const whole = extend(emptyRun(), events());
    expect(extend(whole, events().slice(0, 5))).toEqual(whole);
  });

  it('does not change what was shown before', () => {
    const before = extend(emptyRun(), events().slice(0, 5));
    const copy = structuredClone({ ...before, byNode: [...before.byNode] });
    extend(before, events().slice(5));
    expect({ ...before, byNode: [...before.byNode] }).toEqual(copy);
  });

  it('says how a node stood at any moment', () => {
    const run = extend(emptyRun(), events());
    const at = (step: number) => markAt(run, 'count', momentOf(run, step));
    expect(at(0)).toMatchObject({ state: 'idle', count: 0 });
    expect(at(1)).toMatchObject({ state: 'done', count: 1, ms: 4, step: 1 });
    expect(at(2)).toMatchObject({ count: 1 });
    expect(at(5)).toMatchObject({ state: 'done', count: 2, step: 3 });
    const inside = extend(emptyRun(), events());
    expect(markAt(inside, 'count', 3)).toMatchObject({ state: 'running' });
    const halfway = extend(emptyRun(), events().slice(0, 4));
    expect(markAt(halfway, 'count', 3)).toMatchObject({ state: 'running', ms: null });
  });

  it('knows the edges that were taken', () => {
    const run = extend(emptyRun(), events());
    expect([...takenAt(run, momentOf(run, 2))]).toEqual([
      'entry→count',
      'count→more',
      'more→count',
    ]);
    expect(takenAt(run, momentOf(run, 5)).has('more→exit')).toBe(true);
  });

  it('shows a pause at the node it waits for', () => {
    const paused: RunEvent = { type: 'paused', seq: 3, atMs: 5, why: 'before', node: 'count' };
    const run = extend(emptyRun(), [...events().slice(0, 3), paused]);
    expect(markAt(run, 'count', 3).state).toBe('paused');
    expect(markAt(run, 'count', 1).state).toBe('idle');
    const gone = extend(run, [{ type: 'resumed', seq: 4, atMs: 6, waitedMs: 1 }]);
    expect(markAt(gone, 'count', 4).state).toBe('idle');
  });

  it('keeps steps of called tools apart from nodes of the same name', () => {
    const started = (
      step: number,
      path: string,
      node: string,
      kind: 'graph' | 'transform',
      seq: number,
    ): RunEvent => ({ type: 'stepStarted', step, path, node, kind, seq, atMs: 0, beganMs: 0 });
    const run = extend(emptyRun(), [
      started(0, '0', 'call', 'graph', 0),
      started(1, '0.0.0', 'entry', 'transform', 1),
      started(2, '1', 'entry', 'transform', 2),
    ]);
    expect(run.steps.map((step) => step.foreign)).toEqual([false, true, false]);
    expect(run.byNode.get('entry')?.map((step) => step.step)).toEqual([2]);
  });
});

it('what ended with its run was stopped, and did not fail', () => {
  const error = { code: 'MG0410', kind: 'cancelled' };
  const stopped = events()
    .slice(0, 2)
    .concat([
      { type: 'stepFailed', seq: 2, atMs: 4, step: 0, edge: null, error },
      { type: 'finished', seq: 3, atMs: 4, error },
    ]);
  const run = extend(emptyRun(), stopped);
  expect(markAt(run, 'entry', 3).state).toBe('stopped');
  expect(run.finished && wasStopped(run.finished)).toBe(true);
  expect(bars(run).map((bar) => bar.failed)).toEqual([false]);
  const failed = { code: 'MG0401', kind: 'expression' };
  const last = stopped.map((event) => ('error' in event ? { ...event, error: failed } : event));
  expect(markAt(extend(emptyRun(), last as RunEvent[]), 'entry', 3).state).toBe('failed');
});
