import { Handle, type NodeProps, Position, useStore } from '@xyflow/react';
import { memo, useContext } from 'react';
import { duration, named } from '../model/format';
import { KINDS, summary } from '../model/kinds';
import { breakpointsOf, useBreakpoints } from '../state/breakpoints';
import { DrawingContext } from '../state/drawing';
import { type CardState, useMark, useStateWord } from '../state/mark';
import { seek, useRun } from '../state/run';
import { Icon, type IconName, kindIcon } from '../ui/Icon';
import type { CardNode } from './flow';

/** Below this zoom a card cannot be read: a coloured box says as much and costs less. */
const PLAIN_ZOOM = 0.45;

const ICONS: Partial<Record<CardState, IconName>> = {
  problem: 'warning',
  failed: 'cross',
  paused: 'pause',
  running: 'play',
  asking: 'ask',
  done: 'check',
  changed: 'pin',
  edited: 'undo',
};

export const NodeCard = memo(function NodeCard({ data }: NodeProps<CardNode>) {
  const isPlain = useStore((flow) => flow.transform[2] < PLAIN_ZOOM);
  return (
    <>
      <Handle type="target" position={Position.Top} />
      {isPlain ? <PlainBox data={data} /> : <Card data={data} />}
      <Handle type="source" position={Position.Bottom} />
    </>
  );
});

export const GroupCard = memo(function GroupCard({ data }: NodeProps<CardNode>) {
  return (
    <div className="group" data-kind={data.placed.kind}>
      <Handle type="target" position={Position.Top} />
      <Card data={data} />
      <Handle type="source" position={Position.Bottom} />
    </div>
  );
});

export const LaneBox = memo(function LaneBox({ data }: NodeProps<CardNode>) {
  return <div className="lane truncate">{data.placed.id}</div>;
});

function PlainBox({ data }: { data: CardNode['data'] }) {
  const mark = useMark(data.placed.id);
  return <div className="plain-box" data-kind={data.placed.kind} data-state={mark.state} />;
}

function Card({ data }: { data: CardNode['data'] }) {
  const { placed, node } = data;
  const mark = useMark(placed.id);
  const word = useStateWord(mark.state);
  const { next, runs, isWalk } = useContext(DrawingContext);
  const canFollow = next.has(placed.id);
  const icon = ICONS[mark.state];
  const line = mark.message ?? summary(node);
  return (
    <div
      className={`card${canFollow ? ' next' : ''}`}
      data-kind={placed.kind}
      data-state={mark.state}
    >
      <span className="tile" title={KINDS[placed.kind].label}>
        <Icon name={kindIcon(placed.kind)} />
      </span>
      <span className="id truncate" title={placed.id}>
        {named(placed.id)}
      </span>
      <span className="text truncate" title={line}>
        {line}
      </span>
      <span className="foot">
        {mark.state === 'none' ? (
          <span>{KINDS[placed.kind].label}</span>
        ) : (
          <span className="state">
            {icon && <Icon name={icon} />}
            {word}
          </span>
        )}
        {canFollow && <span className="follows">can follow</span>}
        {!isWalk && <span>{duration(mark.ms)}</span>}
        {mark.total > 1 && <Times node={placed.id} count={mark.count} total={mark.total} />}
      </span>
      {runs !== null && <BreakpointButton node={placed.id} tool={runs} />}
    </div>
  );
}

interface TimesProps {
  node: string;
  count: number;
  total: number;
  /** Whether the tab key stops at the buttons; those of cards are left to the mouse. */
  tabIndex?: 0 | -1;
}

/** Which execution of a node is looked at. */
export function Times({ node, count, total, tabIndex = -1 }: TimesProps) {
  const go = (to: number) => {
    const step = useRun.getState().model.byNode.get(node)?.[to - 1];
    if (step) seek(step.step);
  };
  return (
    <span className="times nodrag">
      <button
        type="button"
        tabIndex={tabIndex}
        title={`Previous execution of ${node}`}
        aria-label={`Previous execution of ${node}`}
        onClick={() => go(count - 1)}
      >
        <Icon name="left" />
      </button>
      <span>
        {count}/{total}
      </span>
      <button
        type="button"
        tabIndex={tabIndex}
        title={`Next execution of ${node}`}
        aria-label={`Next execution of ${node}`}
        onClick={() => go(count + 1)}
      >
        <Icon name="right" />
      </button>
    </span>
  );
}

function BreakpointButton({ node, tool }: { node: string; tool: string }) {
  const point = useBreakpoints((state) =>
    breakpointsOf(tool)(state).find((known) => known.node === node),
  );
  const toggle = useBreakpoints((state) => state.toggle);
  const when = point ? ` ${point.when} it` : '';
  return (
    <button
      type="button"
      className="break nodrag"
      // A card is one stop of the tab key; on it, the key `b` does this.
      tabIndex={-1}
      aria-pressed={point !== undefined}
      aria-label={`Breakpoint at ${node}`}
      title={
        point
          ? `Stops${when}${point.condition ? ', if its condition holds' : ''}`
          : 'Set a breakpoint (b)'
      }
      onClick={(event) => {
        event.stopPropagation();
        toggle(tool, node);
      }}
    >
      <span />
    </button>
  );
}
