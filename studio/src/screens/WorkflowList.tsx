import type { GraphDefinition, WorkflowSummary } from '../api/types';
import { useDocument } from '../state/document';
import { useKeys } from '../state/keys';
import { useLocation } from '../state/location';
import { useModule } from '../state/module';
import { useModules } from '../state/modules';
import { useWorkflow } from '../state/workflow';
import { useWorkflows } from '../state/workflows';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';
import { Icon } from '../ui/Icon';
import { Table } from '../ui/Table';

const NONE: never[] = [];

/** A row: a workflow, and whether it is in the store or in the file. */
type Listed = WorkflowSummary & { isStored: boolean };

/** The workflows: what is put around calls, in which order, and whether it is in use. */
export function WorkflowList() {
  const inFile = useDocument((state) => state.document?.workflows ?? NONE);
  const { stored, templates, failure } = useWorkflows();
  const begin = useWorkflow((state) => state.begin);
  useKeys({ editor: null });
  // The greatest priority is outside and comes first.
  const all: Listed[] = [
    ...inFile.map((workflow) => ({ ...workflow, isStored: false })),
    ...(stored ?? NONE).map((workflow) => ({ ...workflow, isStored: true })),
  ].sort((a, b) => b.priority - a.priority);
  return (
    <div className="page">
      <div className="page-head">
        <h1>Workflows</h1>
        <span className="muted">Graphs that are put around calls of tools and lists of tools</span>
        <span className="spread" />
        {failure === null && (
          <select
            className="select narrow"
            aria-label="New workflow from a template"
            value=""
            onChange={(event) => {
              const chosen = templates.find((template) => template.name === event.target.value);
              if (chosen) begin(chosen.definition);
            }}
          >
            <option value="">New from a template…</option>
            {templates.map((template) => (
              <option key={template.name} value={template.name} title={template.description}>
                {template.name}
              </option>
            ))}
          </select>
        )}
        <Button
          icon="plus"
          look="primary"
          disabled={failure !== null}
          onClick={() => begin(fresh(all))}
        >
          New workflow
        </Button>
      </div>
      <div className="page-body">
        {failure && <p className="callout warn">{failure}</p>}
        {all.length > 0 && <WorkflowTable workflows={all} />}
        <ModuleList workflows={all} />
        {stored && all.length === 0 && (
          <Empty title="No workflows yet">
            <p>
              A workflow sees a request before it goes to its tool and the response before it goes
              to the client, and may change, stop or answer either.
            </p>
            <div className="cards">
              {templates.map((template) => (
                <button
                  key={template.name}
                  type="button"
                  onClick={() => begin(template.definition)}
                >
                  <strong>{template.name}</strong>
                  <span className="muted">{template.description}</span>
                </button>
              ))}
            </div>
          </Empty>
        )}
      </div>
    </div>
  );
}

const MODULE_COLUMNS = [{ label: 'Name' }, { label: 'Used by' }, { label: 'Kept in' }];

/** The scripts that several hooks share. */
function ModuleList({ workflows }: { workflows: WorkflowSummary[] }) {
  const stored = useModules((state) => state.modules ?? NONE);
  const inFile = useDocument((state) => state.document?.hookModules ?? NONE);
  const begin = useModule((state) => state.begin);
  const go = useLocation((location) => location.go);
  if (workflows.length + stored.length + inFile.length === 0) return null;
  const users = (ids: string[]) =>
    ids.map((id) => workflows.find((workflow) => workflow.id === id)?.name ?? id).join(', ');
  return (
    <section aria-labelledby="modules">
      <div className="section-head">
        <h2 id="modules">Hook modules</h2>
        <span className="muted">Scripts that several hooks share</span>
        <span className="spread" />
        <Button icon="plus" onClick={begin}>
          New module
        </Button>
      </div>
      {stored.length + inFile.length > 0 && (
        <Table columns={MODULE_COLUMNS}>
          {stored.map(({ id, name, usedBy }) => (
            <tr key={id}>
              <td>
                <button
                  type="button"
                  className="button quiet link"
                  onClick={() => go({ screen: 'modules', tool: id }, 'push')}
                >
                  {name}
                </button>
              </td>
              <td>{users(usedBy)}</td>
              <td>the store</td>
            </tr>
          ))}
          {inFile.map(({ name, usedBy }) => (
            <tr key={`file ${name}`}>
              <td>
                <span className="unlinked">{name}</span>
              </td>
              <td>{users(usedBy)}</td>
              <td>the file, in whose text it is edited</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

/** What a workflow is before anybody has filled it in: it lets everything pass, and is not in use. */
function fresh(known: WorkflowSummary[]): GraphDefinition {
  const taken = new Set(known.map(({ id }) => id));
  let name = 'workflow';
  for (let number = 2; taken.has(name); number += 1) name = `workflow_${number}`;
  return {
    id: name,
    name,
    workflowType: 'tools/call',
    enabled: false,
    priority: 0,
    nodes: [
      { id: 'start', type: 'start', next: 'call' },
      { id: 'call', type: 'mcp-call', next: 'end' },
      { id: 'end', type: 'end' },
    ],
  };
}

const COLUMNS = [
  { label: 'In use' },
  { label: 'Name' },
  { label: 'Around' },
  { label: 'Matches' },
  { label: 'Kept in' },
  { label: 'Priority', isNumber: true },
  { label: 'Actions', isHidden: true },
];

function WorkflowTable({ workflows }: { workflows: Listed[] }) {
  const { enable, remove, prioritise } = useWorkflows();
  const go = useLocation((location) => location.go);
  return (
    <Table columns={COLUMNS}>
      {workflows.map((workflow, index) => {
        const above = workflows[index - 1];
        return (
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
                onClick={() => go({ tool: workflow.id, node: null }, 'push')}
              >
                {workflow.name}
              </button>
            </td>
            <td>{workflow.workflowType}</td>
            <td>
              <code>{matchText(workflow)}</code>
            </td>
            <td>{workflow.isStored ? 'the store' : 'the file'}</td>
            <td className="number">{workflow.priority}</td>
            <td>
              {workflow.isStored && (
                <div className="row">
                  <Button onClick={() => void enable(workflow.id, !workflow.enabled)}>
                    {workflow.enabled ? 'Disable' : 'Enable'}
                  </Button>
                  <Button
                    look="quiet"
                    title={`Put ${workflow.name} further outside`}
                    disabled={!above}
                    onClick={() => above && void prioritise(workflow.id, above.priority + 1)}
                  >
                    ↑
                  </Button>
                  <Button
                    icon="trash"
                    look="quiet"
                    title={`Remove ${workflow.name}`}
                    onClick={() => void remove(workflow.id)}
                  />
                </div>
              )}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

/** Which calls a workflow is put around, in one line. */
function matchText({ match }: WorkflowSummary): string {
  const patterns = Object.entries(match ?? {}).map(([key, pattern]) => `${key} ${pattern}`);
  return patterns.length === 0 ? 'everything' : patterns.join(', ');
}
