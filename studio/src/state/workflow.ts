import { create } from 'zustand';
import { api, messageOf, Problem } from '../api/client';
import type { GraphDefinition, Subject, WorkflowDraft } from '../api/types';
import { Changes, type Waiting } from '../model/changes';
import { gone, nodeIds, nothingOther } from '../model/definition';
import { pretty } from '../model/format';
import { beginning } from '../model/history';
import { parseJson } from '../model/schema';
import { useBreakpoints } from './breakpoints';
import { Following, nodeRenamed, nodesRemoved, runsOf } from './following';
import { handOver } from './handover';
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
  const changes = new Changes();
  const following = new Following();
  /** What the server said last of the text. */
  let told: WorkflowDraft | null = null;

  const subject = (): Subject => ({ workflow: get().id ?? '' });

  /** What was told, with the changes that are on their way. */
  const shown = (): WorkflowDraft | null => {
    if (!told?.view) return told;
    const definition = changes.shown(subject(), told.view.definition);
    if (definition === told.view.definition) return told;
    return { ...told, definition, view: { ...told.view, definition } };
  };

  const take = (draft: WorkflowDraft) => {
    // What could be read last stays in sight while the text cannot.
    told = draft.view || draft.readable ? draft : { ...draft, view: told?.view ?? null };
    if (draft.view) {
      useBreakpoints.getState().look(runsOf(subject()), nodeIds(draft.view.definition));
    }
    set({ draft: shown(), failure: null });
  };

  const check = async (also?: () => void) => {
    const draft = await ask((text) => api.draftWorkflow(text));
    if (draft) take(draft);
    also?.();
  };

  const { type, undo, redo, replace, ask, inOrder, renew, forget } = typing({
    read: get,
    update: set,
    check,
    onTravel: (from, to) => following.travelled(from, to),
  });

  /** Another workflow is shown from now on. */
  const begin = (id: string, text: string, saved: string | null) => {
    forget();
    changes.clear();
    following.forget();
    told = null;
    set({ id, saved, draft: null, conflict: null, failure: null, ...beginning(text) });
  };

  const show = (id: string, text: string, saved: string | null) => {
    begin(id, text, saved);
    void check();
  };

  /** It is in the store with this text. With another id it is another one; the old is still there. */
  const keep = (id: string, definition: GraphDefinition, text: string) => {
    const now = String(definition.id ?? definition.name);
    changes.renameSubject({ workflow: id }, { workflow: now });
    set({ id: now, saved: text });
    if (now !== id) useLocation.getState().go({ tool: now });
  };

  /** Makes a change when its turn has come; until then, what is shown has it already. */
  const waitFor = async (waiting: Waiting, make: () => Promise<boolean>): Promise<boolean> => {
    set({ draft: shown() });
    const isDone = await inOrder(make).finally(() => changes.remove(waiting));
    if (!isDone) set({ draft: shown() });
    return isDone;
  };

  return {
    id: null,
    draft: null,
    saved: null,
    ...beginning(''),
    conflict: null,
    failure: null,
    isSaving: false,
    underway: 0,

    open: async (id) => {
      if (get().id === id) return;
      // What was asked of the one before is about that one.
      await inOrder(async () => begin(id, '', null));
      try {
        const text = pretty(await api.workflow(id));
        if (get().id === id) show(id, text, text);
      } catch (error) {
        if (get().id === id) set({ failure: messageOf(error) });
      }
    },

    begin: (definition) => {
      const id = String(definition.id ?? definition.name);
      void inOrder(async () => {
        show(id, pretty(definition), null);
        const place = { run: null, step: null, node: null };
        useLocation.getState().go({ screen: 'workflows', tool: id, ...place }, 'push');
      });
    },

    type,
    undo,
    redo,

    change: (change) => {
      const waiting = changes.add(subject(), change);
      return waitFor(waiting, () => {
        let before: GraphDefinition;
        let after: GraphDefinition;
        return renew(
          async (text) => {
            before = definitionIn(text);
            after = waiting.change(before, waiting.now);
            if (nothingOther(before, after)) {
              // A card that was let go elsewhere waits to hear where it is.
              void check();
              return null;
            }
            return api.draftWorkflow(pretty(after));
          },
          (draft, text) => {
            changes.remove(waiting);
            const removed = nodesRemoved(subject(), gone(before, after));
            following.changed(text, draft.text, removed);
            take(draft);
          },
        );
      });
    },

    rename: (node, to) => {
      const waiting = changes.add(subject(), (definition) => definition);
      return waitFor(waiting, () => {
        const from = waiting.now(node);
        if (from === to) return Promise.resolve(true);
        return renew(
          (text) => api.draftWorkflow(text, { node: from, to }),
          (draft, text) => {
            changes.remove(waiting);
            changes.renameNode(subject(), from, to);
            following.changed(text, draft.text, nodeRenamed(subject(), from, to));
            take(draft);
          },
        );
      });
    },

    save: () => {
      handOver();
      return inOrder(async () => {
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
          if (get().id === id) keep(id, definition, text);
          notify('success', `Saved ${definition.name} to the store`, 'save');
          await Promise.all([useWorkflows.getState().load(), useModules.getState().load()]);
          return true;
        } catch (error) {
          notify('error', messageOf(error), 'save');
          return false;
        } finally {
          set({ isSaving: false });
        }
      });
    },

    resolve: (keep) =>
      inOrder(async () => {
        const { conflict } = get();
        if (!conflict) return;
        set({ saved: conflict.text, conflict: null });
        if (keep === 'mine') return;
        replace(conflict.text);
        await check();
      }),
  };
});

/** The workflow that a text says. */
function definitionIn(text: string): GraphDefinition {
  const parsed = parseJson(text);
  if ('value' in parsed) return parsed.value as GraphDefinition;
  const message = `The text cannot be read, so nothing was changed: ${parsed.error}`;
  throw new Problem(0, { code: 'unreadable', message });
}

/** Whether something would be lost. */
export const isWorkflowDirty = ({ id, text, saved, underway }: WorkflowState): boolean =>
  id !== null && (underway > 0 || text !== saved);
