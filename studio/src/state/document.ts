import { create } from 'zustand';
import { api, messageOf, Problem } from '../api/client';
import type { Draft, Edit, GraphDocument, GraphView, Subject } from '../api/types';
import { fileName } from '../model/format';
import { beginning } from '../model/history';
import { useLocation } from './location';
import { notify } from './notices';
import { type Conflict, type GraphTextual, typing } from './textual';

/** A text of the file, by the name that the server has for it. */
interface Version extends Conflict {
  etag: string;
}

interface DocumentState extends GraphTextual {
  /** The text as it is here, with everything the server says about it. */
  document: GraphDocument | null;
  /** What is shown of it; the last that could be read while the text cannot. */
  view: GraphView | null;
  /** The text in the file, as far as it is known. */
  saved: Version | null;
  conflict: Version | null;
  load: () => Promise<void>;
  open: (name: string | null) => Promise<void>;
  /** Asks anew about the text, for what the address names. */
  refresh: () => void;
  edit: (edit: Edit) => Promise<boolean>;
  /** Looks whether the file is still the one that was read. */
  look: () => Promise<void>;
}

export const useDocument = create<DocumentState>((set, get) => {
  /** What of the file the address names. */
  const wanted = (): Subject | null => {
    const { screen, tool } = useLocation.getState();
    if (tool === null) return null;
    if (screen === 'graph') return { tool };
    return screen === 'workflows' ? { workflow: tool } : null;
  };

  const take = (draft: Draft) => {
    set((state) => ({
      document: draft,
      failure: null,
      view: draft.view ?? (draft.readable ? null : state.view),
    }));
  };

  const check = async () => {
    const draft = await ask(() => api.draft(get().text, wanted()));
    if (draft) take(draft);
  };

  const { type, undo, redo, replace, ask } = typing((change) => set(change), check);

  return {
    document: null,
    view: null,
    saved: null,
    ...beginning(''),
    conflict: null,
    failure: null,
    isSaving: false,

    load: async () => {
      try {
        const document = await api.document();
        const { etag, text } = document;
        const fresh = { conflict: null, failure: null, ...beginning(text) };
        set({ document, saved: { etag, text }, ...fresh });
        const { screen, tool: named, go } = useLocation.getState();
        const isKnown = document.tools.some((tool) => tool.name === named);
        if (screen === 'graph' && !isKnown) {
          go({ tool: document.tools[0]?.name ?? null, run: null, step: null, node: null });
        }
        await check();
      } catch (error) {
        set({ failure: messageOf(error) });
      }
    },

    open: async (name) => {
      useLocation
        .getState()
        .go({ screen: 'graph', tool: name, run: null, step: null, node: null }, 'push');
      await check();
    },

    refresh: () => void check(),

    type,
    undo,
    redo,

    edit: async (edit) => {
      const shown = shownAfter(edit) ?? wanted();
      const draft = await ask(() => api.draft(get().text, shown, edit));
      if (!draft) return false;
      replace(draft.text);
      const name = shown && ('tool' in shown ? shown.tool : shown.workflow);
      const { tool, go } = useLocation.getState();
      if (name !== tool) go({ tool: name, node: null });
      take(draft);
      return true;
    },

    set: async (definition) => {
      const { view } = get();
      const subject = subjectOf(view);
      if (!view || subject === null) return false;
      // Whoever changes something before the answer is there changes this, not what was before.
      set({ view: { ...view, definition } });
      const isDone = await get().edit({ op: 'set', ...subject, definition });
      if (!isDone && get().view?.definition === definition) await check();
      return isDone;
    },

    rename: async (node, to) => {
      const subject = subjectOf(get().view);
      return subject !== null && get().edit({ op: 'rename', ...subject, node, to });
    },

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
          set({ conflict: { text: theirs, etag } });
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

/** What is shown, by the name that the file has for it. */
function subjectOf(view: GraphView | null): Subject | null {
  if (!view) return null;
  return view.pointer.startsWith('/workflows/') ? { workflow: view.name } : { tool: view.name };
}

/** What is to be shown after an edit that names something anew. */
function shownAfter(edit: Edit): Subject | null {
  if (edit.op === 'add') return { tool: edit.definition.name };
  if (edit.op !== 'set') return null;
  const { id, name } = edit.definition;
  return 'tool' in edit ? { tool: name } : { workflow: typeof id === 'string' ? id : name };
}

export const isDirty = (state: DocumentState): boolean =>
  state.saved !== null && state.text !== state.saved.text;
