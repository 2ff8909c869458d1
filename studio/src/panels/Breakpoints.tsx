import { useState } from 'react';
import type { Breakpoint } from '../api/types';
import { isStray } from '../model/breakpoints';
import { parseJson } from '../model/schema';
import { breakpointsOf, useBreakpoints } from '../state/breakpoints';
import { useRunName } from '../state/subject';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Field } from '../ui/Field';

/** The breakpoints of the tool, with when and under which condition they stop. */
export function BreakpointsDialog({ onClose }: { onClose: () => void }) {
  const tool = useRunName() ?? '';
  const points = useBreakpoints(breakpointsOf(tool));
  const known = useBreakpoints((state) => state.known[tool]);
  const { put, remove, clear } = useBreakpoints();
  return (
    <Dialog
      title="Breakpoints"
      onClose={onClose}
      foot={
        <>
          <Button disabled={points.length === 0} onClick={() => clear(tool)}>
            Remove all
          </Button>
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      {points.length === 0 && (
        <p className="muted">
          There are none. Click the ring in the corner of a card, or press <kbd>b</kbd> on a
          selected one. They are kept in this browser and sent along with each run.
        </p>
      )}
      {points.map((point) => (
        <Point
          key={point.node}
          point={point}
          isStray={isStray(point, known)}
          onChange={(changed) => put(tool, changed)}
          onRemove={() => remove(tool, point.node)}
        />
      ))}
    </Dialog>
  );
}

interface PointProps {
  point: Breakpoint;
  /** Whether it belongs to no node. */
  isStray: boolean;
  onChange: (point: Breakpoint) => void;
  onRemove: () => void;
}

function Point({ point, isStray, onChange, onRemove }: PointProps) {
  const [typed, setTyped] = useState(
    point.condition === undefined ? '' : JSON.stringify(point.condition),
  );
  const parsed = typed.trim() === '' ? null : parseJson(typed);
  const error = parsed && 'error' in parsed ? parsed.error : null;
  const commit = () => {
    if (error) return;
    const { condition: _, ...rest } = point;
    onChange(parsed && 'value' in parsed ? { ...rest, condition: parsed.value } : rest);
  };
  return (
    <div className="rule-item">
      <div className="row">
        <strong className="truncate">{point.node}</strong>
        {isStray && <span className="chip warn">no such node</span>}
        <span className="spread" />
        <select
          className="select"
          aria-label={`When to stop at ${point.node}`}
          value={point.when}
          onChange={(event) =>
            onChange({ ...point, when: event.target.value === 'after' ? 'after' : 'before' })
          }
        >
          <option value="before">before it runs</option>
          <option value="after">after it ran</option>
        </select>
        <Button
          icon="trash"
          look="quiet"
          title={`Remove the breakpoint at ${point.node}`}
          onClick={onRemove}
        />
      </div>
      {isStray && (
        <p className="muted">
          The graph has no node of this name now. Until it has one, runs begin without this
          breakpoint.
        </p>
      )}
      <Field
        label="Condition"
        hint='JSON Logic over the context, such as {">": [{"var": "count.i"}, 3]}'
        error={error}
      >
        {(control) => (
          <input
            {...control}
            className="input mono"
            value={typed}
            spellCheck={false}
            onChange={(event) => setTyped(event.target.value)}
            onBlur={commit}
          />
        )}
      </Field>
      <Field label="From which time on">
        {(control) => (
          <input
            {...control}
            className="input"
            type="number"
            min={1}
            value={point.hits ?? 1}
            onChange={(event) =>
              onChange({ ...point, hits: Math.max(1, Number(event.target.value) || 1) })
            }
          />
        )}
      </Field>
    </div>
  );
}
