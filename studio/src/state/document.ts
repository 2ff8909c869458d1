import { create } from 'zustand';
import { api, Problem } from '../api/client';
import type { Draft, Edit, GraphDocument, ToolDefinition, ToolView } from '../api/types';
import { fileName } from '../model/format';
import { useLocation } from './location';
import { notify } from './notices';

/** How many changes can be taken back. */
const MAX_UNDO = 200;

/** Typing within this time is one change. */
const TYPING_MS = 1000;

/** How long typing rests before it is checked. */
const SETTLE_MS = 200;

/** The file was changed by somebody else; nothing of it is lost as long as this is there. */
export interface Conflict {
  etag: string;
  text: string;
}

interface DocumentState {
  /** The text as it is here, with everything the server says about it. */
  document: GraphDocument | null;
  /** The tool that is shown; the last one that could be read while the text cannot. */
  tool: ToolView | null;
  /** The text in the file, as far as it is known. */
  saved: { etag: string; text: string } | null;
  text: string;
  past: string[];
  future: string[];
  conflict: Conflict | null;
  /** Why there is nothing to see. */
  failure: string | null;
  isSaving: boolean;
  load: () => Promise<void>;
  open: (name: string | null) => Promise<void>;
  /** Asks anew about the text, for the tool that the address names. */
  refresh: () => void;
  type: (text: string) => void;
  edit: (edit: Edit) => Promise<boolean>;
  set: (definition: ToolDefinition) => Promise<boolean>;
  undo: () => void;
  redo: () => void;
  save: () => Promise<boolean>;
  /** Looks whether the file is still the one that was read. */
  look: () => Promise<void>;
  resolve: (keep: 'mine' | 'theirs') => Promise<void>;
}

let lastTyped = 0;
let settling: ReturnType<typeof setTimeout> | undefined;
/** Counts the questions, so that an old answer does not replace a newer one. */
let asked = 0;

export const useDocument = create<DocumentState>((set, get) => {
  const wanted = () => useLocation.getState().tool;

  const take = (draft: Draft) => {
    set((state) => ({
      document: draft,
      failure: null,
      tool: draft.tool ?? (draft.readable ? null : state.tool),
    }));
  };

  const check = async () => {
    const question = ++asked;
    try {
      const draft = await api.draft(get().text, wanted());
      if (question === asked) take(draft);
    } catch (error) {
      if (question === asked && error instanceof Problem) notify('error', error.message);
    }
  };

  /** Puts a text in the place of the present one, to be taken back. */
  const replace = (text: string) => {
    const { text: old, past } = get();
    if (text === old) return;
    set({ text, past: [...past, old].slice(-MAX_UNDO), future: [] });
  };

  const travel = (from: 'past' | 'future', to: 'past' | 'future') => {
    const state = get();
    const text = state[from].at(-1);
    if (text === undefined) return;
    lastTyped = 0;
    set({ text, [from]: state[from].slice(0, -1), [to]: [...state[to], state.text] });
    void check();
  };

  return {
    document: null,
    tool: null,
    saved: null,
    text: '',
    past: [],
    future: [],
    conflict: null,
    failure: null,
    isSaving: false,

    load: async () => {
      try {
        const document = await api.document();
        const { etag, text } = document;
        set({
          document,
          saved: { etag, text },
          text,
          past: [],
          future: [],
          conflict: null,
          failure: null,
        });
        const known = document.tools.some((tool) => tool.name === wanted());
        const first = document.tools[0]?.name ?? null;
        if (!known) useLocation.getState().go({ tool: first, run: null, step: null, node: null });
        await check();
      } catch (error) {
        set({ failure: error instanceof Error ? error.message : String(error) });
      }
    },

    open: async (name) => {
      useLocation
        .getState()
        .go({ screen: 'graph', tool: name, run: null, step: null, node: null }, 'push');
      await check();
    },

    refresh: () => void check(),

    type: (text) => {
      const now = Date.now();
      if (now - lastTyped > TYPING_MS) replace(text);
      else set({ text, future: [] });
      lastTyped = now;
      clearTimeout(settling);
      settling = setTimeout(check, SETTLE_MS);
    },

    edit: async (edit) => {
      const question = ++asked;
      lastTyped = 0;
      try {
        const name = edit.op === 'add' || edit.op === 'set' ? edit.definition.name : wanted();
        const draft = await api.draft(get().text, name, edit);
        if (question !== asked) return false;
        replace(draft.text);
        if (name !== wanted()) useLocation.getState().go({ tool: name, node: null });
        take(draft);
        return true;
      } catch (error) {
        if (error instanceof Problem) notify('error', error.message);
        return false;
      }
    },

    set: (definition) => {
      const tool = get().tool;
      return tool ? get().edit({ op: 'set', tool: tool.name, definition }) : Promise.resolve(false);
    },

    undo: () => travel('past', 'future'),
    redo: () => travel('future', 'past'),

    save: async () => {
      const { text, saved } = get();
      if (!saved) return false;
      set({ isSaving: true });
      try {
        const document = await api.save(text, saved.etag);
        set({ saved: { etag: document.etag, text }, conflict: null });
        notify('success', `Saved ${fileName(document.file)}`);
        return true;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const { etag, text: theirs } = error.details;
        if (error.status === 412 && etag !== undefined && theirs !== undefined) {
          set({ conflict: { etag, text: theirs } });
        } else {
          notify('error', error.message);
        }
        return false;
      } finally {
        set({ isSaving: false });
      }
    },

    look: async () => {
      const { saved, text, isSaving, conflict } = get();
      if (!saved || isSaving || conflict) return;
      const version = await api.version().catch(() => null);
      if (!version || version.etag === saved.etag || get().isSaving) return;
      const theirs = await api.document().catch(() => null);
      if (!theirs || theirs.etag === get().saved?.etag) return;
      if (text === saved.text) {
        set({ saved: { etag: theirs.etag, text: theirs.text } });
        replace(theirs.text);
        await check();
        notify('info', `${fileName(theirs.file)} was changed on disk and read again`);
      } else {
        set({ conflict: { etag: theirs.etag, text: theirs.text } });
      }
    },

    resolve: async (keep) => {
      const { conflict } = get();
      if (!conflict) return;
      set({ saved: conflict, conflict: null });
      if (keep === 'theirs') {
        replace(conflict.text);
        await check();
      }
    },
  };
});

export const isDirty = (state: DocumentState): boolean =>
  state.saved !== null && state.text !== state.saved.text;
