import { create } from 'zustand';
import { api, type Move, messageOf, Problem } from '../api/client';
import { followRun } from '../api/stream';
import type { Breakpoint, DebugState, ForkRequest, JsonObject, RunSummary } from '../api/types';
import { emptyRun, extend, momentOf, type RunModel } from '../model/run';
import { sent, useBreakpoints } from './breakpoints';
import { useLocation } from './location';
import { notify, wentWell } from './notices';

interface RunState {
  id: string | null;
  summary: RunSummary | null;
  model: RunModel;
  /** Whether events arrive; while they do not, the browser tries again by itself. */
  isConnected: boolean;
  /** Whether the server knows no such run. */
  isMissing: boolean;
  /** Whether this page can pause and step the run. */
  isDebugged: boolean;
  /** Whether the run is known to survive its process, and so not to stand still for anybody. */
  isDurable: boolean;
  debug: DebugState | null;
  /** The nodes that are not what they were in this run. */
  edited: Set<string>;
  open: (id: string | null) => void;
  start: (tool: string, input: JsonObject, paused: boolean) => Promise<void>;
  /** Begins a run that goes on from this one; why it was refused, if it was. */
  fork: (request: ForkRequest) => Promise<string | null>;
  move: (move: Move) => Promise<void>;
}

const NONE_EDITED = new Set<string>();

/** Whether the server says that something cannot be done with the run as it is. */
const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && (error.status === 404 || error.status === 409);

let unfollow: (() => void) | null = null;

export const useRun = create<RunState>((set, get) => {
  /** The run that is just asked about. */
  let described: string | null = null;

  const describe = async (id: string) => {
    described = id;
    const summary = await api.run(id).catch(() => null);
    if (described === id) described = null;
    if (get().id === id && summary) set({ summary });
  };

  const compare = async (id: string) => {
    const answer = await api.edited(id).catch(() => null);
    if (get().id === id && answer) set({ edited: new Set(answer.edited) });
  };

  const follow = (id: string) => {
    unfollow = followRun(
      id,
      (events) => {
        if (get().id !== id) return;
        set((state) => ({ model: extend(state.model, events) }));
        // What could not be told before is told now: something of the run is in the record.
        if (get().summary === null && described !== id) void describe(id);
        if (events.some((event) => event.type === 'paused' || event.type === 'resumed')) {
          void refresh(id);
        }
        if (events.some((event) => event.type === 'finished')) {
          set({ isDebugged: false, debug: null });
          void describe(id);
        }
      },
      (how) => {
        if (get().id !== id) return;
        set({ isConnected: how === 'open', isMissing: how === 'refused' });
        if (how === 'open') void describe(id);
      },
    );
  };

  const refresh = async (id: string) => {
    if (!get().isDebugged) return;
    const debug = await api.debugState(id).catch(() => null);
    if (get().id === id) set({ debug });
  };

  /** Controls the run, after taking control of it where this page has none. */
  const control = async (id: string, move: Move) => {
    if (get().isDebugged) {
      try {
        set({ debug: await api.move(id, move) });
        return;
      } catch (error) {
        if (!isRefusal(error) || error.status !== 404) throw error;
        // Whoever says nothing for a while loses control, and takes it again.
        set({ isDebugged: false, debug: null });
      }
    }
    const { summary, model, debug } = get();
    // Taking control of a run that stands still would let it go on if it were not told to stay.
    const stands = model.paused !== null || debug?.state === 'paused';
    const paused = stands || move === 'pause' || move === 'step' || move === 'stepOver';
    await sent(summary?.tool ?? null, (points) => api.join(id, paused, points));
    set({ isDebugged: true });
    if (move !== 'pause') set({ debug: await api.move(id, move) });
  };

  /** Says why a run was not controlled; one that has ended meanwhile needs no more control. */
  const refused = async (id: string, error: unknown) => {
    if (isRefusal(error)) {
      await describe(id);
      if (get().id !== id) return;
      set({ isDebugged: false, debug: null });
      if (get().model.finished !== null || get().summary?.status !== 'running') return;
    }
    notify('error', messageOf(error), 'control');
  };

  /** Begins a run with the tool's breakpoints, and looks at it. */
  const begin = async (
    tool: string | null,
    paused: boolean,
    request: (breakpoints: Breakpoint[]) => Promise<{ run: string }>,
  ) => {
    let isArmed = false;
    const { run } = await sent(tool, (breakpoints) => {
      isArmed = breakpoints.length > 0;
      return request(breakpoints);
    });
    wentWell('run');
    useLocation.getState().go({ screen: 'graph', run, step: null }, 'push');
    get().open(run);
    set({ isDebugged: paused || isArmed });
  };

  return {
    id: null,
    summary: null,
    model: emptyRun(),
    isConnected: true,
    isMissing: false,
    isDebugged: false,
    isDurable: false,
    debug: null,
    edited: NONE_EDITED,

    open: (id) => {
      if (id === get().id) return;
      unfollow?.();
      unfollow = null;
      const fresh = {
        summary: null,
        model: emptyRun(),
        isConnected: true,
        isMissing: false,
        isDebugged: false,
        isDurable: false,
        debug: null,
        edited: NONE_EDITED,
      };
      set({ id, ...fresh });
      if (id === null) return;
      void describe(id);
      void compare(id);
      follow(id);
    },

    start: async (tool, input, paused) => {
      try {
        await begin(tool, paused, (breakpoints) =>
          api.start({ tool, arguments: input, paused, breakpoints }),
        );
      } catch (error) {
        notify('error', messageOf(error), 'run');
      }
    },

    fork: async (request) => {
      const { id, summary } = get();
      if (id === null) return null;
      try {
        await begin(summary?.tool ?? null, request.paused === true, (breakpoints) =>
          api.fork(id, { ...request, breakpoints }),
        );
        return null;
      } catch (error) {
        return messageOf(error);
      }
    },

    move: async (move) => {
      const { id } = get();
      if (id === null) return;
      try {
        await control(id, move).catch(async (error) => {
          // No debugger stops a run that survives its process; whoever executes it does.
          if (!isRefusal(error) || error.code !== 'durable') throw error;
          if (get().id === id) set({ isDurable: true });
          if (move === 'stop') await api.stop(id);
        });
        wentWell('control');
      } catch (error) {
        await refused(id, error);
      }
    },
  };
});

useBreakpoints.subscribe((state, before) => {
  const { id, isDebugged, summary } = useRun.getState();
  if (id === null || !isDebugged || !summary || state.byTool === before.byTool) return;
  // A run that just ended has none.
  sent(summary.tool, (points) => api.setBreakpoints(id, points)).catch(() => null);
});

/** The last step that began. */
export const lastStep = (state: RunState): number => state.model.steps.length - 1;

/** The step that is looked at: the one in the address, or the last. */
export function useCursor(): number {
  const step = useLocation((location) => location.step);
  const last = useRun(lastStep);
  return step === null ? last : Math.min(step, last);
}

/** The moment that is looked at, as the last event that counts. */
export function useMoment(): number {
  const step = useLocation((location) => location.step);
  return useRun((state) => (step === null ? state.model.length - 1 : momentOf(state.model, step)));
}

/** The step of the selected node that counts at the cursor; that of the cursor if none is selected. */
export function useShownStep(): number | null {
  const cursor = useCursor();
  const node = useLocation((location) => location.node);
  return useRun((state) => {
    if (node === null || state.model.steps[cursor]?.node === node) return cursor;
    const steps = state.model.byNode.get(node) ?? [];
    return steps.findLast((step) => step.step <= cursor)?.step ?? null;
  });
}

export const isLive = (state: RunState): boolean =>
  state.id !== null &&
  !state.isMissing &&
  state.model.finished === null &&
  state.summary?.status !== 'interrupted';

/** Looks at a step; whoever is at the last one goes on with a run that does. */
export function seek(step: number) {
  const state = useRun.getState();
  const last = lastStep(state);
  const at = Math.max(0, Math.min(step, last));
  const node = state.model.steps[at]?.foreign ? null : (state.model.steps[at]?.node ?? null);
  useLocation.getState().go({ step: at === last ? null : at, node });
}
