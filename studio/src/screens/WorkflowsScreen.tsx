import { useCallback, useEffect, useState } from 'react';
import { api } from '../api/client';
import type { Json, WorkflowSummary, WorkflowTemplate } from '../api/types';
import { WorkflowDialog } from '../edit/WorkflowDialog';
import { notify } from '../state/notices';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';
import { Icon } from '../ui/Icon';

/** The workflows of the store: what is put around calls, in which order, and whether it is in use. */
export function WorkflowsScreen() {
  const [workflows, setWorkflows] = useState<WorkflowSummary[] | null>(null);
  const [templates, setTemplates] = useState<WorkflowTemplate[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  const [opened, setOpened] = useState<Json | null>(null);
  const load = useCallback(async () => {
    try {
      setWorkflows((await api.workflows()).workflows);
      setFailure(null);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  }, []);
  useEffect(() => {
    void load();
    api.workflowTemplates().then(
      (answer) => setTemplates(answer.templates),
      () => setTemplates([]),
    );
  }, [load]);
  const change = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      notify('error', error instanceof Error ? error.message : String(error));
    }
    await load();
  };
  const open = async (id: string) => setOpened(await api.workflow(id));
  return (
    <div className="page">
      <div className="page-head">
        <h1>Workflows</h1>
        <span className="muted">Graphs that are put around calls of tools and lists of tools</span>
        <span className="spread" />
        <select
          className="select narrow"
          aria-label="New workflow from a template"
          value=""
          onChange={(event) => {
            const chosen = templates.find((template) => template.name === event.target.value);
            if (chosen) setOpened(chosen.definition);
          }}
        >
          <option value="">New from a template…</option>
          {templates.map((template) => (
            <option key={template.name}>{template.name}</option>
          ))}
        </select>
      </div>
      <div className="page-body">
        {failure && <p className="callout bad">{failure}</p>}
        {workflows?.length === 0 && (
          <Empty title="No workflows in the store">
            <p>
              A workflow sees a request before it goes to its tool and the response before it goes
              to the client, and may change, stop or answer either. Begin with a template above.
              Those of the graph file are in its text.
            </p>
          </Empty>
        )}
        {workflows && workflows.length > 0 && (
          <WorkflowTable
            workflows={workflows}
            onOpen={(id) => void open(id)}
            onEnable={(id, enabled) => void change(() => api.enableWorkflow(id, enabled))}
            onRemove={(id) => void change(() => api.removeWorkflow(id))}
          />
        )}
      </div>
      {opened !== null && (
        <WorkflowDialog
          definition={opened}
          onClose={() => {
            setOpened(null);
            void load();
          }}
        />
      )}
    </div>
  );
}

interface TableProps {
  workflows: WorkflowSummary[];
  onOpen: (id: string) => void;
  onEnable: (id: string, enabled: boolean) => void;
  onRemove: (id: string) => void;
}

function WorkflowTable({ workflows, onOpen, onEnable, onRemove }: TableProps) {
  // The greatest priority is outside and comes first.
  const ordered = workflows.toSorted((a, b) => b.priority - a.priority);
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">In use</th>
          <th scope="col">Name</th>
          <th scope="col">Around</th>
          <th scope="col">Matches</th>
          <th scope="col" className="number">
            Priority
          </th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {ordered.map((workflow) => (
          <tr key={workflow.id}>
            <td>
              <span className={`chip ${workflow.enabled ? 'good' : ''}`}>
                <Icon name={workflow.enabled ? 'check' : 'pause'} />
                {workflow.enabled ? 'enabled' : 'disabled'}
              </span>
            </td>
            <td>
              <button
                type="button"
                className="button quiet link"
                onClick={() => onOpen(workflow.id)}
              >
                {workflow.name}
              </button>
            </td>
            <td>{workflow.workflowType}</td>
            <td>
              <code>{workflow.match ? JSON.stringify(workflow.match) : 'everything'}</code>
            </td>
            <td className="number">{workflow.priority}</td>
            <td>
              <div className="row">
                <Button onClick={() => onEnable(workflow.id, !workflow.enabled)}>
                  {workflow.enabled ? 'Disable' : 'Enable'}
                </Button>
                <Button
                  icon="trash"
                  look="quiet"
                  title={`Remove ${workflow.name}`}
                  onClick={() => onRemove(workflow.id)}
                />
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
