import { createContext, useMemo } from 'react';
import type { GraphView, Report } from '../api/types';
import { nodeAt } from '../model/definition';

/** What cards and edges say beyond what a run says of them. */
export interface Drawing {
  /** The first error of each node. */
  problems: Map<string, string>;
  /** The nodes that were changed since the run that is looked at. */
  edited: Set<string>;
  /** The nodes that can be gone to next. */
  next: Set<string>;
  /** What runs of this graph are called; none where they cannot be stopped. */
  runs: string | null;
  /** Whether the record names the edges that were taken; else those between nodes that ran count. */
  namesEdges: boolean;
  /** Whether somebody walks through it, rather than a machine running it. */
  isWalk: boolean;
}

const NONE: Drawing = {
  problems: new Map(),
  edited: new Set(),
  next: new Set(),
  runs: null,
  namesEdges: true,
  isWalk: false,
};

export const DrawingContext = createContext<Drawing>(NONE);

/** The drawing with what is said of it; what is not said is as in a graph that nobody runs. */
export function useDrawing(said: Partial<Drawing>): Drawing {
  // biome-ignore lint/correctness/useExhaustiveDependencies: its parts say whether it is another one
  return useMemo(() => ({ ...NONE, ...said }), Object.values({ ...NONE, ...said }));
}

/** The first error of each node of a graph. */
export function useProblems(view: GraphView | null, report: Report | null): Map<string, string> {
  return useMemo(() => {
    const byNode = new Map<string, string>();
    for (const problem of report?.diagnostics ?? []) {
      const isHere = view && problem.pointer?.startsWith(`${view.pointer}/`);
      if (problem.severity !== 'error' || !isHere || !problem.pointer) continue;
      const node = nodeAt(view.definition, problem.pointer.slice(view.pointer.length));
      if (node && !byNode.has(node)) byNode.set(node, problem.message);
    }
    return byNode;
  }, [view, report]);
}
