import { useState } from 'react';
import { NodeForm } from '../edit/NodeForm';
import { WorkflowForm } from '../edit/WorkflowForm';
import { Toolbar } from '../panels/Toolbar';
import { useDrawing, useProblems } from '../state/drawing';
import { useCanvasEdits, useEditor } from '../state/editor';
import { useKeys } from '../state/keys';
import { useLocation } from '../state/location';
import { runName } from '../state/subject';
import { useWorkflow } from '../state/workflow';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';
import { Tabs } from '../ui/Tabs';
import { Workbench } from './Workbench';

type EditTab = 'workflow' | 'node';

/** One workflow: its graph, its hooks, and what happened when it was put around a call. */
export function WorkflowScreen({ id }: { id: string }) {
  const editor = useEditor();
  const { node, go } = useLocation();
  const edits = useCanvasEdits();
  const failure = useWorkflow((state) => state.failure);
  const [tab, setTab] = useState<EditTab>('workflow');
  const problems = useProblems(editor.view, editor.report);
  // Branches are done one after the other: the record has no names of the edges that are drawn.
  const drawing = useDrawing({ problems, runs: runName('workflows', id), namesEdges: false });
  useKeys({ editor });
  const { view, grammar } = editor;
  if (!view) {
    return failure ? (
      <Empty title={`There is no workflow ${id}`}>
        <p>{failure}</p>
        <Button onClick={() => go({ tool: null, run: null })}>All workflows</Button>
      </Empty>
    ) : (
      <Empty title="Reading the workflow…" />
    );
  }
  const selected: EditTab = node !== null ? 'node' : tab === 'node' ? 'workflow' : tab;
  return (
    <Workbench
      view={view}
      grammar={grammar}
      edits={edits}
      drawing={drawing}
      toolbar={<Toolbar />}
      panel={
        <aside className="panel" aria-label="Edit">
          <Tabs
            label="What is shown of the workflow"
            tabs={node === null ? WITHOUT_NODE : WITH_NODE}
            selected={selected}
            onSelect={(chosen) => {
              setTab(chosen);
              if (chosen === 'workflow') go({ node: null });
            }}
          >
            {selected === 'node' && node !== null ? (
              <NodeForm key={node} view={view} id={node} />
            ) : (
              <WorkflowForm view={view} />
            )}
          </Tabs>
        </aside>
      }
    />
  );
}

const WITHOUT_NODE: { id: EditTab; label: string }[] = [{ id: 'workflow', label: 'Workflow' }];

const WITH_NODE: { id: EditTab; label: string }[] = [
  { id: 'workflow', label: 'Workflow' },
  { id: 'node', label: 'Node' },
];
