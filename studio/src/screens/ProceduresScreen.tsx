import { api } from '../api/client';
import { plural } from '../model/format';
import { useFetched } from '../state/fetched';
import { useKeys } from '../state/keys';
import { useLocation } from '../state/location';
import { useProcedures } from '../state/procedures';
import { useRun } from '../state/run';
import { useRuns } from '../state/runs';
import { Empty } from '../ui/Empty';
import { Table } from '../ui/Table';
import { ProcedureScreen } from './ProcedureScreen';

/** All procedures, or the one that the address names, as it is or as it was in a walk. */
export function ProceduresScreen() {
  const agent = useLocation((location) => location.tool);
  useKeys({ editor: null });
  return agent === null ? <ProcedureList /> : <Opened agent={agent} />;
}

function Opened({ agent }: { agent: string }) {
  const run = useRun((state) => state.id);
  const now = useFetched(agent, () => api.procedure(agent));
  const then = useFetched(run, () => api.procedureOf(run ?? ''));
  const shown = run === null ? now : then;
  if (shown.value) return <ProcedureScreen view={shown.value} />;
  if (shown.error) {
    return (
      <Empty title={`The procedure ${agent} cannot be shown`}>
        <p>{shown.error}</p>
      </Empty>
    );
  }
  return <Empty title="Reading the procedure…" />;
}

const COLUMNS = [
  { label: 'Agent' },
  { label: 'Version' },
  { label: 'Nodes', isNumber: true },
  { label: 'Binds' },
  { label: 'Walks of late', isNumber: true },
  { label: 'File' },
];

function ProcedureList() {
  const { procedures, report, failure } = useProcedures();
  const recent = useRuns((state) => state.recent);
  const go = useLocation((location) => location.go);
  return (
    <div className="page">
      <div className="page-head">
        <h1>Procedures</h1>
        <span className="muted">What agents are led through, node by node</span>
      </div>
      <div className="page-body">
        {failure && <p className="callout bad">{failure}</p>}
        {(report?.diagnostics ?? []).map((problem) => (
          <div
            key={`${problem.code} ${problem.message} ${problem.line}`}
            className={`callout ${problem.severity === 'error' ? 'bad' : 'warn'}`}
          >
            <strong>
              {problem.code} {problem.message}
            </strong>
            {problem.hint && <span className="plain">{problem.hint}</span>}
          </div>
        ))}
        {procedures?.length === 0 && (
          <Empty title="No procedures">
            <p>
              A procedure is a markdown file with a flowchart and a prompt for each node. Name it in
              the graph file, and agents are led through it:
            </p>
            <pre>sops: [support.md]</pre>
          </Empty>
        )}
        {procedures && procedures.length > 0 && (
          <Table columns={COLUMNS}>
            {procedures.map((procedure) => {
              const walks = recent.filter((run) => run.tool === procedure.agent);
              const live = walks.filter((run) => run.status === 'running').length;
              return (
                <tr key={procedure.agent}>
                  <td>
                    <button
                      type="button"
                      className="button quiet link"
                      onClick={() => go({ tool: procedure.agent, node: null }, 'push')}
                    >
                      {procedure.agent}
                    </button>
                  </td>
                  <td>{procedure.version ?? ''}</td>
                  <td className="number">{procedure.nodes}</td>
                  <td>{procedure.enforce ? 'yes' : 'no'}</td>
                  <td className="number">
                    {walks.length}
                    {live > 0 && (
                      <span className="chip busy">{plural(live, 'walk')} under way</span>
                    )}
                  </td>
                  <td>{procedure.file}</td>
                </tr>
              );
            })}
          </Table>
        )}
      </div>
    </div>
  );
}
