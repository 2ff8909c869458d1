import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { GraphView } from '../api/types';
import { NodeForm } from '../edit/NodeForm';
import { Toolbar } from '../panels/Toolbar';
import type { Drawing } from '../state/drawing';
import { useCanvasEdits, useEditor } from '../state/editor';
import { formOf } from '../state/following';
import { useKeys } from '../state/keys';
import { useLocation } from '../state/location';
import { usePreferences } from '../state/preferences';
import { Tabs } from '../ui/Tabs';
import { Workbench } from './Workbench';

interface Props {
  view: GraphView | null;
  /** What is shown while there is no graph. */
  empty: ReactNode;
  drawing: Drawing;
  /** What the panel beside the graph is called. */
  label: string;
  /** What is shown of the whole; the first is there until somebody chooses another. */
  tabs: { id: string; label: string; content: ReactNode }[];
  /** What is shown of the selected node, where it is not the form of its kind. */
  nodeForm?: ReactNode;
  onRun?: (paused: boolean) => void;
  /** Why it cannot be run as it is. */
  refusal?: string | null;
}

const NODE = 'node';

/** A graph that can be changed, with its forms beside it. */
export function EditBench(props: Props) {
  const { view, empty, drawing, label, tabs, nodeForm, onRun, refusal } = props;
  const editor = useEditor();
  const { grammar } = editor;
  const edits = useCanvasEdits();
  const { node, go } = useLocation();
  const home = tabs[0]?.id ?? NODE;
  const [tab, setTab] = useState(home);
  const run = useMemo(
    () =>
      onRun &&
      ((paused: boolean) => {
        setTab(home);
        onRun(paused);
      }),
    [onRun, home],
  );
  const hasText = view !== null || editor.isOpen;
  useKeys({ run, editor: hasText ? editor : null });
  // Whoever mended the text goes on in it, with the graph beside it.
  const needsText = view === null && hasText && !editor.isReadable;
  useEffect(() => {
    if (needsText) usePreferences.getState().set({ showsText: true });
  }, [needsText]);
  const isKept = tab !== home && tab !== NODE;
  const selected = isKept ? tab : node === null ? home : NODE;
  const [first, ...others] = tabs.map(({ id, label }) => ({ id, label }));
  const shown =
    node === null ? [first, ...others] : [first, { id: NODE, label: 'Node' }, ...others];
  return (
    <Workbench
      view={view}
      empty={empty}
      hasText={hasText}
      needsText={needsText}
      grammar={grammar}
      edits={edits}
      drawing={drawing}
      toolbar={<Toolbar onRun={run} refusal={refusal ?? null} />}
      panel={
        <aside className="panel" aria-label={label}>
          <Tabs
            label={`What is shown of the ${grammar.noun}`}
            tabs={shown.filter((known) => known !== undefined)}
            selected={selected}
            onSelect={(id) => {
              setTab(id);
              if (id === home) go({ node: null });
            }}
          >
            {view !== null && selected === NODE && node !== null
              ? (nodeForm ?? <NodeForm key={formOf(node)} view={view} id={node} />)
              : tabs.find(({ id }) => id === selected)?.content}
          </Tabs>
        </aside>
      }
    />
  );
}
