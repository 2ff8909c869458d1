import { useContext, useMemo } from 'react';
import type { GraphLink, GraphView, NodeDefinition, PlacedNode } from '../api/types';
import { saidById } from '../canvas/flow';
import { duration, named } from '../model/format';
import type { Grammar } from '../model/grammar';
import { KINDS, summary } from '../model/kinds';
import { ruleText } from '../model/rule';
import { DrawingContext } from '../state/drawing';
import { useLocation } from '../state/location';
import { useMark, useStateWord } from '../state/mark';
import { Icon, kindIcon } from '../ui/Icon';

/** The graph as a list of nodes: everything the canvas shows, in the order of reading. */
export function Outline({ view, grammar }: { view: GraphView; grammar?: Grammar }) {
  const said = useMemo(() => saidById(view, grammar?.said), [view, grammar]);
  const byParent = Map.groupBy(view.nodes, (placed) => placed.inside);
  return (
    <section className="outline" tabIndex={-1} aria-label={`Nodes of ${view.name}`}>
      <Level view={view} said={said} parent={null} byParent={byParent} />
    </section>
  );
}

interface LevelProps {
  view: GraphView;
  said: Map<string, NodeDefinition>;
  parent: string | null;
  byParent: Map<string | null, PlacedNode[]>;
}

function Level({ view, said, parent, byParent }: LevelProps) {
  const nodes = [...(byParent.get(parent) ?? [])].sort((a, b) => a.y - b.y || a.x - b.x);
  if (nodes.length === 0) return null;
  return (
    <ul>
      {nodes.map((placed) => (
        <li key={placed.key} data-kind={placed.kind}>
          {placed.kind === 'branch' ? (
            <strong>{placed.id}</strong>
          ) : (
            <Entry view={view} definition={said.get(placed.id)} placed={placed} />
          )}
          <Level view={view} said={said} parent={placed.key} byParent={byParent} />
        </li>
      ))}
    </ul>
  );
}

interface EntryProps {
  view: GraphView;
  definition: NodeDefinition | undefined;
  placed: PlacedNode;
}

function Entry({ view, definition, placed }: EntryProps) {
  const { node: selected, go } = useLocation();
  const mark = useMark(placed.id);
  const word = useStateWord(mark.state);
  const canFollow = useContext(DrawingContext).next.has(placed.id);
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
          <strong>{named(placed.id)}</strong>{' '}
          <span className="muted">
            {KINDS[placed.kind].label}, {mark.message ?? summary(definition)}
          </span>
        </span>
        <span className="muted">
          {word} {canFollow ? 'can follow ' : ''}
          {duration(mark.ms)} {mark.total > 1 ? `${mark.count}/${mark.total}` : ''}
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
    case 'declined':
      return `if declined ${link.to}${back}`;
    case 'unanswered':
      return `without an answer ${link.to}${back}`;
    case 'worded':
      return `if ${link.text} then ${link.to}${back}`;
    case 'next':
      return `then ${link.to}${back}`;
  }
}
