import { describe, expect, it } from 'vitest';
import type { Json, RunSummary } from '../api/types';
import { compact, duration, named, oneLine } from './format';
import { summary } from './kinds';
import { merge } from './merge';
import { fromHash, toHash } from './place';
import { Places } from './places';
import { ruleText } from './rule';
import { emptyRun, extend } from './run';
import { example, fields, parse } from './schema';
import { bars, bundles, rows } from './timeline';

describe('rules', () => {
  it.each<[Json, string]>([
    [{ '<': [{ var: '$.count.i' }, 3] }, 'count.i < 3'],
    [
      { and: [{ '==': [{ var: 'a' }, 'x'] }, { or: [true, { '!': { var: 'b' } }] }] },
      'a = "x" and (true or not b)',
    ],
    [{ some: [{ var: 'list' }, { var: 'ok' }] }, 'some(list, ok)'],
    [null, 'null'],
  ])('%j reads %s', (rule, text) => expect(ruleText(rule)).toBe(text));
});

describe('an address', () => {
  it('says where one is, and leads there', () => {
    const place = fromHash(
      '#/graph/count%20files/0199?step=5&node=list%2Fdir&tab=context&status=failed',
    );
    expect(place).toEqual({
      screen: 'graph',
      tool: 'count files',
      run: '0199',
      step: 5,
      node: 'list/dir',
      tab: 'context',
      filter: { status: 'failed' },
    });
    expect(fromHash(toHash(place))).toEqual(place);
  });

  it('is read whatever it says', () => {
    expect(fromHash('#/nowhere/%E0%A4%A?step=x&tab=y')).toMatchObject({
      screen: 'graph',
      step: null,
      tab: 'node',
    });
    expect(fromHash('')).toMatchObject({ screen: 'graph', tool: null, run: null });
  });
});

describe('a form', () => {
  const schema = {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Where' },
      count: { type: 'integer', default: 3 },
      mode: { enum: ['a', 'b'] },
      deep: { type: 'object' },
      on: { type: 'boolean' },
    },
    required: ['path', 'mode'],
  };
  it('is made of a schema', () => {
    expect(fields(schema).map((field) => field.control)).toEqual([
      'text',
      'number',
      'choice',
      'json',
      'flag',
    ]);
    expect(example(schema)).toEqual({ count: 3, mode: 'a' });
    expect(fields({ type: 'object' })).toEqual([]);
  });
  it('reads what is typed', () => {
    const [path, count, , deep] = fields(schema);
    if (!path || !count || !deep) throw new Error('the schema has them');
    expect(parse(path, '')).toEqual({ value: '' });
    expect(parse(count, '')).toEqual({ value: undefined });
    expect(parse(count, '4')).toEqual({ value: 4 });
    expect(parse(count, '4.5')).toHaveProperty('error');
    expect(parse(deep, '{"a": 1}')).toEqual({ value: { a: 1 } });
    expect(parse(deep, '{')).toHaveProperty('error');
  });
});

describe('places', () => {
  it('count characters where editors count units', () => {
    const places = new Places('a\n💡b: c\n');
    expect(places.offset(1, 1)).toBe(0);
    expect(places.offset(2, 2)).toBe(4);
    expect(places.offset(2, 99)).toBe(8);
    expect(places.offset(9, 1)).toBe(9);
  });
});

describe('time', () => {
  const at = (step: number, beganMs: number, took: number) => [
    {
      type: 'stepStarted' as const,
      seq: step * 2,
      step,
      path: `${step}`,
      node: `n${step}`,
      kind: 'mcp' as const,
      atMs: beganMs,
      beganMs,
    },
    { type: 'stepFinished' as const, seq: step * 2 + 1, step, atMs: beganMs + took, edge: null },
  ];
  const run = extend(emptyRun(), [...at(0, 0, 10), ...at(1, 1000, 10)]);
  it('in which nothing happens can be left out', () => {
    const [shown, hidden] = [rows(run, false), rows(run, true)];
    expect(shown.hiddenMs).toBe(0);
    expect(shown.rows[1]?.spans[0]?.from).toBeCloseTo(0.99, 2);
    expect(hidden.hiddenMs).toBe(970);
    expect(hidden.rows[1]?.spans[0]?.from).toBeCloseTo(0.75, 2);
  });
  it('bundles what cannot be drawn apart, and leaves nothing out', () => {
    const spans = Array.from({ length: 3000 }, (_, step) => ({
      step,
      from: step / 3000,
      to: (step + 1) / 3000,
      failed: step === 7,
    }));
    const found = bundles(spans);
    expect(found.length).toBeLessThan(500);
    expect(found.reduce((count, bundle) => count + bundle.count, 0)).toBe(3000);
    expect(found[0]).toMatchObject({ step: 0, last: 7, from: 0, failed: true });
    expect(found.at(-1)).toMatchObject({ last: 2999, to: 1, failed: false });
    const apart = bundles([spans[0], spans[1500], spans[2999]].filter((it) => it !== undefined));
    expect(apart.map(({ count }) => count)).toEqual([1, 1, 1]);
  });
  it('is drawn by its logarithm', () => {
    expect(bars(run).map((bar) => bar.height)).toEqual([1, 1]);
    expect(bars(emptyRun())).toEqual([]);
  });
  it('names what has no visible name', () => {
    expect(['a', ' ', '', '\u200b', '\u202e', 'שלום'].map(named)).toEqual([
      'a',
      ...Array(4).fill('(no visible name)'),
      'שלום',
    ]);
  });
  it('is written with its unit', () => {
    expect([0.02, 3.14, 250, 2500, 90_000].map(duration)).toEqual([
      '20 µs',
      '3.1 ms',
      '250 ms',
      '2.50 s',
      '1 min 30 s',
    ]);
  });
});

describe('cards', () => {
  it('say what a node does', () => {
    expect(summary({ id: 'a', type: 'mcp', server: 'files', tool: 'list' })).toBe('files · list');
    expect(summary({ id: 'a', type: 'transform', transform: { expr: '\n {\n  "a": 1 }' } })).toBe(
      '{ "a": 1 }',
    );
    expect(
      summary({
        id: 'a',
        type: 'switch',
        conditions: [{ rule: true, target: 'b' }, { target: 'c' }],
      }),
    ).toBe('1 rule');
    expect(oneLine('  a\n b ')).toBe('a b');
  });
});

describe('JSON', () => {
  it('has in one line what fits into one', () => {
    const rule = { '<': [{ var: '$.increment.counter' }, { var: '$.increment.target' }] };
    expect(compact(rule)).toBe(
      '{\n  "<": [\n    {"var":"$.increment.counter"},\n    {"var":"$.increment.target"}\n  ]\n}',
    );
    expect(compact({ a: 1 })).toBe('{"a":1}');
    expect(JSON.parse(compact(rule))).toEqual(rule);
  });
});

describe('the list of runs', () => {
  const run = (id: string, status: RunSummary['status']): RunSummary => ({
    id,
    status,
    tool: 't',
    started: '',
    durationMs: 0,
    steps: 0,
    events: 0,
    origin: { face: 'http' },
  });
  it('takes what is new and what changed', () => {
    const list = merge(
      [run('2', 'running'), run('1', 'failed')],
      [run('2', 'succeeded'), run('3', 'running')],
      2,
    );
    expect(list.map((known) => `${known.id} ${known.status}`)).toEqual([
      '3 running',
      '2 succeeded',
    ]);
  });
});
