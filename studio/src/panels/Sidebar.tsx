import { useMemo } from 'react';
import type { RunSummary } from '../api/types';
import { duration, moment, named } from '../model/format';
import { faultyTools } from '../model/problems';
import { useDialogs } from '../state/dialogs';
import { useDocument } from '../state/document';
import { useLocation } from '../state/location';
import { useProcedures } from '../state/procedures';
import { useRuns } from '../state/runs';
import { openRun, useRunName } from '../state/subject';
import { useWorkflows } from '../state/workflows';
import { Button } from '../ui/Button';
import { Icon, type IconName } from '../ui/Icon';
import { StatusChip, statusWord } from './status';
import { Todos } from './Todos';

const SHOWN_RUNS = 12;

/** What there is, and what ran last. Each kind of thing is a section of its own. */
export function Sidebar() {
  const screen = useLocation((location) => location.screen);
  return (
    <nav className="side" aria-label="Tools, workflows, procedures and runs">
      {screen === 'procedures' && <Todos />}
      <Tools />
      <Workflows />
      <Procedures />
      <RecentRuns />
    </nav>
  );
}

interface EntryProps {
  icon: IconName;
  label: string;
  title: string;
  isCurrent: boolean;
  /** What stands at the end of the line. */
  note?: string;
  /** Whether the file has errors in it. */
  hasErrors?: boolean;
  onOpen: () => void;
}

function Entry({ icon, label, title, isCurrent, note, hasErrors, onOpen }: EntryProps) {
  return (
    <li>
      <button
        type="button"
        className="entry"
        aria-current={isCurrent ? 'true' : undefined}
        title={title}
        onClick={onOpen}
      >
        <Icon name={icon} />
        <span className="truncate">{named(label)}</span>
        {note && <span className="when">{note}</span>}
        {hasErrors && (
          <span className="faulty" title="has errors">
            <Icon name="warning" />
            <span className="visually-hidden">has errors</span>
          </span>
        )}
      </button>
    </li>
  );
}

function Tools() {
  const tools = useDocument((state) => state.document?.tools ?? NONE);
  const open = useDocument((state) => state.open);
  const faulty = useFaulty();
  const { tool, screen } = useLocation();
  const show = useDialogs((state) => state.show);
  return (
    <section aria-label="Tools">
      <h2>
        Tools
        <span className="spread" />
        <Button
          icon="plus"
          look="quiet"
          title="New tool"
          onClick={() => show({ name: 'newTool' })}
        />
      </h2>
      <ul>
        {tools.map(({ name, title, description }) => (
          <Entry
            key={name}
            icon="graph"
            label={name}
            title={[title, description].filter(Boolean).join('\n') || name}
            isCurrent={name === tool && screen === 'graph'}
            hasErrors={faulty.has(name)}
            onOpen={() => void open(name)}
          />
        ))}
      </ul>
      {tools.length === 0 && <p className="muted entry">No tools yet</p>}
    </section>
  );
}

const NONE: never[] = [];

/** The tools that have errors. */
function useFaulty(): Set<string> {
  const document = useDocument((state) => state.document);
  const view = useDocument((state) => state.view);
  return useMemo(() => faultyTools(document, view), [document, view]);
}

/** Those of the file and those of the store, the outermost first. */
function Workflows() {
  const inFile = useDocument((state) => state.document?.workflows ?? NONE);
  const stored = useWorkflows((state) => state.stored ?? NONE);
  const { tool, screen, go } = useLocation();
  const all = [...inFile, ...stored].sort((a, b) => b.priority - a.priority);
  if (all.length === 0) return null;
  return (
    <section aria-label="Workflows">
      <h2>Workflows</h2>
      <ul>
        {all.map((workflow) => (
          <Entry
            key={workflow.id}
            icon="hook"
            label={workflow.name}
            title={workflow.description ?? workflow.name}
            isCurrent={workflow.id === tool && screen === 'workflows'}
            note={workflow.enabled ? undefined : 'off'}
            onOpen={() =>
              go(
                { screen: 'workflows', tool: workflow.id, run: null, step: null, node: null },
                'push',
              )
            }
          />
        ))}
      </ul>
    </section>
  );
}

function Procedures() {
  const procedures = useProcedures((state) => state.procedures ?? NONE);
  const { tool, screen, go } = useLocation();
  if (procedures.length === 0) return null;
  return (
    <section aria-label="Procedures">
      <h2>Procedures</h2>
      <ul>
        {procedures.map(({ agent, file }) => (
          <Entry
            key={agent}
            icon="task"
            label={agent}
            title={file}
            isCurrent={agent === tool && screen === 'procedures'}
            onOpen={() =>
              go({ screen: 'procedures', tool: agent, run: null, step: null, node: null }, 'push')
            }
          />
        ))}
      </ul>
    </section>
  );
}

function RecentRuns() {
  const runs = useRuns((state) => state.recent);
  const name = useRunName();
  const isWalk = useLocation((location) => location.screen === 'procedures');
  const procedures = useProcedures((state) => state.procedures ?? NONE);
  const isOwn = ({ tool }: RunSummary) => {
    if (name !== null) return tool === name;
    return !isWalk || procedures.some(({ agent }) => agent === tool);
  };
  const own = runs.filter(isOwn).slice(0, SHOWN_RUNS);
  const title = isWalk ? 'Recent walks' : 'Recent runs';
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {own.map((run) => (
          <li key={run.id}>
            <RunEntry run={run} isNamed={name === null} />
          </li>
        ))}
      </ul>
      {own.length === 0 && <p className="muted entry">None yet</p>}
    </section>
  );
}

/** A run; with its name where those of several tools are listed. */
function RunEntry({ run, isNamed }: { run: RunSummary; isNamed: boolean }) {
  const opened = useLocation((location) => location.run);
  return (
    <button
      type="button"
      className="entry"
      aria-current={run.id === opened ? 'true' : undefined}
      title={`${run.tool}: ${run.error ?? statusWord(run.status)}`}
      onClick={() => openRun(run)}
    >
      <StatusChip status={run.status} short />
      <span className="truncate">{isNamed ? run.tool : moment(run.started)}</span>
      <span className="when">
        {isNamed ? moment(run.started) : run.status === 'running' ? '' : duration(run.durationMs)}
      </span>
    </button>
  );
}
