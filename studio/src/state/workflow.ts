import { create } from 'zustand';
import { api, Problem } from '../api/client';
import type { GraphDefinition, WorkflowDraft } from '../api/types';
import { pretty } from '../model/format';
import { beginning, type History, redone, replaced, undone } from '../model/history';
import type { Conflict } from './document';
import { useLocation } from './location';
import { notify } from './notices';
import { useWorkflows } from './workflows';

/** Typing within this time is one change. */
const TYPING_MS = 1000;

/** How long typing rests before it is checked. */
const SETTLE_MS = 200;

interface WorkflowState extends History {
  id: string | null;
  /** What the server says about the text. */
  draft: WorkflowDraft | null;
  /** The text in the store; none of a workflow that is not there yet. */
  saved: string | null;
  /** The workflow was changed by somebody else. */
  conflict: Conflict | null;
  failure: string | null;
  isSaving: boolean;
  /** Shows a workflow of the store. */
  open: (id: string) => Promise<void>;
  /** Begins a workflow that is not in the store. */
  begin: (definition: GraphDefinition) => void;
  type: (text: string) => void;
  set: (definition: GraphDefinition) => Promise<boolean>;
  rename: (node: string, to: string) => Promise<boolean>;
  undo: () => void;
  redo: () => void;
  save: () => Promise<boolean>;
  resolve: (keep: 'mine' | 'theirs') => Promise<void>;
}

let lastTyped = 0;
let settling: ReturnType<typeof setTimeout> | undefined;
/** Counts the questions, so that an old answer does not replace a newer one. */
let asked = 0;

/** The workflow of the store that is edited. Its text is JSON; each change is a new text. */
export const useWorkflow = create<WorkflowState>((set, get) => {
  const check = async (rename?: { node: string; to: string }): Promise<boolean> => {
    asked += 1;
    const question = asked;
    try {
      const draft = await api.draftWorkflow(get().text, rename);
      if (question !== asked) return false;
      set((state) => ({
        ...replaced(state, draft.text),
        // What could be read last stays in sight while the text cannot.
        draft: draft.view || draft.readable ? draft : { ...draft, view: state.draft?.view ?? null },
        failure: null,
      }));
      return true;
    } catch (error) {
      if (question === asked && error instanceof Problem) notify('error', error.message);
      return false;
    }
  };

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

  const travel = (to: (history: History) => History) => {
    lastTyped = 0;
    set((state) => to(state));
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
        if (get().id === id)
          set({ failure: error instanceof Error ? error.message : String(error) });
      }
    },

    begin: (definition) => {
      const id = String(definition.id ?? definition.name);
      show(id, pretty(definition), null);
      useLocation
        .getState()
        .go({ screen: 'workflows', tool: id, run: null, step: null, node: null }, 'push');
    },

    type: (text) => {
      const now = Date.now();
      if (now - lastTyped > TYPING_MS) set((state) => replaced(state, text));
      else set({ text, future: [] });
      lastTyped = now;
      clearTimeout(settling);
      settling = setTimeout(() => void check(), SETTLE_MS);
    },

    set: (definition) => {
      lastTyped = 0;
      // Whoever changes something before the answer is there changes this, not what was before.
      set((state) => ({
        ...replaced(state, pretty(definition)),
        draft: state.draft && {
          ...state.draft,
          definition,
          view: state.draft.view && { ...state.draft.view, definition },
        },
      }));
      return check();
    },

    rename: (node, to) => {
      lastTyped = 0;
      return check({ node, to });
    },

    undo: () => travel(undone),
    redo: () => travel(redone),

    save: async () => {
      const { id, text, draft, saved } = get();
      if (id === null || !draft?.definition) return false;
      set({ isSaving: true });
      try {
        if (saved !== null) {
          const theirs = pretty(await api.workflow(id));
          if (theirs !== saved) {
            set({ conflict: { etag: '', text: theirs } });
            return false;
          }
        }
        await api.saveWorkflow(draft.definition);
        const now = String(draft.definition.id ?? draft.definition.name);
        // A workflow with another id is another workflow; the one it was is still there.
        set({ id: now, saved: text });
        if (now !== id) useLocation.getState().go({ tool: now });
        notify('success', `Saved ${draft.definition.name} to the store`);
        await useWorkflows.getState().load();
        return true;
      } catch (error) {
        notify('error', error instanceof Error ? error.message : String(error));
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
      set((state) => replaced(state, conflict.text));
      await check();
    },
  };
});
