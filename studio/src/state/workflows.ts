import { create } from 'zustand';
import { api, messageOf } from '../api/client';
import type { WorkflowSummary, WorkflowTemplate } from '../api/types';
import { useModules } from './modules';
import { notify } from './notices';

interface WorkflowsState {
  /** Those of the store; none until they are known. */
  stored: WorkflowSummary[] | null;
  templates: WorkflowTemplate[];
  failure: string | null;
  load: () => Promise<void>;
  enable: (id: string, enabled: boolean) => Promise<void>;
  remove: (id: string) => Promise<void>;
  /** Puts a workflow at another place among those around the same call. */
  prioritise: (id: string, priority: number) => Promise<void>;
}

/** The workflows of the store: what is put around calls, in which order, and whether it is in use. */
export const useWorkflows = create<WorkflowsState>((set, get) => {
  const change = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      notify('error', messageOf(error));
    }
    await Promise.all([get().load(), useModules.getState().load()]);
  };
  return {
    stored: null,
    templates: [],
    failure: null,

    load: async () => {
      try {
        const { workflows } = await api.workflows();
        set({ stored: workflows, failure: null });
        if (get().templates.length === 0) set(await api.workflowTemplates());
      } catch (error) {
        set({ failure: messageOf(error) });
      }
    },

    enable: (id, enabled) => change(() => api.enableWorkflow(id, enabled)),
    remove: (id) => change(() => api.removeWorkflow(id)),
    prioritise: (id, priority) =>
      change(async () => api.saveWorkflow({ ...(await api.workflow(id)), priority })),
  };
});
