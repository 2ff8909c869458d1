import { create } from 'zustand';
import { api, messageOf } from '../api/client';
import type { HookModule } from '../api/types';

interface ModulesState {
  /** Those of the store; none until they are known. */
  modules: HookModule[] | null;
  failure: string | null;
  load: () => Promise<void>;
}

/** The scripts of the store that several hooks share. */
export const useModules = create<ModulesState>((set) => ({
  modules: null,
  failure: null,
  load: async () => {
    try {
      set({ modules: (await api.hookModules()).hookModules, failure: null });
    } catch (error) {
      set({ failure: messageOf(error) });
    }
  },
}));
