import { useEffect } from 'react';
import type { RunFilter } from '../api/client';
import type { RunStatus, RunSummary } from '../api/types';
import { duration, moment } from '../model/format';
import { StatusChip } from '../panels/status';
import { useDocument } from '../state/document';
import { useKeys } from '../state/keys';
import { useLocation } from '../state/location';
import { useProcedures } from '../state/procedures';
import { useRuns } from '../state/runs';
import { openRun } from '../state/subject';
import { useWorkflows } from '../state/workflows';
import { Button } from '../ui/Button';
import { Choice, SINCE, SLOW } from '../ui/Choice';
import { Empty } from '../ui/Empty';
import { Table } from '../ui/Table';

const STATUSES = [
  { value: '', label: 'any status' },
  ...['running', 'succeeded', 'failed', 'cancelled', 'interrupted'].map((word) => ({
    value: word,
    label: word,
  })),
];
const NONE: never[] = [];

/** What can be run: tools, workflows and procedures. */
function useNames(): { value: string; label: string }[] {
  const tools = useDocument((state) => state.document?.tools ?? NONE);
  const inFile = useDocument((state) => state.document?.workflows ?? NONE);
  const stored = useWorkflows((state) => state.stored ?? NONE);
  const procedures = useProcedures((state) => state.procedures ?? NONE);
  return [
    ...tools.map(({ name }) => ({ value: name, label: name })),
    ...[...inFile, ...stored].map(({ id, name }) => ({
      value: `workflow:${id}`,
      label: `workflow ${name}`,
    })),
    ...procedures.map(({ agent }) => ({ value: agent, label: `procedure ${agent}` })),
  ];
}

/** Every recorded run, the newest first; the filters are in the address. */
export function RunsScreen() {
  const { tool, filter, go } = useLocation();
  const names = useNames();
  const { runs, next, isLoading, failure, search, more } = useRuns();
  useKeys({ editor: null });
  const wanted = JSON.stringify({ tool, ...filter });
  useEffect(() => {
    const { tool, since, slowerThan, status, text } = JSON.parse(wanted) as Record<
      string,
      string | undefined
    >;
    const query: RunFilter = { tool: tool ?? undefined, status: status as RunStatus, text };
    if (slowerThan) query.slowerThan = Number(slowerThan);
    if (since) query.since = Date.now() - Number(since);
    const timer = setTimeout(() => void search(query), 150);
    return () => clearTimeout(timer);
  }, [wanted, search]);
  const put = (key: string, value: string) => go({ filter: { ...filter, [key]: value } });
  const isFiltered = tool !== null || Object.values(filter).some(Boolean);
  const clear = () => go({ tool: null, filter: {} });
  return (
    <div className="page">
      <div className="page-head" role="search">
        <h1>Runs</h1>
        <Choice
          label="Tool"
          value={tool ?? ''}
          choices={[{ value: '', label: 'everything' }, ...names]}
          onChange={(value) => go({ tool: value || null })}
        />
        <Choice
          label="Status"
          value={filter.status ?? ''}
          choices={STATUSES}
          onChange={(value) => put('status', value)}
        />
        <Choice
          label="Duration"
          value={filter.slowerThan ?? ''}
          choices={SLOW}
          onChange={(value) => put('slowerThan', value)}
        />
        <Choice
          label="Time"
          value={filter.since ?? ''}
          choices={SINCE}
          onChange={(value) => put('since', value)}
        />
        <input
          className="input narrow"
          type="search"
          aria-label="Text in the run"
          placeholder="Text in inputs and outputs"
          value={filter.text ?? ''}
          onChange={(event) => put('text', event.target.value)}
        />
        {isFiltered && (
          <Button look="quiet" onClick={clear}>
            Clear
          </Button>
        )}
      </div>
      <div className="page-body">
        {failure ? (
          <Empty
            title={failure.code === 'no_history' ? 'Runs are not recorded' : 'Runs cannot be read'}
          >
            <p>{failure.message}</p>
          </Empty>
        ) : runs.length > 0 ? (
          <RunTable runs={runs} />
        ) : (
          !isLoading && <NoRuns isFiltered={isFiltered} onClear={clear} />
        )}
        {next && (
          <p className="row more">
            <Button onClick={() => void more()}>Show older runs</Button>
          </p>
        )}
      </div>
    </div>
  );
}

function NoRuns({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  const go = useLocation((location) => location.go);
  if (isFiltered) {
    return (
      <Empty title="No run fits">
        <p>No recorded run has all of what the filters ask for.</p>
        <Button onClick={onClear}>Clear the filters</Button>
      </Empty>
    );
  }
  return (
    <Empty title="No runs yet">
      <p>
        Every call of a tool is recorded here, whoever makes it: this page, an MCP client, or the
        command line.
      </p>
      <Button look="primary" icon="play" onClick={() => go({ screen: 'graph' }, 'push')}>
        Run a tool
      </Button>
    </Empty>
  );
}

const COLUMNS = [
  { label: 'Status' },
  { label: 'Tool' },
  { label: 'Began' },
  { label: 'Took', isNumber: true },
  { label: 'Steps', isNumber: true },
  { label: 'From' },
  { label: 'What went wrong' },
  { label: 'Actions', isHidden: true },
];

function RunTable({ runs }: { runs: RunSummary[] }) {
  const { remove } = useRuns();
  return (
    <Table columns={COLUMNS}>
      {runs.map((run) => (
        <tr key={run.id}>
          <td>
            <StatusChip status={run.status} />
          </td>
          <td>
            <button type="button" className="button quiet link" onClick={() => openRun(run)}>
              {run.tool}
            </button>
          </td>
          <td>{moment(run.started)}</td>
          <td className="number">{run.status === 'running' ? '' : duration(run.durationMs)}</td>
          <td className="number">{run.steps}</td>
          <td>
            {run.origin.face}
            {run.origin.parent && (
              <span className="muted"> forked at step {run.origin.parent.from}</span>
            )}
          </td>
          <td className="error-cell">{run.error}</td>
          <td>
            <Button
              icon="trash"
              look="quiet"
              title={`Forget the run of ${moment(run.started)}`}
              disabled={run.status === 'running'}
              onClick={() => void remove(run.id)}
            />
          </td>
        </tr>
      ))}
    </Table>
  );
}
