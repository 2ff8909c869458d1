import type { Tab } from '../model/place';
import { useLocation } from '../state/location';
import { useRun, useShownStep } from '../state/run';
import { Empty } from '../ui/Empty';
import { Tabs } from '../ui/Tabs';
import { ContextTab } from './ContextTab';
import { DiffTab } from './DiffTab';
import { ExpressionTab } from './ExpressionTab';
import { NodeTab } from './NodeTab';
import { RunResult } from './RunResult';

const TABS: { id: Tab; label: string }[] = [
  { id: 'node', label: 'Node' },
  { id: 'context', label: 'Context' },
  { id: 'diff', label: 'Diff' },
  { id: 'expression', label: 'Expression' },
];

/** What happened at the step that is looked at. */
export function Inspector() {
  const { tab, node, step: pinned, go } = useLocation();
  const isOver = useRun((state) => state.model.finished !== null);
  const showsResult = isOver && node === null && pinned === null;
  const run = useRun((state) => state.id);
  const step = useShownStep();
  const isMissing = useRun((state) => state.isMissing);
  const isEmpty = useRun((state) => state.model.steps.length === 0);
  if (run === null) return null;
  return (
    <aside className="panel" aria-label="Inspector">
      <Tabs
        label="What is shown of the step"
        tabs={TABS}
        selected={tab}
        onSelect={(id) => go({ tab: id })}
      >
        {isMissing ? (
          <Empty title="There is no such run">
            <p>It was not recorded, or has been forgotten since.</p>
          </Empty>
        ) : isEmpty && isOver ? (
          <RunResult />
        ) : isEmpty ? (
          <Empty title="Nothing has happened yet">
            <p>The run has begun and waits for its first node.</p>
          </Empty>
        ) : step === null ? (
          <Empty title="This node has not run">
            <p>Up to this step, the run did not come by here.</p>
          </Empty>
        ) : (
          <>
            {tab === 'node' &&
              (showsResult ? <RunResult /> : <NodeTab key={step} run={run} step={step} />)}
            {tab === 'context' && <ContextTab run={run} step={step} />}
            {tab === 'diff' && <DiffTab run={run} step={step} />}
            {tab === 'expression' && <ExpressionTab key={step} run={run} step={step} />}
          </>
        )}
      </Tabs>
    </aside>
  );
}
