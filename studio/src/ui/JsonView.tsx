import { useState } from 'react';
import type { Json } from '../api/types';

/** How many members are drawn before somebody asks for more. */
const PAGE = 100;

/** How much of a text is drawn before somebody asks for the rest. */
const LONG_TEXT = 2000;

interface Props {
  value: Json;
  /** Members of the outermost object that are marked. */
  changed?: Set<string>;
  /** How many levels are open at first. */
  open?: number;
  onKey?: (key: string) => void;
}

/** A value as a tree. Everything is text, whatever a tool may have put into it. */
export function JsonView({ value, changed, open = 2, onKey }: Props) {
  return (
    <div className="json">
      <Node value={value} open={open} changed={changed} onKey={onKey} />
    </div>
  );
}

interface NodeProps extends Props {
  name?: string;
  isChanged?: boolean;
}

function Node({ name, value, open = 0, changed, isChanged, onKey }: NodeProps) {
  const label = name === undefined ? null : <Key name={name} onKey={onKey} />;
  const mark = isChanged ? 'changed' : undefined;
  if (typeof value !== 'object' || value === null) {
    return (
      <div className="leaf">
        <span className={mark}>
          {label}
          <Leaf value={value} />
        </span>
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
        <span className={mark}>
          {label}
          {before}
          {after}
        </span>
      </div>
    );
  }
  return (
    <details open={open > 0}>
      <summary>
        <span className={mark}>
          {label}
          <span className="muted">
            {before} {entries.length} {after}
          </span>
        </span>
      </summary>
      <Members entries={entries} open={open - 1} changed={changed} onKey={onKey} />
    </details>
  );
}

function Members(props: {
  entries: [string, Json][];
  open: number;
  changed?: Set<string>;
  onKey?: (key: string) => void;
}) {
  const [shown, setShown] = useState(PAGE);
  const left = props.entries.length - shown;
  return (
    <div>
      {props.entries.slice(0, shown).map(([key, member]) => (
        <Node
          key={key}
          name={key}
          value={member}
          open={props.open}
          isChanged={props.changed?.has(key)}
          onKey={props.onKey}
        />
      ))}
      {left > 0 && (
        <button type="button" className="button quiet" onClick={() => setShown(shown + PAGE * 10)}>
          Show more ({left} left)
        </button>
      )}
    </div>
  );
}

function Key({ name, onKey }: { name: string; onKey?: (key: string) => void }) {
  if (!onKey) return <span className="key">{name}: </span>;
  return (
    <>
      <button
        type="button"
        className="button quiet key"
        title={`Go to the step that wrote ${name}`}
        onClick={(event) => {
          event.preventDefault();
          onKey(name);
        }}
      >
        {name}
      </button>
      :{' '}
    </>
  );
}

function Leaf({ value }: { value: null | boolean | number | string }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value === 'string') {
    const isLong = value.length > LONG_TEXT && !isWhole;
    return (
      <span className="string">
        "{isLong ? value.slice(0, LONG_TEXT) : value}"
        {isLong && (
          <button type="button" className="button quiet" onClick={() => setWhole(true)}>
            Show all {value.length} characters
          </button>
        )}
      </span>
    );
  }
  return <span className={typeof value === 'number' ? 'number' : 'word'}>{String(value)}</span>;
}
