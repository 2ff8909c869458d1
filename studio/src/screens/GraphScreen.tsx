import { ReactFlowProvider } from '@xyflow/react';
import { useCallback, useState } from 'react';
import type { JsonObject } from '../api/types';
import { Canvas } from '../canvas/Canvas';
import { NodeForm } from '../edit/NodeForm';
import { TextPane } from '../edit/TextPane';
import { ToolForm } from '../edit/ToolForm';
import { Inspector } from '../inspector/Inspector';
import { example } from '../model/schema';
import { RunPanel } from '../panels/RunPanel';
import { Timeline } from '../panels/Timeline';
import { Toolbar } from '../panels/Toolbar';
import { isDirty, useDocument } from '../state/document';
import { useInputs } from '../state/inputs';
import { useKeys } from '../state/keys';
import { useLocation } from '../state/location';
import { usePreferences } from '../state/preferences';
import { useRun } from '../state/run';
import { Button } from '../ui/Button';
import { Tabs } from '../ui/Tabs';
import { NoGraph } from './NoGraph';
import { Outline } from './Outline';

type EditTab = 'run' | 'node' | 'tool';

/** One tool: its graph, what can be done with it, and what happened in a run. */
export function GraphScreen() {
  const { tool: view, document } = useDocument();
  const run = useRun((state) => state.id);
  const { tool: name, node, step, go } = useLocation();
  const { view: shown, showsText } = usePreferences();
  const dirty = useDocument(isDirty);
  const begin = useBegin();
  const [tab, setTab] = useState<EditTab>('run');
  const summary = document?.tools.find((tool) => tool.name === name);

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
  useKeys({ run: askToRun });

  if (!view || !summary) return <NoGraph />;
  const selected: EditTab = node !== null && tab !== 'tool' ? 'node' : tab === 'node' ? 'run' : tab;
  return (
    <div className="workbench">
      <Toolbar onRun={askToRun} />
      <div className={`stage${showsText ? ' with-text' : ''}`}>
        {shown === 'list' ? (
          <Outline view={view} />
        ) : (
          <ReactFlowProvider>
            <Canvas view={view} />
          </ReactFlowProvider>
        )}
        {showsText && <TextPane />}
        {run !== null && step !== null && (
          <div className="stage-note">
            Viewing step {step}
            <Button onClick={() => go({ step: null })}>Go to the end</Button>
          </div>
        )}
      </div>
      {run !== null ? (
        <Inspector />
      ) : (
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
                isDirty={dirty}
                onRun={(input, paused) => void begin(input, paused)}
              />
            )}
            {selected === 'node' && node !== null && <NodeForm key={node} view={view} id={node} />}
            {selected === 'tool' && <ToolForm view={view} />}
          </Tabs>
        </aside>
      )}
      {run !== null && <Timeline />}
    </div>
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
