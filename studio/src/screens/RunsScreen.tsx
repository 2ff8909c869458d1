import { useEffect } from 'react';
import type { RunFilter } from '../api/client';
import type { RunStatus, RunSummary } from '../api/types';
import { duration, moment } from '../model/format';
import { StatusChip } from '../panels/status';
import { useDocument } from '../state/document';
import { useLocation } from '../state/location';
import { useRuns } from '../state/runs';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';

const STATUSES: RunStatus[] = ['running', 'succeeded', 'failed', 'cancelled', 'interrupted'];
const SLOW = [
  { value: '', label: 'any duration' },
  { value: '100', label: 'slower than 100 ms' },
  { value: '1000', label: 'slower than 1 s' },
  { value: '10000', label: 'slower than 10 s' },
];
const SINCE = [
  { value: '', label: 'any time' },
  { value: '3600000', label: 'the last hour' },
  { value: '86400000', label: 'the last day' },
  { value: '604800000', label: 'the last week' },
];
const NONE: never[] = [];

/** Every recorded run, the newest first; the filters are in the address. */
export function RunsScreen() {
  const { tool, filter, go } = useLocation();
  const tools = useDocument((state) => state.document?.tools ?? NONE);
  const { runs, next, isLoading, failure, search, more } = useRuns();
  const wanted = JSON.stringify({ tool, ...filter });
  useEffect(() => {
    const { tool, since, slowerThan, ...rest } = JSON.parse(wanted) as Record<
      string,
      string | null
    >;
    const query: RunFilter = { ...rest, tool: tool ?? undefined };
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
        <select
          className="select narrow"
          aria-label="Tool"
          value={tool ?? ''}
          onChange={(event) => go({ tool: event.target.value || null })}
        >
          <option value="">all tools</option>
          {tools.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <select
          className="select narrow"
          aria-label="Status"
          value={filter.status ?? ''}
          onChange={(event) => put('status', event.target.value)}
        >
          <option value="">any status</option>
          {STATUSES.map((status) => (
            <option key={status}>{status}</option>
          ))}
        </select>
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

interface ChoiceProps {
  label: string;
  value: string;
  choices: { value: string; label: string }[];
  onChange: (value: string) => void;
}

function Choice({ label, value, choices, onChange }: ChoiceProps) {
  return (
    <select
      className="select narrow"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {choices.map((choice) => (
        <option key={choice.value} value={choice.value}>
          {choice.label}
        </option>
      ))}
    </select>
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

function RunTable({ runs }: { runs: RunSummary[] }) {
  const { go } = useLocation();
  const { remove } = useRuns();
  const open = (run: RunSummary) =>
    go({ screen: 'graph', tool: run.tool, run: run.id, step: null, node: null }, 'push');
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Tool</th>
          <th scope="col">Began</th>
          <th scope="col" className="number">
            Took
          </th>
          <th scope="col" className="number">
            Steps
          </th>
          <th scope="col">From</th>
          <th scope="col">What went wrong</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={run.id}>
            <td>
              <StatusChip status={run.status} />
            </td>
            <td>
              <button type="button" className="button quiet link" onClick={() => open(run)}>
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
      </tbody>
    </table>
  );
}
