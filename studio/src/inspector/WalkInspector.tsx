import { Fragment, type ReactNode, useState } from 'react';
import type { Walk } from '../api/types';
import { useRun, useShownStep } from '../state/run';
import { Empty } from '../ui/Empty';
import { Tabs } from '../ui/Tabs';
import { NodeTab } from './NodeTab';

type Tab = 'node' | 'walk' | 'record';

const TABS: { id: Tab; label: string }[] = [
  { id: 'node', label: 'Node' },
  { id: 'walk', label: 'Walk' },
  { id: 'record', label: 'Record' },
];

const MODES = {
  lenient: 'advice: other moves are made too, and told so',
  strict: 'only legal moves are made',
  enforced: 'it binds: guards have to hold, and only the tools of the node can be called',
};

/** A walk at the moment that is looked at: the node, the way there, and what is in the record. */
export function WalkInspector({ walk, node }: { walk: Walk | null; node: ReactNode }) {
  const [tab, setTab] = useState<Tab>('node');
  const run = useRun((state) => state.id);
  const step = useShownStep();
  const isMissing = useRun((state) => state.isMissing);
  return (
    <aside className="panel" aria-label="Inspector">
      <Tabs label="What is shown of the walk" tabs={TABS} selected={tab} onSelect={setTab}>
        {isMissing && (
          <Empty title="There is no such walk">
            <p>It was not recorded, or has been forgotten since.</p>
          </Empty>
        )}
        {!isMissing && tab === 'node' && (node ?? <NotBegun />)}
        {!isMissing && tab === 'walk' && walk && <Way walk={walk} />}
        {!isMissing &&
          tab === 'record' &&
          (run !== null && step !== null && step >= 0 ? (
            <NodeTab key={step} run={run} step={step} />
          ) : (
            <NotBegun />
          ))}
      </Tabs>
    </aside>
  );
}

function NotBegun() {
  return (
    <Empty title="The walk has not begun">
      <p>The agent has loaded the procedure and has not gone to a node yet.</p>
    </Empty>
  );
}

function Way({ walk }: { walk: Walk }) {
  return (
    <div className="stack">
      <section aria-label="Path">
        <h3>The walked path</h3>
        <p className="path">
          {walk.path.length === 0 && <span className="muted">nowhere yet</span>}
          {walk.path.map((id, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a node may be walked through again
            <Fragment key={index}>
              {index > 0 && <span aria-hidden="true">→</span>}
              <span className={index === walk.path.length - 1 ? 'chip busy' : 'chip'}>{id}</span>
            </Fragment>
          ))}
        </p>
      </section>
      <Names title="Nodes that can follow" names={walk.next} none="None." />
      <Names
        title="Tools for now"
        names={[...new Set(walk.tools)]}
        none={walk.mode === 'enforced' ? 'None may be called here.' : 'The node names none.'}
      />
      <dl className="facts">
        <dt>Mode</dt>
        <dd>{MODES[walk.mode]}</dd>
      </dl>
    </div>
  );
}

function Names({ title, names, none }: { title: string; names: string[]; none: string }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {names.length === 0 ? (
        <p className="muted">{none}</p>
      ) : (
        <ul className="chips">
          {names.map((name) => (
            <li key={name} className="chip">
              {name}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
