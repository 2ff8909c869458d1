import { durationOf, type RunModel, type Step, wasStopped } from './run';

const hasFailed = (step: Step): boolean => step.error !== undefined && !wasStopped(step);

/** A step as the scrubber draws it. */
export interface Bar {
  step: number;
  node: string;
  /** From 0 to 1, by the logarithm of what it took. */
  height: number;
  failed: boolean;
  running: boolean;
  foreign: boolean;
}

export function bars(run: RunModel): Bar[] {
  const known = run.steps.filter((step): step is Step => step !== undefined);
  const longest = known.reduce((most, step) => Math.max(most, durationOf(step, run)), 0);
  const scale = Math.log1p(longest * 10) || 1;
  return known.map((step) => ({
    step: step.step,
    node: step.node,
    height: Math.log1p(durationOf(step, run) * 10) / scale,
    failed: hasFailed(step),
    running: step.endSeq === null && run.finished === null,
    foreign: step.foreign,
  }));
}

/** A span of time on the axis of the rows. */
export interface Span {
  step: number;
  from: number;
  to: number;
  failed: boolean;
}

/** Executions of a node that are too close to be drawn apart. */
export interface Bundle extends Span {
  /** The last of them; `step` is the first. */
  last: number;
  count: number;
}

/** How many places there are in a row for executions to be drawn apart. */
const PLACES = 400;

/** The executions of a node as they can be seen: those in the same place are one. */
export function bundles(spans: Span[]): Bundle[] {
  const found: Bundle[] = [];
  const place = (at: number) => Math.floor(at * PLACES);
  for (const span of spans) {
    const before = found.at(-1);
    if (before && place(before.from) === place(span.from)) {
      before.to = Math.max(before.to, span.to);
      before.failed ||= span.failed;
      before.last = span.step;
      before.count += 1;
    } else {
      found.push({ ...span, last: span.step, count: 1 });
    }
  }
  return found;
}

export interface Rows {
  rows: { node: string; spans: Span[] }[];
  /** How much time was left out because nothing happened in it. */
  hiddenMs: number;
}

/** Idle time longer than this is drawn as this much. */
const LONGEST_IDLE_MS = 20;

/** One row a node, with positions from 0 to 1; time in which nothing ran is left out if wanted. */
export function rows(run: RunModel, hideIdle: boolean): Rows {
  const steps = run.steps.filter((step): step is Step => step !== undefined);
  const axis = new Axis(steps, run, hideIdle);
  const byNode = new Map<string, Span[]>();
  for (const step of steps) {
    const spans = byNode.get(step.node) ?? [];
    byNode.set(step.node, spans);
    spans.push({
      step: step.step,
      from: axis.place(step.beganMs),
      to: axis.place(step.beganMs + durationOf(step, run)),
      failed: hasFailed(step),
    });
  }
  const all = [...byNode].map(([node, spans]) => ({ node, spans }));
  return { rows: all, hiddenMs: axis.hiddenMs };
}

class Axis {
  /** Times from which so much of what came before is left out. */
  private readonly cuts: { from: number; cut: number }[] = [];
  private readonly total: number;
  private readonly start: number;
  hiddenMs = 0;

  constructor(steps: Step[], run: RunModel, hideIdle: boolean) {
    const busy = steps
      .map((step) => ({ from: step.beganMs, to: step.beganMs + durationOf(step, run) }))
      .sort((a, b) => a.from - b.from);
    this.start = busy[0]?.from ?? 0;
    let end = this.start;
    for (const { from, to } of busy) {
      if (hideIdle && from - end > LONGEST_IDLE_MS) {
        this.hiddenMs += from - end - LONGEST_IDLE_MS;
        this.cuts.push({ from, cut: this.hiddenMs });
      }
      end = Math.max(end, to);
    }
    this.total = Math.max(end - this.start - this.hiddenMs, 0.001);
  }

  place(ms: number): number {
    const cut = this.cuts.findLast((known) => known.from <= ms)?.cut ?? 0;
    return Math.min(Math.max((ms - this.start - cut) / this.total, 0), 1);
  }
}
