import { create } from 'zustand';
import { Problem } from '../api/client';
import type { Breakpoint } from '../api/types';
import { carried, isStray, type KnownNodes, looked } from '../model/breakpoints';
import { notify } from './notices';
import { load, store } from './storage';

type ByTool = Record<string, Breakpoint[]>;

interface BreakpointState {
  byTool: ByTool;
  /** What is known of the nodes of each tool. */
  known: Record<string, KnownNodes>;
  toggle: (tool: string, node: string) => void;
  put: (tool: string, breakpoint: Breakpoint) => void;
  remove: (tool: string, node: string) => void;
  clear: (tool: string) => void;
  /** A node has another name. */
  rename: (tool: string, from: string, to: string) => void;
  /** A tool has another name. */
  renameTool: (from: string, to: string) => void;
  /** A tool has these nodes now. */
  look: (tool: string, nodes: string[]) => void;
  /** The server knows no such node of a tool. */
  refuse: (tool: string, node: string) => void;
}

const KEY = 'breakpoints';
const NONE: Breakpoint[] = [];

/** Breakpoints belong to the person who sets them: they are kept in the browser. */
export const useBreakpoints = create<BreakpointState>((set, get) => {
  const keep = (byTool: ByTool) => {
    set({ byTool });
    store(KEY, byTool);
  };
  const change = (tool: string, update: (points: Breakpoint[]) => Breakpoint[]) => {
    const before = get().byTool[tool] ?? NONE;
    const after = update(before);
    if (after !== before) keep({ ...get().byTool, [tool]: after });
  };
  const know = (tool: string, known: KnownNodes) =>
    set({ known: { ...get().known, [tool]: known } });
  const without = (points: Breakpoint[], node: string) =>
    points.filter((point) => point.node !== node);
  return {
    byTool: load<ByTool>(KEY, {}),
    known: {},
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
    rename: (tool, from, to) => change(tool, (points) => carried(points, from, to)),
    renameTool: (from, to) => {
      const { [from]: points, ...others } = get().byTool;
      if (points) keep({ ...others, [to]: points });
    },
    look: (tool, nodes) => know(tool, looked(get().known[tool], nodes)),
    refuse: (tool, node) => {
      const { nodes, refused } = get().known[tool] ?? { refused: [] };
      know(tool, { nodes, refused: [...refused, node] });
    },
  };
});

/** All breakpoints of a tool. */
export const breakpointsOf =
  (tool: string | null) =>
  (state: BreakpointState): Breakpoint[] =>
    (tool && state.byTool[tool]) || NONE;

/** The breakpoints of a tool that a run can come to. */
const armedOf =
  (tool: string | null) =>
  (state: BreakpointState): Breakpoint[] =>
    breakpointsOf(tool)(state).filter((point) => !isStray(point, state.known[tool ?? '']));

/**
 * Sends a tool's breakpoints along with a request. Those of nodes that the server does not know,
 * because the graph was changed elsewhere, are marked and left out.
 */
export async function sent<T>(
  tool: string | null,
  request: (breakpoints: Breakpoint[]) => Promise<T>,
): Promise<T> {
  const points = armedOf(tool)(useBreakpoints.getState());
  try {
    return await request(points);
  } catch (error) {
    const named = error instanceof Problem ? error.details.breakpoint : undefined;
    const refused = points.find(({ node }) => node === named);
    if (tool === null || !refused) throw error;
    useBreakpoints.getState().refuse(tool, refused.node);
    notify('info', `The breakpoint at ${refused.node} belongs to no node and was left out`);
    // Each time one less is sent.
    return sent(tool, request);
  }
}
