import { WorkflowForm } from '../edit/WorkflowForm';
import { useDocument } from '../state/document';
import { useDrawing, useProblems } from '../state/drawing';
import { useEditor } from '../state/editor';
import { useLocation } from '../state/location';
import { runName } from '../state/subject';
import { useWorkflow } from '../state/workflow';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';
import { EditBench } from './EditBench';
import { Unreadable } from './NoGraph';

const GONE = 'The text does not have it any more.';

/** One workflow: its graph, its hooks, and what happened when it was put around a call. */
export function WorkflowScreen({ id }: { id: string }) {
  const { view, report } = useEditor();
  const problems = useProblems(view, report);
  // Branches are done one after the other: the record has no names of the edges that are drawn.
  const drawing = useDrawing({ problems, runs: runName('workflows', id), namesEdges: false });
  const form = view && <WorkflowForm view={view} />;
  return (
    <EditBench
      view={view}
      empty={<NoWorkflow id={id} />}
      drawing={drawing}
      label="Edit"
      tabs={[{ id: 'workflow', label: 'Workflow', content: form }]}
    />
  );
}

/** There is no workflow to show: not yet, or none of this id. */
function NoWorkflow({ id }: { id: string }) {
  const go = useLocation((location) => location.go);
  const { language, isReadable } = useEditor();
  const inStore = useWorkflow((state) => state.failure);
  const inFile = useDocument((state) => (state.missing === id ? GONE : state.failure));
  const failure = language === 'json' ? inStore : inFile;
  if (!isReadable) return <Unreadable />;
  if (!failure) return <Empty title="Reading the workflow…" />;
  return (
    <Empty title={`There is no workflow ${id}`}>
      <p>{failure}</p>
      <Button onClick={() => go({ tool: null, run: null })}>All workflows</Button>
    </Empty>
  );
}
