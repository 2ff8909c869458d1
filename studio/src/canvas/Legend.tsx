import { Panel } from '@xyflow/react';
import { useContext } from 'react';
import type { NodeKind, PlacedNode } from '../api/types';
import { KINDS } from '../model/kinds';
import { DrawingContext } from '../state/drawing';
import { Icon, kindIcon } from '../ui/Icon';

const LINES = [
  { name: 'next', label: 'next', classes: '' },
  { name: 'taken', label: 'taken in this run', classes: 'taken' },
  { name: 'error', label: 'on error', classes: 'error' },
];

/** What the pictures mean that are there. */
export function Legend({ nodes }: { nodes: PlacedNode[] }) {
  const { next, isWalk } = useContext(DrawingContext);
  const shown = (Object.keys(KINDS) as NodeKind[]).filter(
    (kind) => kind !== 'branch' && nodes.some((node) => node.kind === kind),
  );
  return (
    <Panel position="bottom-left">
      <details className="legend">
        <summary>Legend</summary>
        <ul>
          {shown.map((kind) => (
            <li key={kind} data-kind={kind} title={KINDS[kind].about}>
              <Icon name={kindIcon(kind)} />
              {KINDS[kind].label}
            </li>
          ))}
          {LINES.filter((line) => !isWalk || line.name !== 'error').map((line) => (
            <li key={line.name}>
              <svg className="line" viewBox="0 0 26 8" aria-hidden="true">
                <path className={`edge-path ${line.classes}`} d="M 0 4 H 26" />
              </svg>
              {line.label}
            </li>
          ))}
          {next.size > 0 && (
            <li>
              <span className="next-sample" />
              can follow
            </li>
          )}
        </ul>
      </details>
    </Panel>
  );
}
