import type { GraphLink, PlacedNode, ToolView } from '../api/types';
import { allNodes } from '../model/definition';
import { duration } from '../model/format';
import { KINDS, summary } from '../model/kinds';
import { ruleText } from '../model/rule';
import { useLocation } from '../state/location';
import { stateWord, useMark } from '../state/mark';
import { Icon, kindIcon } from '../ui/Icon';

/** The graph as a list of nodes: everything the canvas shows, in the order of reading. */
export function Outline({ view }: { view: ToolView }) {
  const byParent = Map.groupBy(view.nodes, (placed) => placed.inside);
  return (
    <section className="outline" aria-label={`Nodes of ${view.name}`}>
      <Level view={view} parent={null} byParent={byParent} />
    </section>
  );
}

interface LevelProps {
  view: ToolView;
  parent: string | null;
  byParent: Map<string | null, PlacedNode[]>;
}

function Level({ view, parent, byParent }: LevelProps) {
  const nodes = [...(byParent.get(parent) ?? [])].sort((a, b) => a.y - b.y || a.x - b.x);
  if (nodes.length === 0) return null;
  return (
    <ul>
      {nodes.map((placed) => (
        <li key={placed.key} data-kind={placed.kind}>
          {placed.kind === 'branch' ? (
            <strong>{placed.id}</strong>
          ) : (
            <Entry view={view} placed={placed} />
          )}
          <Level view={view} parent={placed.key} byParent={byParent} />
        </li>
      ))}
    </ul>
  );
}

function Entry({ view, placed }: { view: ToolView; placed: PlacedNode }) {
  const { node: selected, go } = useLocation();
  const mark = useMark(placed.id);
  const definition = allNodes(view.definition.nodes).find((node) => node.id === placed.id);
  const links = view.links.filter((link) => link.from === placed.key);
  return (
    <>
      <button
        type="button"
        aria-current={placed.key === selected ? 'true' : undefined}
        onClick={() => go({ node: placed.key })}
      >
        <Icon name={kindIcon(placed.kind)} />
        <span className="truncate">
          <strong>{placed.id}</strong>{' '}
          <span className="muted">
            {KINDS[placed.kind].label}, {mark.message ?? summary(definition)}
          </span>
        </span>
        <span className="muted">
          {stateWord(mark.state)} {duration(mark.ms)}{' '}
          {mark.total > 1 ? `${mark.count}/${mark.total}` : ''}
        </span>
      </button>
      {links.length > 0 && <p className="leads">{links.map(leadsTo).join('; ')}</p>}
    </>
  );
}

function leadsTo(link: GraphLink): string {
  const back = link.back ? ' (back)' : '';
  switch (link.kind) {
    case 'case':
      return `if ${ruleText(link.rule)} then ${link.to}${back}`;
    case 'otherwise':
      return `otherwise ${link.to}${back}`;
    case 'error':
      return `on error ${link.to}${back}`;
    case 'next':
      return `then ${link.to}${back}`;
  }
}
