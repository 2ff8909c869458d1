import { createContext, useContext, useMemo } from 'react';
import type { GraphLink, GraphView, NodeDefinition, Report } from '../api/types';
import type { Names } from '../model/changes';
import { findNode, usualConnection } from '../model/definition';
import { fileName, isBlank } from '../model/format';
import { type Grammar, TOOL, WORKFLOW } from '../model/grammar';
import { type Place, placed, unplaced } from '../model/positions';
import { isDirty, useDocument } from './document';
import { useLocation } from './location';
import type { GraphTextual } from './textual';
import { isWorkflowDirty, useWorkflow } from './workflow';

/** What is edited: a tool or workflow of the file, or a workflow of the store. */
export interface Editor extends Actions {
  grammar: Grammar;
  view: GraphView | null;
  report: Report | null;
  /** The text that the report is about. */
  checkedText: string;
  language: 'yaml' | 'json';
  /** Whether the text is there. */
  isOpen: boolean;
  /** Whether it can be read; one that says nothing yet can. */
  isReadable: boolean;
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
  const inFile = useDocument(
    ({ document, missing }) =>
      missing === tool || document?.workflows.some(({ id }) => id === tool) === true,
  );
  return screen === 'workflows' && !inFile;
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
      isOpen: state.document !== null && state.failure === null,
      isReadable:
        state.document === null || state.document.readable || isBlank(state.document.text),
      title: fileName(state.document?.file ?? ''),
      isDirty: isDirty(state),
    }),
    [state, screen],
  );
}

function useStoreEditor(): Editor {
  const state = useWorkflow();
  const id = useLocation((location) => location.tool);
  return useMemo(
    () => ({
      ...actions(state),
      grammar: WORKFLOW,
      view: state.id === id ? (state.draft?.view ?? null) : null,
      report: state.draft?.report ?? null,
      checkedText: state.draft?.text ?? '',
      language: 'json',
      isOpen: state.id === id,
      isReadable: state.draft?.readable ?? true,
      title: 'in the store',
      isDirty: isWorkflowDirty(state),
    }),
    [state, id],
  );
}

function actions(state: GraphTextual): Actions {
  const { text, past, future, isSaving, underway, conflict } = state;
  const { type, change, rename, undo, redo, save, resolve } = state;
  return {
    text,
    past,
    future,
    isSaving,
    underway,
    conflict,
    type,
    change,
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

/** Gives the keys to the graph once what had them is gone. */
export function focusGraph() {
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('.canvas, .outline')?.focus({ preventScroll: true }),
  );
}

/** Whether nodes can be added and connected; a tool that is one command has none of its own. */
export const hasNodes = (view: GraphView | null): boolean => Array.isArray(view?.definition.nodes);

export function useCanvasEdits(): CanvasEdits | null {
  const { grammar, view, change } = useEditor();
  return useMemo(() => {
    if (!view || !hasNodes(view)) return null;
    return {
      place: (node, at) =>
        change((definition, now) => {
          const cards = view.nodes.map((card) => ({ ...card, id: now(card.id) }));
          return placed(definition, cards, now(node), at);
        }),
      arrange: () => void change((definition) => unplaced(definition)),
      connect: (from, to) =>
        void change((definition, now) => {
          const node = findNode(definition, now(from));
          const as = usualConnection(node && grammar.said(node));
          return grammar.connect(definition, now(from), now(to), as);
        }),
      remove: (nodes, links) => {
        if (nodes.length + links.length === 0) return;
        useLocation.getState().go({ node: null });
        focusGraph();
        void change((definition, now) => {
          if (nodes.length > 0) {
            return nodes.reduce((left, id) => grammar.removeNode(left, now(id)), definition);
          }
          return links
            .map((link) => linkNow(link, now))
            .reduce((left, link) => grammar.disconnect(left, link), definition);
        });
      },
    };
  }, [grammar, view, change]);
}

/** A change of one node, if it is still there. */
export type NodeChange = (node: NodeDefinition, now: Names) => NodeDefinition;

/** What changes a node, as it says itself, whatever it is when its turn has come. */
export function useNodeChange(id: string): (change: NodeChange) => Promise<boolean> {
  const { grammar, change } = useEditor();
  return (update) =>
    change((definition, now) => {
      const node = findNode(definition, now(id));
      if (!node) return definition;
      return grammar.setNode(definition, update(grammar.said(node), now));
    });
}

/** An edge, by the names that its ends have by now. */
export const linkNow = (link: GraphLink, now: Names): GraphLink => ({
  ...link,
  from: now(link.from),
  to: now(link.to),
});
