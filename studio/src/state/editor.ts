import { createContext, useContext, useMemo } from 'react';
import type { GraphDefinition, GraphLink, GraphView, Report } from '../api/types';
import { findNode, usualConnection } from '../model/definition';
import { fileName } from '../model/format';
import { type Grammar, TOOL, WORKFLOW } from '../model/grammar';
import { type Conflict, isDirty, useDocument } from './document';
import { useLocation } from './location';
import { useWorkflow } from './workflow';

/** What is edited: a tool or workflow of the file, or a workflow of the store. */
export interface Editor {
  grammar: Grammar;
  view: GraphView | null;
  report: Report | null;
  /** The text of which everything else is made. */
  text: string;
  /** The text that the report is about. */
  checkedText: string;
  language: 'yaml' | 'json';
  /** Where the text belongs. */
  title: string;
  canUndo: boolean;
  canRedo: boolean;
  isDirty: boolean;
  isSaving: boolean;
  conflict: Conflict | null;
  type: (text: string) => void;
  set: (definition: GraphDefinition) => Promise<boolean>;
  rename: (node: string, to: string) => Promise<boolean>;
  undo: () => void;
  redo: () => void;
  save: () => Promise<boolean>;
  resolve: (keep: 'mine' | 'theirs') => Promise<void>;
}

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

type Actions =
  | 'text'
  | 'isSaving'
  | 'conflict'
  | 'type'
  | 'set'
  | 'rename'
  | 'undo'
  | 'redo'
  | 'save'
  | 'resolve';

function actions(state: Pick<Editor, Actions> & { past: string[]; future: string[] }) {
  const { text, isSaving, conflict, type, set, rename, undo, redo, save, resolve } = state;
  const can = { canUndo: state.past.length > 0, canRedo: state.future.length > 0 };
  return { text, isSaving, conflict, type, set, rename, undo, redo, save, resolve, ...can };
}

/** What the canvas may change. */
export interface CanvasEdits {
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
