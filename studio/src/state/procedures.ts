import { create } from 'zustand';
import { api, messageOf } from '../api/client';
import type { ProcedureSummary, Report } from '../api/types';

interface ProceduresState {
  /** None until they are known. */
  procedures: ProcedureSummary[] | null;
  report: Report | null;
  failure: string | null;
  load: () => Promise<void>;
}

/** The procedures that are served beside the tools. */
export const useProcedures = create<ProceduresState>((set) => ({
  procedures: null,
  report: null,
  failure: null,
  load: async () => {
    try {
      set({ ...(await api.procedures()), failure: null });
    } catch (error) {
      set({ failure: messageOf(error) });
    }
  },
}));
