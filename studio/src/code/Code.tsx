import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import type { Editor, EditorOptions, Language, Mark } from './code';

export interface CodeHandle {
  reveal: (offset: number) => void;
}

interface Props {
  text: string;
  language: Language;
  label: string;
  readOnly?: boolean;
  undoes?: boolean;
  marks?: Mark[];
  /** The names that can be completed. */
  names?: { label: string; detail?: string }[];
  onChange?: (text: string) => void;
  /** The person goes on with something else. */
  onBlur?: () => void;
  ref?: Ref<CodeHandle>;
  height?: string;
}

/** What is not there yet when it is asked for. */
const NOTHING = { marks: [], names: [] };

/**
 * An editor. It lives in a shadow tree: there its styles are style sheet objects, which the content
 * security policy allows without allowing styles inside pages.
 */
export function Code(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    let isGone = false;
    void import('./code').then(({ createEditor }) => {
      if (isGone || !host.current) return;
      const now = latest.current;
      const options: EditorOptions = {
        parent: host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' }),
        text: now.text,
        language: now.language,
        label: now.label,
        readOnly: now.readOnly ?? false,
        undoes: now.undoes ?? true,
        onChange: (text) => latest.current.onChange?.(text),
        onBlur: () => latest.current.onBlur?.(),
        names: () => latest.current.names ?? NOTHING.names,
      };
      editor.current = createEditor(options);
      editor.current.setMarks(now.marks ?? NOTHING.marks);
    });
    return () => {
      isGone = true;
      editor.current?.destroy();
      editor.current = null;
    };
  }, []);

  useEffect(() => editor.current?.setText(props.text), [props.text]);
  useEffect(() => editor.current?.setMarks(props.marks ?? NOTHING.marks), [props.marks]);
  useImperativeHandle(
    props.ref,
    () => ({ reveal: (offset) => editor.current?.reveal(offset) }),
    [],
  );

  return <div ref={host} className="code" style={{ height: props.height }} />;
}

interface DiffProps {
  a: string;
  b: string;
  labels: [string, string];
  language: Language;
  stacked?: boolean;
}

/** Two texts with what differs marked: beside each other, or one below the other. */
export function Diff({ a, b, labels, language, stacked = false }: DiffProps) {
  const host = useRef<HTMLDivElement>(null);
  const [before, after] = labels;
  useEffect(() => {
    let isGone = false;
    let destroy = () => {};
    void import('./code').then(({ createDiff }) => {
      if (isGone || !host.current) return;
      const parent = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
      const view = createDiff({ parent, a, b, labels: [before, after], language, stacked });
      destroy = () => view.destroy();
    });
    return () => {
      isGone = true;
      destroy();
    };
  }, [a, b, before, after, language, stacked]);
  return <div ref={host} className="diff-frame" />;
}
