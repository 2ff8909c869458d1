import type { Json, NodeKind, RunError, RunEvent, Short } from '../api/types';

/** One execution of a node. */
export interface Step {
  step: number;
  path: string;
  node: string;
  kind: NodeKind;
  beganMs: number;
  /** The events that began and ended it. */
  beganSeq: number;
  endSeq: number | null;
  endMs: number | null;
  output?: Json;
  outputShort?: Short;
  error?: RunError;
  edge: string | null;
  retries: number;
  /** Whether it belongs to a tool that a node of the shown tool called. */
  foreign: boolean;
}

/** A run as its events tell it. */
export interface RunModel {
  tool: string | null;
  input: Json | undefined;
  inputShort?: Short;
  steps: Step[];
  /** The steps of each node of the shown tool, in their order. */
  byNode: Map<string, Step[]>;
  /** The number of events so far; the next one has this position. */
  length: number;
  lastMs: number;
  paused: { why: string; node?: string } | null;
  finished: Finished | null;
  /** The outputs that somebody put in the place of what a node gave. */
  changedOutputs: ChangedOutput[];
  /** The paths of steps that called another tool. */
  calls: Set<string>;
  /** What was written into the record at each step. */
  logs: Map<number, LogLine[]>;
}

interface ChangedOutput {
  seq: number;
  node: string;
  output?: Json;
  outputShort?: Short;
}

/** How a run ended. */
export interface Finished {
  result?: Json;
  resultShort?: Short;
  /** Whether a result that is too long to be sent with its event can be fetched. */
  isKept: boolean;
  error?: RunError;
}

/** Whether somebody ended the run, or a step with it: nothing of it went wrong. */
export const wasStopped = ({ error }: Pick<Finished, 'error'>): boolean =>
  error?.kind === 'cancelled';

export interface LogLine {
  seq: number;
  level: string;
  message: string;
}

export function emptyRun(): RunModel {
  return {
    tool: null,
    input: undefined,
    steps: [],
    byNode: new Map(),
    length: 0,
    lastMs: 0,
    paused: null,
    finished: null,
    changedOutputs: [],
    calls: new Set(),
    logs: new Map(),
  };
}

/** The run after more events. What did not change is shared with the run before. */
export function extend(run: RunModel, events: RunEvent[]): RunModel {
  const next: RunModel = {
    ...run,
    steps: [...run.steps],
    byNode: new Map(run.byNode),
    calls: new Set(run.calls),
    logs: new Map(run.logs),
  };
  const extension = new Extension(next);
  for (const event of events) {
    if (event.seq < next.length) continue;
    next.length = event.seq + 1;
    next.lastMs = Math.max(next.lastMs, event.atMs);
    apply(next, extension, event);
  }
  return next;
}

function apply(run: RunModel, extension: Extension, event: RunEvent) {
  switch (event.type) {
    case 'started':
      run.tool = event.tool;
      run.input = event.input;
      run.inputShort = event.inputShort ?? event.inputTruncated;
      break;
    case 'stepStarted':
      extension.add({
        step: event.step,
        path: event.path,
        node: event.node,
        kind: event.kind,
        beganMs: event.beganMs,
        beganSeq: event.seq,
        endSeq: null,
        endMs: null,
        edge: null,
        retries: 0,
        foreign: isForeign(run.calls, event.path),
      });
      break;
    case 'stepFinished':
      extension.change(event.step, {
        endSeq: event.seq,
        endMs: event.atMs,
        edge: event.edge,
        output: event.output,
        outputShort: event.outputShort ?? event.outputTruncated,
      });
      break;
    case 'stepFailed':
      extension.change(event.step, {
        endSeq: event.seq,
        endMs: event.atMs,
        edge: event.edge,
        error: event.error,
      });
      break;
    case 'retrying':
      extension.change(event.step, { retries: event.attempt });
      break;
    case 'paused':
      run.paused = { why: event.why, node: event.node };
      break;
    case 'resumed':
      run.paused = null;
      break;
    case 'outputChanged':
      run.changedOutputs = [
        ...run.changedOutputs,
        { seq: event.seq, node: event.node, output: event.output, outputShort: event.outputShort },
      ];
      break;
    case 'finished':
      run.paused = null;
      run.finished = {
        result: event.result,
        resultShort: event.resultShort ?? event.resultTruncated,
        isKept: event.resultTruncated === undefined,
        error: event.error,
      };
      break;
    case 'log': {
      if (event.step === undefined) break;
      const line = { seq: event.seq, level: event.level, message: event.message ?? '' };
      run.logs.set(event.step, [...(run.logs.get(event.step) ?? []), line]);
      break;
    }
  }
}

/** Steps added to a run; the lists of nodes that did not change stay shared. */
class Extension {
  private readonly run: RunModel;
  private readonly own = new Set<string>();

  constructor(run: RunModel) {
    this.run = run;
  }

  add(step: Step) {
    this.run.steps[step.step] = step;
    if (step.kind === 'graph') this.run.calls.add(step.path);
    if (!step.foreign) this.list(step.node).push(step);
  }

  change(number: number, facts: Partial<Step>) {
    const old = this.run.steps[number];
    if (!old) return;
    const step = { ...old, ...facts };
    this.run.steps[number] = step;
    if (step.foreign) return;
    const list = this.list(step.node);
    list[list.findLastIndex((known) => known.step === number)] = step;
  }

  private list(node: string): Step[] {
    const known = this.run.byNode.get(node) ?? [];
    if (this.own.has(node)) return known;
    const copy = [...known];
    this.own.add(node);
    this.run.byNode.set(node, copy);
    return copy;
  }
}

/** A path names, from the outside in, a step, the body inside it, a step in that, and so on. */
function isForeign(calls: Set<string>, path: string): boolean {
  const positions = path.split('.');
  for (let length = 1; length < positions.length; length += 2) {
    if (calls.has(positions.slice(0, length).join('.'))) return true;
  }
  return false;
}

/** The last event that belongs to the moment of a step: its end, or now while it is under way. */
export function momentOf(run: RunModel, step: number): number {
  return run.steps[step]?.endSeq ?? run.length - 1;
}

export type NodeState = 'idle' | 'running' | 'paused' | 'done' | 'changed' | 'failed' | 'stopped';

/** What a card shows of a node at a moment. */
export interface NodeMark {
  state: NodeState;
  /** How often it began, up to that moment. */
  count: number;
  ms: number | null;
  /** The step that counts: the last that began. */
  step: number | null;
}

const IDLE: NodeMark = { state: 'idle', count: 0, ms: null, step: null };

export function markAt(run: RunModel, node: string, moment: number): NodeMark {
  const steps = run.byNode.get(node);
  const count = steps ? countUpTo(steps, moment) : 0;
  const last = steps?.[count - 1];
  if (!last) {
    const waits = run.paused?.why === 'before' && run.paused.node === node;
    return waits && moment >= run.length - 1 ? { ...IDLE, state: 'paused' } : IDLE;
  }
  const ended = last.endSeq !== null && last.endSeq <= moment;
  const isPausedHere = run.paused !== null && run.paused.node === node && moment >= run.length - 1;
  const isChanged = (changedOutput(run, last)?.seq ?? moment + 1) <= moment;
  const state = isPausedHere ? 'paused' : isChanged ? 'changed' : stateOf(run, last, ended);
  const ms = ended && last.endMs !== null ? last.endMs - last.beganMs : null;
  return { state, count, ms, step: last.step };
}

/** What somebody put in the place of the output of a step, before its node ran again. */
export function changedOutput(run: RunModel, step: Step): ChangedOutput | undefined {
  if (run.changedOutputs.length === 0 || step.foreign) return undefined;
  const steps = run.byNode.get(step.node) ?? [];
  const next = steps.find((later) => later.step > step.step)?.beganSeq ?? run.length;
  return run.changedOutputs.findLast(
    ({ node, seq }) => node === step.node && seq > step.beganSeq && seq < next,
  );
}

function stateOf(run: RunModel, step: Step, hasEnded: boolean): NodeState {
  if (hasEnded) return wasStopped(step) ? 'stopped' : step.error ? 'failed' : 'done';
  return step.endSeq === null && run.finished ? 'stopped' : 'running';
}

/** How many of the steps had begun at a moment. */
function countUpTo(steps: Step[], moment: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const step = steps[middle];
    if (step && step.beganSeq <= moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Which edges had been taken at a moment, as `from→to`. */
export function takenAt(run: RunModel, moment: number): Set<string> {
  const taken = new Set<string>();
  for (const step of run.steps) {
    if (!step || step.foreign || step.edge === null) continue;
    if (step.endSeq !== null && step.endSeq <= moment) taken.add(`${step.node}→${step.edge}`);
  }
  return taken;
}

export function durationOf(step: Step, run: RunModel): number {
  return (step.endMs ?? run.lastMs) - step.beganMs;
}
