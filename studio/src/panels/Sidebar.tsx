import type { RunSummary } from '../api/types';
import { duration, moment } from '../model/format';
import { useDialogs } from '../state/dialogs';
import { useDocument } from '../state/document';
import { useLocation } from '../state/location';
import { useRuns } from '../state/runs';
import { Button } from '../ui/Button';
import { Icon } from '../ui/Icon';
import { StatusChip } from './status';

const SHOWN_RUNS = 12;

/** Tools and what ran last. Each kind of thing is a section of its own. */
export function Sidebar() {
  return (
    <nav className="side" aria-label="Tools and runs">
      <Tools />
      <RecentRuns />
    </nav>
  );
}

function Tools() {
  const tools = useDocument((state) => state.document?.tools ?? NONE);
  const open = useDocument((state) => state.open);
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
          <li key={name}>
            <button
              type="button"
              className="entry"
              aria-current={name === tool && screen === 'graph' ? 'true' : undefined}
              title={[title, description].filter(Boolean).join('\n') || name}
              onClick={() => void open(name)}
            >
              <Icon name="graph" />
              <span className="truncate">{name}</span>
            </button>
          </li>
        ))}
      </ul>
      {tools.length === 0 && <p className="muted entry">No tools yet</p>}
    </section>
  );
}

const NONE: never[] = [];

function RecentRuns() {
  const runs = useRuns((state) => state.recent);
  const tool = useLocation((location) => location.tool);
  const own = runs.filter((run) => run.tool === tool).slice(0, SHOWN_RUNS);
  return (
    <section aria-label="Recent runs">
      <h2>Recent runs</h2>
      <ul>
        {own.map((run) => (
          <li key={run.id}>
            <RunEntry run={run} />
          </li>
        ))}
      </ul>
      {own.length === 0 && <p className="muted entry">None yet</p>}
    </section>
  );
}

function RunEntry({ run }: { run: RunSummary }) {
  const { run: opened, screen, go } = useLocation();
  return (
    <button
      type="button"
      className="entry"
      aria-current={run.id === opened && screen === 'graph' ? 'true' : undefined}
      title={run.error ?? run.status}
      onClick={() =>
        go({ screen: 'graph', tool: run.tool, run: run.id, step: null, node: null }, 'push')
      }
    >
      <StatusChip status={run.status} short />
      <span className="truncate">{moment(run.started)}</span>
      <span className="when">{run.status === 'running' ? '' : duration(run.durationMs)}</span>
    </button>
  );
}
