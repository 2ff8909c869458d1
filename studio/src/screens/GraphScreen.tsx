import { useCallback } from 'react';
import type { JsonObject } from '../api/types';
import { CommandToolForm } from '../edit/CommandForm';
import { ToolForm } from '../edit/ToolForm';
import { example } from '../model/schema';
import { RunPanel } from '../panels/RunPanel';
import { isDirty, useDocument } from '../state/document';
import { useDrawing, useProblems } from '../state/drawing';
import { hasNodes, useEditor } from '../state/editor';
import { handOver } from '../state/handover';
import { useInputs } from '../state/inputs';
import { useLocation } from '../state/location';
import { useRun } from '../state/run';
import { EditBench } from './EditBench';
import { NoGraph } from './NoGraph';

/** One tool: its graph, what can be done with it, and what happened in a run. */
export function GraphScreen() {
  const editor = useEditor();
  const document = useDocument((state) => state.document);
  const name = useLocation((location) => location.tool);
  const begin = useBegin();
  const summary = document?.tools.find((tool) => tool.name === name);
  const edited = useRun((state) => state.edited);
  const problems = useProblems(editor.view, editor.report);
  const drawing = useDrawing({ problems, edited, runs: name });

  const askToRun = useCallback(
    (paused: boolean) => {
      const kept = name ? useInputs.getState().byTool[name]?.[0] : undefined;
      const needsInput = Object.keys(example(summary?.inputSchema)).length > 0;
      if (kept) void begin(kept, paused);
      else if (!needsInput) void begin({}, paused);
      else useLocation.getState().go({ node: null });
    },
    [begin, name, summary],
  );

  const view = summary ? editor.view : null;
  const form = summary && (
    <RunPanel
      key={summary.name}
      tool={summary}
      isDirty={editor.isDirty}
      errors={editor.report?.errors ?? 0}
      onRun={(input, paused) => void begin(input, paused)}
    />
  );
  return (
    <EditBench
      view={view}
      empty={<NoGraph />}
      drawing={drawing}
      label="Run and edit"
      tabs={[
        { id: 'run', label: 'Run', content: form },
        { id: 'tool', label: 'Tool', content: view && <ToolForm view={view} /> },
      ]}
      nodeForm={view && !hasNodes(view) ? <CommandToolForm view={view} /> : undefined}
      onRun={view ? askToRun : undefined}
    />
  );
}

/** Runs the tool as it is seen: what is not saved is saved first. */
function useBegin() {
  return useCallback(async (input: JsonObject, paused: boolean) => {
    handOver();
    const state = useDocument.getState();
    const name = useLocation.getState().tool;
    if (!name) return;
    if (isDirty(state) && !(await state.save())) return;
    useInputs.getState().keep(name, input);
    await useRun.getState().start(name, input, paused);
  }, []);
}
