import { create } from 'zustand';
import type { Breakpoint } from '../api/types';
import { load, store } from './storage';

type ByTool = Record<string, Breakpoint[]>;

interface BreakpointState {
  byTool: ByTool;
  toggle: (tool: string, node: string) => void;
  put: (tool: string, breakpoint: Breakpoint) => void;
  remove: (tool: string, node: string) => void;
  clear: (tool: string) => void;
}

const KEY = 'breakpoints';
const NONE: Breakpoint[] = [];

/** Breakpoints belong to the person who sets them: they are kept in the browser. */
export const useBreakpoints = create<BreakpointState>((set, get) => {
  const change = (tool: string, update: (points: Breakpoint[]) => Breakpoint[]) => {
    const byTool = { ...get().byTool, [tool]: update(get().byTool[tool] ?? NONE) };
    set({ byTool });
    store(KEY, byTool);
  };
  const without = (points: Breakpoint[], node: string) =>
    points.filter((point) => point.node !== node);
  return {
    byTool: load<ByTool>(KEY, {}),
    toggle: (tool, node) =>
      change(tool, (points) =>
        points.some((point) => point.node === node)
          ? without(points, node)
          : [...points, { node, when: 'before' }],
      ),
    put: (tool, breakpoint) =>
      change(tool, (points) => [...without(points, breakpoint.node), breakpoint]),
    remove: (tool, node) => change(tool, (points) => without(points, node)),
    clear: (tool) => change(tool, () => []),
  };
});

export const breakpointsOf =
  (tool: string | null) =>
  (state: BreakpointState): Breakpoint[] =>
    (tool && state.byTool[tool]) || NONE;
