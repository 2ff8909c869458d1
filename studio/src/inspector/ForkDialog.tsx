import { useEffect, useState } from 'react';
import { api } from '../api/client';
import type { ForkRequest } from '../api/types';
import { Code } from '../code/Code';
import { plural, pretty } from '../model/format';
import { parseJson } from '../model/schema';
import { useFetched } from '../state/fetched';
import { useRun } from '../state/run';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Icon } from '../ui/Icon';

interface Props {
  step: number;
  /** Whether the output of the step is replaced, instead of the step being done again. */
  edits: boolean;
  onClose: () => void;
}

/** Says what a new run keeps of this one and what it will really call, before it begins. */
export function ForkDialog({ step, edits, onClose }: Props) {
  // The new run is looked at before this is closed, and is none of its business.
  const [{ id, model, fork }] = useState(useRun.getState);
  const known = model.steps[step];
  const record = useFetched(id && edits ? `${id} ${step}` : null, () => api.step(id ?? '', step));
  const [typed, setTyped] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const text = typed ?? pretty(record.value?.output ?? null);
  const parsed = parseJson(text);
  const problem = edits && 'error' in parsed ? parsed.error : null;
  const from = edits ? step + 1 : step;
  const isLast = from >= model.steps.length;
  const request = (): ForkRequest => {
    if (!edits || !known || !('value' in parsed)) return { from };
    return { from, changes: { [known.node]: parsed.value } };
  };
  // What it would do depends on what it goes on with; what nobody changed is known to the server.
  const asked = useRested(JSON.stringify(typed === null ? { from } : request()));
  const effects = useFetched(id ? `${id} ${asked}` : null, () =>
    api.forkEffects(id ?? '', JSON.parse(asked) as ForkRequest),
  );
  const begin = async (paused: boolean) => {
    setBusy(true);
    const why = await fork({ ...request(), paused });
    setRefusal(why);
    setBusy(false);
    if (why === null) onClose();
  };
  if (!known) return null;
  return (
    <Dialog
      title={edits ? `Another output of ${known.node}` : `Run again from ${known.node}`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            icon="step"
            disabled={isBusy || problem !== null || effects.error !== null}
            onClick={() => void begin(true)}
          >
            Step through
          </Button>
          <Button
            icon="fork"
            look="primary"
            disabled={isBusy || problem !== null || effects.error !== null}
            onClick={() => void begin(false)}
          >
            Begin the new run
          </Button>
        </>
      }
    >
      {edits && (
        <>
          <p className="muted">The new run goes on as if {known.node} had given this.</p>
          <Code
            label={`Output of ${known.node}`}
            language="json"
            text={text}
            height="200px"
            onChange={(text) => {
              setTyped(text);
              setRefusal(null);
            }}
          />
          {problem && <p className="callout bad">{problem}</p>}
        </>
      )}
      <div className="callout">
        <strong>
          {from === 0 ? 'Nothing is kept but the arguments' : `Kept: ${plural(from, 'step')}`}
        </strong>
        <span>
          {from === 0
            ? 'The run begins anew.'
            : `Steps 0 to ${from - 1} are taken from the record. Nothing is called for them.`}
        </span>
      </div>
      {effects.value?.masked && (
        <div className="callout warn">
          <strong>What is kept has masked values</strong>
          <span>The new run sees [redacted] where this one had secrets.</span>
        </div>
      )}
      {effects.value?.note && <div className="callout warn">{effects.value.note}</div>}
      {refusal && (
        <div className="callout bad" role="alert">
          <strong>The new run was refused</strong>
          <span className="plain">{refusal}</span>
        </div>
      )}
      <Calls effects={effects.value} error={effects.error} isLast={isLast} />
      <p className="muted">This run stays as it is; the new one says where it comes from.</p>
    </Dialog>
  );
}

/** How long typing rests before it is asked about. */
const SETTLE_MS = 300;

/** A text once it is no longer changed. */
function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}

function Calls({
  effects,
  error,
  isLast,
}: {
  effects: Awaited<ReturnType<typeof api.forkEffects>> | null;
  error: string | null;
  isLast: boolean;
}) {
  if (error) {
    return (
      <div className="callout bad">
        <strong>A new run cannot begin here</strong>
        <span className="plain">
          {isLast ? 'This was the last step: there is nothing after it.' : error}
        </span>
      </div>
    );
  }
  if (!effects) return <p className="muted">Looking at what would be called…</p>;
  if (effects.calls.length === 0) {
    return (
      <div className="callout">
        <strong>No upstream tool will be called</strong>
      </div>
    );
  }
  return (
    <div className="callout warn">
      <strong>These may really be called</strong>
      <ul className="plain">
        {effects.calls.map(({ server, tool, readOnly }) => (
          <li key={`${server} ${tool}`} className="row">
            <Icon name="mcp" />
            <span className="truncate">
              {server} · {tool}
            </span>
            <span className={`chip ${readOnly ? 'good' : 'warn'}`}>
              {readOnly
                ? 'only reads'
                : readOnly === false
                  ? 'may write'
                  : 'may write, for all we know'}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
