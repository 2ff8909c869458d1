import { Panel } from '@xyflow/react';
import type { NodeKind } from '../api/types';
import { KINDS } from '../model/kinds';
import { Icon, kindIcon } from '../ui/Icon';

const SHOWN: NodeKind[] = [
  'entry',
  'mcp',
  'transform',
  'switch',
  'foreach',
  'parallel',
  'graph',
  'exit',
];

const LINES = [
  { name: 'next', label: 'next', classes: '' },
  { name: 'taken', label: 'taken in this run', classes: 'taken' },
  { name: 'error', label: 'on error', classes: 'error' },
];

export function Legend() {
  return (
    <Panel position="bottom-left">
      <details className="legend">
        <summary>Legend</summary>
        <ul>
          {SHOWN.map((kind) => (
            <li key={kind} data-kind={kind} title={KINDS[kind].about}>
              <Icon name={kindIcon(kind)} />
              {KINDS[kind].label}
            </li>
          ))}
          {LINES.map((line) => (
            <li key={line.name}>
              <svg className="line" viewBox="0 0 26 8" aria-hidden="true">
                <path className={`edge-path ${line.classes}`} d="M 0 4 H 26" />
              </svg>
              {line.label}
            </li>
          ))}
        </ul>
      </details>
    </Panel>
  );
}
