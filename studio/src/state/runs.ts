import { create } from 'zustand';
import { api, messageOf, Problem, type RunFilter } from '../api/client';
import { followRuns } from '../api/stream';
import type { RunSummary } from '../api/types';
import { merge } from '../model/merge';
import { notify } from './notices';
import { lookForQuestions } from './questions';

interface RunsState {
  /** The newest runs of all tools, for the sidebar. */
  recent: RunSummary[];
  /** What the list of runs shows. */
  filter: RunFilter;
  runs: RunSummary[];
  next: string | null;
  isLoading: boolean;
  /** Why there are none. */
  failure: { code: string; message: string } | null;
  refresh: () => Promise<void>;
  search: (filter: RunFilter) => Promise<void>;
  more: () => Promise<void>;
  remove: (id: string) => Promise<void>;
}

const RECENT = 30;

export const useRuns = create<RunsState>((set, get) => ({
  recent: [],
  filter: {},
  runs: [],
  next: null,
  isLoading: true,
  failure: null,

  refresh: async () => {
    try {
      const { runs } = await api.runs({});
      set({ recent: runs.slice(0, RECENT), failure: null });
    } catch (error) {
      if (error instanceof Problem) set({ failure: { code: error.code, message: error.message } });
    }
  },

  search: async (filter) => {
    set({ filter, isLoading: true });
    try {
      const { runs, next } = await api.runs(filter);
      if (get().filter === filter) set({ runs, next, failure: null });
    } catch (error) {
      if (error instanceof Problem) set({ failure: { code: error.code, message: error.message } });
    } finally {
      set({ isLoading: false });
    }
  },

  more: async () => {
    const { filter, next } = get();
    if (!next) return;
    const page = await api.runs(filter, next).catch(() => null);
    if (page) set((state) => ({ runs: [...state.runs, ...page.runs], next: page.next }));
  },

  remove: async (id) => {
    try {
      await api.removeRun(id);
    } catch (error) {
      notify('error', messageOf(error));
      return;
    }
    const without = (runs: RunSummary[]) => runs.filter((run) => run.id !== id);
    set((state) => ({ runs: without(state.runs), recent: without(state.recent) }));
  },
}));

/** Keeps the lists up to date. */
export function followAll(): () => void {
  lookForQuestions();
  return followRuns((changed) => {
    // A run that asks, or has been answered, is a run that changed.
    lookForQuestions();
    useRuns.setState((state) => {
      const known = new Set(state.runs.map((run) => run.id));
      const shown = changed.filter((run) => known.has(run.id) || isEmpty(state.filter));
      return {
        recent: merge(state.recent, changed, RECENT),
        runs: merge(state.runs, shown, Math.max(state.runs.length, 100)),
      };
    });
  });
}

const isEmpty = (filter: RunFilter): boolean => Object.values(filter).every((value) => !value);
