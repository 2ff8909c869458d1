import { useEffect, useState } from 'react';
import type { RunStatus, RunSummary } from '../api/types';
import { duration, moment } from '../model/format';
import { StatusChip, statusWord } from '../panels/status';
import { useDocument } from '../state/document';
import { useKeys } from '../state/keys';
import { useLocation } from '../state/location';
import { useProcedures } from '../state/procedures';
import { useRuns } from '../state/runs';
import { openRun } from '../state/subject';
import { useWorkflows } from '../state/workflows';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Empty } from '../ui/Empty';
import { Table } from '../ui/Table';
import { type Filter, ListPage, SETTLE_MS, SINCE, SLOWER, timesOf } from './ListPage';

const STATUSES: RunStatus[] = ['running', 'succeeded', 'failed', 'cancelled', 'interrupted'];
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

const FILTERS: Filter[] = [
  {
    key: 'status',
    label: 'Status',
    choices: [
      { value: '', label: 'any status' },
      ...STATUSES.map((status) => ({ value: status, label: statusWord(status) })),
    ],
  },
  SLOWER,
  SINCE,
  { key: 'text', label: 'Text in the run', placeholder: 'Text in inputs and outputs' },
];

/** Every recorded run, the newest first. */
export function RunsScreen() {
  const { tool, filter, go } = useLocation();
  const names = useNames();
  const { runs, next, isLoading, failure, search, more } = useRuns();
  useKeys({ editor: null });
  const wanted = JSON.stringify({ tool: tool ?? undefined, ...filter });
  useEffect(() => {
    const timer = setTimeout(() => {
      const filter: Record<string, string | undefined> = JSON.parse(wanted);
      const { tool, status, text } = filter;
      void search({ tool, status: status as RunStatus, text, ...timesOf(filter) });
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [wanted, search]);
  const of: Filter = {
    key: 'tool',
    label: 'Tool',
    choices: [{ value: '', label: 'everything' }, ...names],
  };
  const title = failure?.code === 'no_history' ? 'Runs are not recorded' : 'Runs cannot be read';
  return (
    <ListPage
      title="Runs"
      noun={['run', 'runs']}
      filters={[of, ...FILTERS]}
      failure={failure && { title, message: failure.message }}
      isLoading={isLoading}
      none={
        <Empty title="No runs yet">
          <p>
            Every call of a tool is recorded here, whoever makes it: this page, an MCP client, or
            the command line.
          </p>
          <Button look="primary" icon="play" onClick={() => go({ screen: 'graph' }, 'push')}>
            Run a tool
          </Button>
        </Empty>
      }
      onMore={next ? () => void more() : null}
    >
      {runs.length > 0 && <RunTable runs={runs} />}
    </ListPage>
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
  const [asked, setAsked] = useState<RunSummary | null>(null);
  return (
    <>
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
            <td className="moment">{moment(run.started)}</td>
            <td className="number">{run.status === 'running' ? '' : duration(run.durationMs)}</td>
            <td className="number">{run.steps}</td>
            <td>
              {run.origin.face}
              {run.origin.parent && (
                <span className="muted"> forked at step {run.origin.parent.from}</span>
              )}
            </td>
            <td className="error-cell">
              <span title={run.error}>{run.error}</span>
            </td>
            <td>
              <Button
                icon="trash"
                look="quiet"
                title={`Forget the run of ${moment(run.started)}`}
                disabled={run.status === 'running'}
                onClick={() => setAsked(run)}
              />
            </td>
          </tr>
        ))}
      </Table>
      {asked && <ForgetDialog run={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

/** Nothing brings back the record of a run. */
function ForgetDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const remove = useRuns((state) => state.remove);
  const forget = () => {
    onClose();
    void remove(run.id);
  };
  return (
    <Dialog
      title="Forget this run?"
      onClose={onClose}
      foot={
        <>
          <Button autoFocus onClick={onClose}>
            Keep it
          </Button>
          <Button icon="trash" look="danger" onClick={forget}>
            Forget the run
          </Button>
        </>
      }
    >
      <p>
        The record of <strong>{run.tool}</strong> of {moment(run.started)} is deleted, with all its
        steps. This cannot be taken back.
      </p>
    </Dialog>
  );
}
