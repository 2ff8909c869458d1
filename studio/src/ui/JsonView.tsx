import { useState } from 'react';
import type { Json } from '../api/types';
import { LongText } from './LongText';

/** How many members are drawn before somebody asks for more. */
const PAGE = 100;

/** How much of a text is drawn before somebody asks for the rest. */
const LONG_TEXT = 2000;

interface Props {
  value: Json;
  /** How many levels are open at first. */
  open?: number;
}

/** A value as a tree. Everything is text, whatever a tool may have put into it. */
export function JsonView({ value, open = 2 }: Props) {
  return (
    <div className="json">
      <Node value={value} open={open} />
    </div>
  );
}

interface NodeProps extends Props {
  name?: string;
}

function Node({ name, value, open = 0 }: NodeProps) {
  const label = name === undefined ? null : <span className="key">{name}: </span>;
  if (typeof value !== 'object' || value === null) {
    return (
      <div className="leaf">
        {label}
        <Leaf value={value} />
      </div>
    );
  }
  const entries: [string, Json][] = Array.isArray(value)
    ? value.map((item, index) => [String(index), item])
    : Object.entries(value);
  const [before, after] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) {
    return (
      <div className="leaf">
        {label}
        {before}
        {after}
      </div>
    );
  }
  return (
    <details open={open > 0}>
      <summary>
        {label}
        <span className="muted">
          {before} {entries.length} {after}
        </span>
      </summary>
      <Members entries={entries} open={open - 1} />
    </details>
  );
}

function Members({ entries, open }: { entries: [string, Json][]; open: number }) {
  const [shown, setShown] = useState(PAGE);
  const left = entries.length - shown;
  return (
    <div>
      {entries.slice(0, shown).map(([key, member]) => (
        <Node key={key} name={key} value={member} open={open} />
      ))}
      {left > 0 && (
        <button type="button" className="button quiet" onClick={() => setShown(shown + PAGE * 10)}>
          Show more ({left} left)
        </button>
      )}
    </div>
  );
}

function Leaf({ value }: { value: null | boolean | number | string }) {
  if (typeof value === 'string') {
    return (
      <span className="string">
        "<LongText text={value} first={LONG_TEXT} />"
      </span>
    );
  }
  return <span className={typeof value === 'number' ? 'number' : 'word'}>{String(value)}</span>;
}
