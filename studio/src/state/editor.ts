import { createContext, useContext, useMemo } from 'react';
import type { GraphLink, GraphView, Report } from '../api/types';
import { findNode, usualConnection } from '../model/definition';
import { fileName } from '../model/format';
import { type Grammar, TOOL, WORKFLOW } from '../model/grammar';
import { type Place, placed, unplaced } from '../model/positions';
import { isDirty, useDocument } from './document';
import { useLocation } from './location';
import type { GraphTextual } from './textual';
import { useWorkflow } from './workflow';

/** What is edited: a tool or workflow of the file, or a workflow of the store. */
export interface Editor extends Actions {
  grammar: Grammar;
  view: GraphView | null;
  report: Report | null;
  /** The text that the report is about. */
  checkedText: string;
  language: 'yaml' | 'json';
  /** Where the text belongs. */
  title: string;
  isDirty: boolean;
}

type Actions = Omit<GraphTextual, 'failure'>;

export const EditorContext = createContext<Editor | null>(null);

/** The editor of what the screen shows. */
export function useEditor(): Editor {
  const editor = useContext(EditorContext);
  if (!editor) throw new Error('there is no editor around this');
  return editor;
}

/** Whether the workflow that the address names is one of the store. */
export function useIsStored(): boolean {
  const { screen, tool } = useLocation();
  const inFile = useDocument((state) => state.document?.workflows.some(({ id }) => id === tool));
  return screen === 'workflows' && inFile !== true;
}

/** The editor that the address asks for. */
export function useChosenEditor(): Editor {
  const inFile = useFileEditor();
  const stored = useStoreEditor();
  return useIsStored() ? stored : inFile;
}

function useFileEditor(): Editor {
  const state = useDocument();
  const screen = useLocation((location) => location.screen);
  return useMemo(
    () => ({
      ...actions(state),
      grammar: screen === 'workflows' ? WORKFLOW : TOOL,
      view: state.view,
      report: state.document?.report ?? null,
      checkedText: state.document?.text ?? '',
      language: 'yaml',
      title: fileName(state.document?.file ?? ''),
      isDirty: isDirty(state),
    }),
    [state, screen],
  );
}

function useStoreEditor(): Editor {
  const state = useWorkflow();
  return useMemo(
    () => ({
      ...actions(state),
      grammar: WORKFLOW,
      view: state.draft?.view ?? null,
      report: state.draft?.report ?? null,
      checkedText: state.draft?.text ?? '',
      language: 'json',
      title: 'in the store',
      isDirty: state.id !== null && state.text !== state.saved,
    }),
    [state],
  );
}

function actions(state: GraphTextual): Actions {
  const { text, past, future, isSaving, conflict } = state;
  const { type, set, rename, undo, redo, save, resolve } = state;
  return {
    text,
    past,
    future,
    isSaving,
    conflict,
    type,
    set,
    rename,
    undo,
    redo,
    save,
    resolve,
  };
}

/** What the canvas may change. */
export interface CanvasEdits {
  /** Puts a node at a place; whether that was done. */
  place: (node: string, at: Place) => Promise<boolean>;
  /** Leaves the place of all nodes to the layout. */
  arrange: () => void;
  connect: (from: string, to: string) => void;
  remove: (nodes: string[], links: GraphLink[]) => void;
}

/** Whether nodes can be added and connected; a tool that is one command has none of its own. */
export const hasNodes = (view: GraphView | null): boolean => Array.isArray(view?.definition.nodes);

export function useCanvasEdits(): CanvasEdits | null {
  const { grammar, view, set } = useEditor();
  return useMemo(() => {
    if (!view || !hasNodes(view)) return null;
    const { definition } = view;
    return {
      place: (node, at) => set(placed(definition, view.nodes, node, at)),
      arrange: () => void set(unplaced(definition)),
      connect: (from, to) => {
        const node = findNode(definition, from);
        const as = usualConnection(node && grammar.said(node));
        void set(grammar.connect(definition, from, to, as));
      },
      remove: (nodes, links) => {
        let changed = definition;
        for (const link of nodes.length > 0 ? [] : links)
          changed = grammar.disconnect(changed, link);
        for (const id of nodes) changed = grammar.removeNode(changed, id);
        if (changed === definition) return;
        useLocation.getState().go({ node: null });
        void set(changed);
      },
    };
  }, [grammar, view, set]);
}
