import { create } from 'zustand';
import { api, messageOf } from '../api/client';
import type { GraphDefinition, WorkflowDraft } from '../api/types';
import { pretty } from '../model/format';
import { beginning } from '../model/history';
import { parseJson } from '../model/schema';
import { useLocation } from './location';
import { useModules } from './modules';
import { notify } from './notices';
import { type GraphTextual, typing } from './textual';
import { useWorkflows } from './workflows';

interface WorkflowState extends GraphTextual {
  id: string | null;
  /** What the server says about the text. */
  draft: WorkflowDraft | null;
  /** The text in the store; none of a workflow that is not there yet. */
  saved: string | null;
  /** Shows a workflow of the store. */
  open: (id: string) => Promise<void>;
  /** Begins a workflow that is not in the store. */
  begin: (definition: GraphDefinition) => void;
}

/** The workflow of the store that is edited. Its text is JSON; each change is a new text. */
export const useWorkflow = create<WorkflowState>((set, get) => {
  const check = async (renamed?: { node: string; to: string }): Promise<boolean> => {
    const draft = await ask(() => api.draftWorkflow(get().text, renamed));
    if (!draft) return false;
    if (renamed) replace(draft.text);
    set((state) => ({
      // What could be read last stays in sight while the text cannot.
      draft: draft.view || draft.readable ? draft : { ...draft, view: state.draft?.view ?? null },
      failure: null,
    }));
    return true;
  };

  const { type, undo, redo, replace, ask } = typing(
    (change) => set(change),
    () => check(),
  );

  const show = (id: string, text: string, saved: string | null) => {
    set({
      id,
      saved,
      draft: null,
      conflict: null,
      failure: null,
      ...beginning(text),
    });
    void check();
  };

  return {
    id: null,
    draft: null,
    saved: null,
    ...beginning(''),
    conflict: null,
    failure: null,
    isSaving: false,

    open: async (id) => {
      if (get().id === id) return;
      set({ id, draft: null, failure: null, saved: null, ...beginning('') });
      try {
        const text = pretty(await api.workflow(id));
        if (get().id === id) show(id, text, text);
      } catch (error) {
        if (get().id === id) set({ failure: messageOf(error) });
      }
    },

    begin: (definition) => {
      const id = String(definition.id ?? definition.name);
      show(id, pretty(definition), null);
      useLocation
        .getState()
        .go({ screen: 'workflows', tool: id, run: null, step: null, node: null }, 'push');
    },

    type,
    undo,
    redo,

    set: (definition) => {
      replace(pretty(definition));
      // Whoever changes something before the answer is there changes this, not what was before.
      set(({ draft }) => ({
        draft: draft && {
          ...draft,
          definition,
          view: draft.view && { ...draft.view, definition },
        },
      }));
      return check();
    },

    rename: (node, to) => check({ node, to }),

    save: async () => {
      const { id, text, saved } = get();
      const parsed = parseJson(text);
      if (id === null || !('value' in parsed)) return false;
      const definition = parsed.value as GraphDefinition;
      set({ isSaving: true });
      try {
        if (saved !== null) {
          const theirs = pretty(await api.workflow(id));
          if (theirs !== saved) {
            set({ conflict: { text: theirs } });
            return false;
          }
        }
        await api.saveWorkflow(definition);
        const now = String(definition.id ?? definition.name);
        // A workflow with another id is another workflow; the one it was is still there.
        set({ id: now, saved: text });
        if (now !== id) useLocation.getState().go({ tool: now });
        notify('success', `Saved ${definition.name} to the store`);
        await Promise.all([useWorkflows.getState().load(), useModules.getState().load()]);
        return true;
      } catch (error) {
        notify('error', messageOf(error));
        return false;
      } finally {
        set({ isSaving: false });
      }
    },

    resolve: async (keep) => {
      const { conflict } = get();
      if (!conflict) return;
      set({ saved: conflict.text, conflict: null });
      if (keep === 'mine') return;
      replace(conflict.text);
      await check();
    },
  };
});
