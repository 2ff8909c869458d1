import { create } from 'zustand';
import { api, messageOf, Problem } from '../api/client';
import type { Draft, Edit, GraphDefinition, GraphDocument, GraphView, Subject } from '../api/types';
import { Changes, isSame, type Waiting } from '../model/changes';
import { gone, nodeIds, nothingOther } from '../model/definition';
import { fileName } from '../model/format';
import { beginning } from '../model/history';
import { inPlaceOf } from '../model/successor';
import { useBreakpoints } from './breakpoints';
import { Following, graphRenamed, nameOf, nodeRenamed, nodesRemoved, runsOf } from './following';
import { handOver } from './handover';
import { useLocation } from './location';
import { notify } from './notices';
import { type Conflict, type GraphTextual, typing } from './textual';

/** A text of the file, by the name that the server has for it. */
interface Version extends Conflict {
  etag: string;
}

interface DocumentState extends GraphTextual {
  /**
   * The text as it is here, with everything the server says about it; while it cannot be read, with
   * the tools and workflows of the last that could.
   */
  document: GraphDocument | null;
  /**
   * What is shown of it, with the changes that are on their way; the last that could be read while
   * the text cannot.
   */
  view: GraphView | null;
  /** The workflow that the address names, if the text had it and has none in its place. */
  missing: string | null;
  /** The text in the file, as far as it is known. */
  saved: Version | null;
  conflict: Version | null;
  load: () => Promise<void>;
  open: (name: string | null) => Promise<void>;
  /** Asks anew about the text, for what the address names. */
  refresh: () => void;
  /** Adds a tool, which is shown then, or removes what the file has. */
  edit: (edit: Extract<Edit, { op: 'add' | 'delete' }>) => Promise<boolean>;
  /** Looks whether the file is still the one that was read. */
  look: () => Promise<void>;
}

export const useDocument = create<DocumentState>((set, get) => {
  const changes = new Changes();
  const following = new Following();
  /** What the server said last of what is shown. */
  let told: GraphView | null = null;

  /** What of the file the address names. */
  const wanted = (): Subject | null => {
    const { screen, tool } = useLocation.getState();
    if (tool === null) return null;
    if (screen === 'graph') return { tool };
    return screen === 'workflows' ? { workflow: tool } : null;
  };

  /** What was told, as it will be. */
  const shown = (): GraphView | null => {
    const subject = subjectOf(told);
    if (!told || !subject) return null;
    const definition = changes.shown(subject, told.definition);
    return definition === told.definition ? told : { ...told, definition };
  };

  /**
   * Goes where the text that was changed has what is shown: whoever renames a tool letter by letter
   * stays with it. Whether there is such a place.
   */
  const follow = (draft: Draft): boolean => {
    const before = get().document;
    const from = wanted();
    if (!before || !from || !draft.readable) return false;
    const [names, namesBefore] = [namesIn(draft, from), namesIn(before, from)];
    const found = inPlaceOf(nameOf(from), namesBefore, names);
    const isThere = names.includes(nameOf(from));
    const isLost = !isThere && !found && namesBefore.includes(nameOf(from));
    if (isThere) set({ missing: null });
    else if (isLost && 'workflow' in from) set({ missing: from.workflow });
    if (found?.isRenamed) {
      const to = 'tool' in from ? { tool: found.name } : { workflow: found.name };
      graphRenamed(from, to).forth();
    } else if (found || (isLost && 'tool' in from)) {
      useLocation.getState().go({ tool: found?.name ?? null, node: null });
    }
    return found !== null;
  };

  const take = (draft: Draft) => {
    // What is shown stays in sight until it is known what takes its place.
    if (!follow(draft)) told = draft.view ?? (draft.readable ? null : told);
    const subject = subjectOf(draft.view ?? null);
    if (draft.view && subject)
      useBreakpoints.getState().look(runsOf(subject), nodeIds(draft.view.definition));
    const document = draft.readable ? draft : { ...draft, ...contentOf(get().document) };
    set({ document, failure: null, view: shown() });
  };

  const check = async (also?: () => void) => {
    const draft = await ask((text) => api.draft(text, wanted()));
    if (draft) take(draft);
    also?.();
  };

  /** Takes the answer to an edit that asked for `asked`: somebody may look at something else now. */
  const takeEdit = (draft: Draft, asked: Subject | null) => {
    const now = wanted();
    if (now === null || isSame(now, asked)) take(draft);
    else void check();
  };

  const { type, undo, redo, replace, ask, inOrder, renew, forget } = typing({
    read: get,
    update: set,
    check,
    onTravel: (from, to) => following.travelled(from, to),
  });

  /** What the text says of something in it. */
  const definitionIn = async (text: string, subject: Subject): Promise<GraphDefinition> => {
    const known = isSame(subjectOf(told), subject) ? told : null;
    if (known && get().document?.text === text) return known.definition;
    const { view, readable } = await api.draft(text, subject);
    if (view) return view.definition;
    // The server says what is wrong with a text that cannot be read.
    if (known && !readable) return known.definition;
    const message = `${nameOf(subject)} is not in the file any more, so it was not changed`;
    throw new Problem(404, { code: 'gone', message });
  };

  /** Makes a change when its turn has come; until then, what is shown has it already. */
  const waitFor = async (waiting: Waiting, make: () => Promise<boolean>): Promise<boolean> => {
    set({ view: shown() });
    const isDone = await inOrder(make).finally(() => changes.remove(waiting));
    if (!isDone) set({ view: shown() });
    return isDone;
  };

  return {
    document: null,
    view: null,
    missing: null,
    saved: null,
    ...beginning(''),
    conflict: null,
    failure: null,
    isSaving: false,
    underway: 0,

    load: async () => {
      try {
        const document = await api.document();
        const { etag, text } = document;
        const fresh = { conflict: null, failure: null, missing: null, ...beginning(text) };
        forget();
        changes.clear();
        following.forget();
        set({ document, saved: { etag, text }, ...fresh });
        const { screen, tool: named, go } = useLocation.getState();
        // An address that names what is not there says so, rather than to show something else.
        if (screen === 'graph' && named === null) {
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

    edit: (edit) =>
      inOrder(() => {
        const asked = edit.op === 'add' ? { tool: edit.definition.name } : wanted();
        return renew(
          (text) => api.draft(text, asked, edit),
          (draft) => {
            const { screen, go } = useLocation.getState();
            if (edit.op === 'add' && screen === 'graph')
              go({ tool: edit.definition.name, node: null });
            takeEdit(draft, asked);
          },
        );
      }),

    change: async (change) => {
      const subject = subjectOf(told);
      if (subject === null) return false;
      const waiting = changes.add(subject, change);
      return waitFor(waiting, () => {
        let asked: Subject | null = null;
        let before: GraphDefinition;
        let after: GraphDefinition;
        return renew(
          async (text) => {
            before = await definitionIn(text, waiting.subject);
            after = waiting.change(before, waiting.now);
            if (nothingOther(before, after)) {
              // A card that was let go elsewhere waits to hear where it is.
              void check();
              return null;
            }
            const now = wanted();
            asked = isSame(now, waiting.subject) ? subjectAfter(waiting.subject, after) : now;
            const edited = named(waiting.subject, before);
            return api.draft(text, asked, { op: 'set', ...edited, definition: after });
          },
          (draft, text) => {
            const { subject } = waiting;
            const renamed = subjectAfter(subject, after);
            changes.remove(waiting);
            changes.renameSubject(subject, renamed);
            if (!isSame(subject, renamed))
              following.changed(text, draft.text, graphRenamed(subject, renamed));
            else following.changed(text, draft.text, nodesRemoved(subject, gone(before, after)));
            takeEdit(draft, asked);
          },
        );
      });
    },

    rename: async (node, to) => {
      const subject = subjectOf(told);
      if (subject === null) return false;
      const waiting = changes.add(subject, (definition) => definition);
      return waitFor(waiting, () => {
        const from = waiting.now(node);
        const { subject } = waiting;
        let asked: Subject | null = null;
        if (from === to) return Promise.resolve(true);
        return renew(
          async (text) => {
            const edited = named(subject, await definitionIn(text, subject));
            asked = wanted();
            return api.draft(text, asked, { op: 'rename', ...edited, node: from, to });
          },
          (draft, text) => {
            changes.remove(waiting);
            changes.renameNode(subject, from, to);
            following.changed(text, draft.text, nodeRenamed(subject, from, to));
            takeEdit(draft, asked);
          },
        );
      });
    },

    save: () => {
      handOver();
      return inOrder(async () => {
        const { text, saved } = get();
        if (!saved) return false;
        set({ isSaving: true });
        try {
          const document = await api.save(text, saved.etag);
          set({ saved: { etag: document.etag, text }, conflict: null });
          notify('success', `Saved ${fileName(document.file)}`, 'save');
          return true;
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          const { etag, text: theirs } = error.details;
          if (error.status === 412 && etag !== undefined && theirs !== undefined) {
            set({ conflict: { text: theirs, etag } });
          } else {
            notify('error', error.message, 'save');
          }
          return false;
        } finally {
          set({ isSaving: false });
        }
      });
    },

    look: async () => {
      const { saved, underway, conflict } = get();
      if (!saved || underway > 0 || conflict) return;
      const version = await api.version().catch(() => null);
      if (!version || version.etag === saved.etag) return;
      const theirs = await api.document().catch(() => null);
      // What is done meanwhile is done first; the file is looked at again soon.
      if (!theirs || get().underway > 0 || theirs.etag === get().saved?.etag) return;
      if (get().text === get().saved?.text) {
        set({ saved: { etag: theirs.etag, text: theirs.text } });
        replace(theirs.text);
        await check();
        notify('info', `${fileName(theirs.file)} was changed on disk and read again`);
      } else {
        set({ conflict: { etag: theirs.etag, text: theirs.text } });
      }
    },

    resolve: (keep) =>
      inOrder(async () => {
        const { conflict } = get();
        if (!conflict) return;
        set({ saved: conflict, conflict: null });
        if (keep === 'theirs') {
          replace(conflict.text);
          await check();
        }
      }),
  };
});

/** What addresses call the tools or workflows of a file, whichever `subject` is one of. */
const namesIn = ({ tools, workflows }: GraphDocument, subject: Subject): string[] =>
  'tool' in subject ? tools.map(({ name }) => name) : workflows.map(({ id }) => id);

/** What a file was found to have. */
function contentOf(document: GraphDocument | null) {
  if (!document) return {};
  const { server, tools, workflows, hookModules, servers } = document;
  return { server, tools, workflows, hookModules, servers };
}

/** What is shown, by the name that the address has for it. */
function subjectOf(view: GraphView | null): Subject | null {
  if (!view) return null;
  const { pointer, name, definition } = view;
  return subjectAfter(pointer.startsWith('/workflows/') ? { workflow: name } : { tool: name }, {
    ...definition,
    name,
  });
}

/** What is edited, by its name: an address has the id of a workflow. */
const named = (subject: Subject, { name }: GraphDefinition): Subject =>
  'tool' in subject ? { tool: name } : { workflow: name };

/** What something is called in the address after it says another name. */
function subjectAfter(subject: Subject, { id, name }: GraphDefinition): Subject {
  return 'tool' in subject ? { tool: name } : { workflow: typeof id === 'string' ? id : name };
}

/** Whether something would be lost. */
export const isDirty = ({ saved, text, underway }: DocumentState): boolean =>
  saved !== null && (underway > 0 || text !== saved.text);
