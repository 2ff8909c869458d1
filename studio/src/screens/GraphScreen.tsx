import { useCallback, useState } from 'react';
import type { JsonObject } from '../api/types';
import { CommandToolForm } from '../edit/CommandForm';
import { NodeForm } from '../edit/NodeForm';
import { ToolForm } from '../edit/ToolForm';
import { example } from '../model/schema';
import { RunPanel } from '../panels/RunPanel';
import { Toolbar } from '../panels/Toolbar';
import { isDirty, useDocument } from '../state/document';
import { useDrawing, useProblems } from '../state/drawing';
import { hasNodes, useCanvasEdits, useEditor } from '../state/editor';
import { useInputs } from '../state/inputs';
import { useKeys } from '../state/keys';
import { useLocation } from '../state/location';
import { useRun } from '../state/run';
import { Tabs } from '../ui/Tabs';
import { NoGraph } from './NoGraph';
import { Workbench } from './Workbench';

type EditTab = 'run' | 'node' | 'tool';

/** One tool: its graph, what can be done with it, and what happened in a run. */
export function GraphScreen() {
  const editor = useEditor();
  const document = useDocument((state) => state.document);
  const { tool: name, node, go } = useLocation();
  const begin = useBegin();
  const edits = useCanvasEdits();
  const [tab, setTab] = useState<EditTab>('run');
  const summary = document?.tools.find((tool) => tool.name === name);
  const edited = useRun((state) => state.edited);
  const problems = useProblems(editor.view, editor.report);
  const drawing = useDrawing({ problems, edited, runs: name });

  const askToRun = useCallback(
    (paused: boolean) => {
      setTab('run');
      const kept = name ? useInputs.getState().byTool[name]?.[0] : undefined;
      const needsInput = Object.keys(example(summary?.inputSchema)).length > 0;
      if (kept) void begin(kept, paused);
      else if (!needsInput) void begin({}, paused);
      else useLocation.getState().go({ node: null });
    },
    [begin, name, summary],
  );
  useKeys({ run: askToRun, editor });

  const { view, grammar } = editor;
  if (!view || !summary) return <NoGraph />;
  const selected: EditTab = node !== null && tab !== 'tool' ? 'node' : tab === 'node' ? 'run' : tab;
  return (
    <Workbench
      view={view}
      grammar={grammar}
      edits={edits}
      drawing={drawing}
      toolbar={<Toolbar onRun={askToRun} />}
      panel={
        <aside className="panel" aria-label="Run and edit">
          <Tabs
            label="What is shown of the tool"
            tabs={node === null ? WITHOUT_NODE : WITH_NODE}
            selected={selected}
            onSelect={(id) => {
              setTab(id);
              if (id === 'run') go({ node: null });
            }}
          >
            {selected === 'run' && (
              <RunPanel
                tool={summary}
                isDirty={editor.isDirty}
                onRun={(input, paused) => void begin(input, paused)}
              />
            )}
            {selected === 'node' &&
              node !== null &&
              (hasNodes(view) ? (
                <NodeForm key={node} view={view} id={node} />
              ) : (
                <CommandToolForm view={view} />
              ))}
            {selected === 'tool' && <ToolForm view={view} />}
          </Tabs>
        </aside>
      }
    />
  );
}

const WITHOUT_NODE: { id: EditTab; label: string }[] = [
  { id: 'run', label: 'Run' },
  { id: 'tool', label: 'Tool' },
];

const WITH_NODE: { id: EditTab; label: string }[] = [
  { id: 'run', label: 'Run' },
  { id: 'node', label: 'Node' },
  { id: 'tool', label: 'Tool' },
];

/** Runs the tool as it is seen: what is not saved is saved first. */
function useBegin() {
  return useCallback(async (input: JsonObject, paused: boolean) => {
    const state = useDocument.getState();
    const name = useLocation.getState().tool;
    if (!name) return;
    if (isDirty(state) && !(await state.save())) return;
    useInputs.getState().keep(name, input);
    await useRun.getState().start(name, input, paused);
  }, []);
}
