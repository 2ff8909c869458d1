/** Everything of CodeMirror, in a chunk of its own: it is loaded when an editor is first shown. */

import {
  autocompletion,
  type Completion,
  type CompletionContext,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Annotation, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { jsonata } from './jsonata';
import { theme } from './theme';

export type Language = 'yaml' | 'json' | 'jsonata' | 'javascript' | 'text';

/** A problem at its place in the text. */
export interface Mark {
  from: number;
  to: number;
  severity: 'error' | 'warning';
  message: string;
}

export interface EditorOptions {
  parent: ShadowRoot;
  text: string;
  language: Language;
  label: string;
  readOnly: boolean;
  /** Whether the editor keeps its own history; the page may have one for the same text. */
  undoes: boolean;
  onChange: (text: string) => void;
  onBlur: () => void;
  /** The names that can be completed, as they are when asked for. */
  names: () => Completion[];
}

export interface Editor {
  setText: (text: string) => void;
  setMarks: (marks: Mark[]) => void;
  reveal: (offset: number) => void;
  destroy: () => void;
}

/** Marks a change that came from outside, which nobody has to be told of. */
const fromOutside = Annotation.define<boolean>();

const languages: Record<Language, () => Extension> = {
  yaml,
  json,
  jsonata: () => jsonata,
  javascript: () => javascript(),
  text: () => [],
};

function completions(names: () => Completion[]) {
  return (context: CompletionContext) => {
    const word = context.matchBefore(/[$\w.]+/);
    if (!word && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options: names(), validFor: /^[$\w.]*$/ };
  };
}

const shared = (language: Language): Extension => [
  lineNumbers(),
  drawSelection(),
  bracketMatching(),
  // The indentation of YAML is read best in lines that are not broken.
  language === 'yaml' ? [] : EditorView.lineWrapping,
  languages[language](),
  theme,
];

export function createEditor(options: EditorOptions): Editor {
  const view = new EditorView({
    parent: options.parent,
    root: options.parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        shared(options.language),
        foldGutter(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        indentOnInput(),
        lintGutter(),
        options.undoes ? history() : [],
        autocompletion({ override: [completions(options.names)], icons: false }),
        EditorState.readOnly.of(options.readOnly),
        EditorView.contentAttributes.of({ 'aria-label': options.label, tabindex: '0' }),
        keymap.of([
          ...completionKeymap,
          ...lintKeymap,
          ...searchKeymap,
          ...foldKeymap,
          ...(options.undoes ? historyKeymap : []),
          ...defaultKeymap,
          indentWithTab,
        ]),
        EditorView.domEventHandlers({ blur: () => options.onBlur() }),
        EditorView.updateListener.of((update) => {
          const isOwn = update.transactions.some((change) => change.annotation(fromOutside));
          if (update.docChanged && !isOwn) options.onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    setText: (text) => {
      const old = view.state.doc.toString();
      if (text === old) return;
      // Only what differs is replaced, so that the cursor stays where it is.
      const start = commonStart(old, text);
      const end = commonEnd(old, text, start);
      view.dispatch({
        changes: {
          from: start,
          to: old.length - end,
          insert: text.slice(start, text.length - end),
        },
        annotations: fromOutside.of(true),
      });
    },
    setMarks: (marks) => {
      const length = view.state.doc.length;
      const inside = marks.map((mark) => ({
        ...mark,
        from: Math.min(mark.from, length),
        to: Math.min(Math.max(mark.to, mark.from), length),
      }));
      view.dispatch(setDiagnostics(view.state, inside));
    },
    reveal: (offset) => {
      const at = Math.min(offset, view.state.doc.length);
      view.dispatch({
        selection: { anchor: at },
        effects: EditorView.scrollIntoView(at, { y: 'center' }),
      });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}

function commonStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a[at] === b[at]) at += 1;
  return at;
}

function commonEnd(a: string, b: string, start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let count = 0;
  while (count < most && a[a.length - 1 - count] === b[b.length - 1 - count]) count += 1;
  return count;
}

export interface DiffOptions {
  parent: ShadowRoot;
  a: string;
  b: string;
  labels: [string, string];
  language: Language;
  /** One below the other, where there is little room. */
  stacked: boolean;
}

const COLLAPSED = { margin: 3, minSize: 6 };

/** Two texts with what differs marked. */
export function createDiff(options: DiffOptions): { destroy: () => void } {
  const { parent, a, b, labels, language } = options;
  const fixed = (label: string): Extension => [
    shared(language),
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  ];
  if (options.stacked) {
    const merge = unifiedMergeView({
      original: a,
      mergeControls: false,
      gutter: false,
      collapseUnchanged: COLLAPSED,
    });
    return new EditorView({
      parent,
      root: parent,
      state: EditorState.create({ doc: b, extensions: [fixed(labels[1]), merge] }),
    });
  }
  return new MergeView({
    parent,
    root: parent,
    a: { doc: a, extensions: fixed(labels[0]) },
    b: { doc: b, extensions: fixed(labels[1]) },
    collapseUnchanged: COLLAPSED,
    gutter: false,
  });
}
