import { useCallback } from 'react';
import type { JsonObject } from '../api/types';
import { CommandToolForm } from '../edit/CommandForm';
import { ToolForm } from '../edit/ToolForm';
import { faults } from '../model/form';
import { plural } from '../model/format';
import { RunPanel } from '../panels/RunPanel';
import { isDirty, useDocument } from '../state/document';
import { useDrawing, useProblems } from '../state/drawing';
import { hasNodes, useEditor } from '../state/editor';
import { runForm, useForms } from '../state/forms';
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

  const errors = editor.report?.errors ?? 0;
  const refusal =
    errors > 0 && editor.isDirty
      ? `The file has ${plural(errors, 'error')}: it cannot be saved, and so not be run, until they are mended.`
      : null;

  const askToRun = useCallback(
    (paused: boolean) => {
      if (!summary) return;
      const form = runForm(summary.name, summary.inputSchema);
      if (refusal === null && faults(summary.inputSchema, form).size === 0) {
        useForms.getState().put(summary.name, { ...form, position: 0, isAsked: false });
        void begin(form.input, paused);
        return;
      }
      // What keeps it from running is said in the form.
      useLocation.getState().go({ node: null });
      if (refusal === null) useForms.getState().ask(summary.name, form);
    },
    [begin, refusal, summary],
  );

  const view = summary ? editor.view : null;
  const form = summary && (
    <RunPanel
      key={summary.name}
      tool={summary}
      isDirty={editor.isDirty}
      errors={errors}
      refusal={refusal}
      onRun={askToRun}
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
      refusal={refusal}
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
