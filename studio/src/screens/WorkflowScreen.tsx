import { WorkflowForm } from '../edit/WorkflowForm';
import { useDrawing, useProblems } from '../state/drawing';
import { useEditor } from '../state/editor';
import { useKeys } from '../state/keys';
import { useLocation } from '../state/location';
import { runName } from '../state/subject';
import { useWorkflow } from '../state/workflow';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';
import { EditBench } from './EditBench';

/** One workflow: its graph, its hooks, and what happened when it was put around a call. */
export function WorkflowScreen({ id }: { id: string }) {
  const { view, report } = useEditor();
  const problems = useProblems(view, report);
  // Branches are done one after the other: the record has no names of the edges that are drawn.
  const drawing = useDrawing({ problems, runs: runName('workflows', id), namesEdges: false });
  if (!view) return <NoWorkflow id={id} />;
  const tabs = [{ id: 'workflow', label: 'Workflow', content: <WorkflowForm view={view} /> }];
  return <EditBench view={view} drawing={drawing} label="Edit" tabs={tabs} />;
}

/** There is no workflow to show: not yet, or none of this id. */
function NoWorkflow({ id }: { id: string }) {
  const go = useLocation((location) => location.go);
  const failure = useWorkflow((state) => state.failure);
  useKeys({ editor: null });
  if (!failure) return <Empty title="Reading the workflow…" />;
  return (
    <Empty title={`There is no workflow ${id}`}>
      <p>{failure}</p>
      <Button onClick={() => go({ tool: null, run: null })}>All workflows</Button>
    </Empty>
  );
}
