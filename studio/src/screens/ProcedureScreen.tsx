import { useMemo } from 'react';
import type { ProcedureNode, ProcedureView } from '../api/types';
import { WalkInspector } from '../inspector/WalkInspector';
import { KINDS, kindOf } from '../model/kinds';
import { WalkToolbar } from '../panels/Toolbar';
import { useDrawing } from '../state/drawing';
import { useLocation } from '../state/location';
import { useWalk } from '../state/walk';
import { Icon, kindIcon } from '../ui/Icon';
import { JsonView } from '../ui/JsonView';
import { Workbench } from './Workbench';

/** One procedure: its flowchart, what a node tells the agent, and the walks through it. */
export function ProcedureScreen({ view }: { view: ProcedureView }) {
  const walk = useWalk();
  const selected = useLocation((location) => location.node);
  const next = useMemo(() => new Set(walk?.next ?? []), [walk]);
  const drawing = useDrawing({ next, isWalk: true });
  const nodes = (view.definition.nodes ?? []) as unknown as ProcedureNode[];
  const node = nodes.find(({ id }) => id === (selected ?? walk?.current));
  return (
    <Workbench
      view={view}
      drawing={drawing}
      hasText={false}
      toolbar={<WalkToolbar />}
      panel={
        <aside className="panel whole" aria-label="Procedure">
          <div className="panel-body" tabIndex={0} role="group" aria-label="What it says">
            {node ? <Told node={node} /> : <About view={view} />}
          </div>
        </aside>
      }
      inspector={<WalkInspector walk={walk} node={node ? <Told node={node} /> : null} />}
    />
  );
}

function About({ view: { about, systemPrompt } }: { view: ProcedureView }) {
  return (
    <div className="stack">
      <h2>{about.agent}</h2>
      <dl className="facts">
        {about.version && (
          <>
            <dt>Version</dt>
            <dd>{about.version}</dd>
          </>
        )}
        <dt>File</dt>
        <dd>{about.file}</dd>
        <dt>Binds</dt>
        <dd>
          {about.enforce
            ? 'yes: only the tools of the current node can be called'
            : 'no: it is advice'}
        </dd>
      </dl>
      <h3>What the agent is told at first</h3>
      <pre className="prose">{systemPrompt}</pre>
      <p className="muted">Select a node to see what it tells the agent.</p>
    </div>
  );
}

/** What a node tells the agent, and where it may go from there. */
function Told({ node }: { node: ProcedureNode }) {
  const kind = kindOf(node.type);
  const go = useLocation((location) => location.go);
  const walk = useWalk();
  const isHere = walk?.current === node.id;
  return (
    <div className="stack" data-kind={kind}>
      <div className="row">
        <span className="kind-title">
          <Icon name={kindIcon(kind)} />
        </span>
        <div className="truncate">
          <h2 className="truncate">{node.id}</h2>
          <p className="muted truncate">{node.description}</p>
        </div>
        <span className="spread" />
        {node.isHub && <span className="chip">hub</span>}
        {isHere ? (
          <span className="chip busy">here</span>
        ) : (
          <span className="chip">{KINDS[kind].label}</span>
        )}
      </div>
      <section aria-label="Prompt of the node">
        <h3>Prompt</h3>
        {node.prompt ? (
          <pre className="prose">{node.prompt}</pre>
        ) : (
          <p className="muted">It has none; the flowchart says what to do.</p>
        )}
      </section>
      <section aria-label="Tools of the node">
        <h3>Tools</h3>
        {node.tools.length === 0 ? (
          <p className="muted">None.</p>
        ) : (
          <ul className="chips">
            {node.tools.map((tool) => (
              <li key={tool} className="chip">
                <Icon name="mcp" />
                {tool}
              </li>
            ))}
          </ul>
        )}
      </section>
      <section aria-label="Ways on">
        <h3>Ways on</h3>
        {node.edges.length === 0 && <p className="muted">It ends here.</p>}
        <ul className="ways">
          {node.edges.map((edge) => (
            <li key={`${edge.to} ${edge.condition}`}>
              <button
                type="button"
                className="button quiet link"
                onClick={() => go({ node: edge.to })}
              >
                {edge.to}
              </button>
              {edge.condition && <span>if {edge.condition}</span>}
              {isHere && (
                <span className={`chip ${walk.next.includes(edge.to) ? 'good' : 'warn'}`}>
                  {walk.next.includes(edge.to) ? 'can follow' : 'not now'}
                </span>
              )}
              {edge.guard && <code title="What has to hold">{edge.guard}</code>}
            </li>
          ))}
        </ul>
      </section>
      {node.examples !== null && (
        <section aria-label="Examples">
          <h3>Examples</h3>
          <JsonView value={node.examples} />
        </section>
      )}
    </div>
  );
}
