import { api } from '../api/client';
import { Times } from '../canvas/NodeCard';
import { duration } from '../model/format';
import { KINDS } from '../model/kinds';
import { useDialogs } from '../state/dialogs';
import { useFetched } from '../state/fetched';
import { useRun } from '../state/run';
import { Button } from '../ui/Button';
import { Payload } from './Payload';

/** What went into a node and what came out. */
export function NodeTab({ run, step }: { run: string; step: number }) {
  const known = useRun((state) => state.model.steps[step]);
  const executions = useRun((state) =>
    known ? (state.model.byNode.get(known.node) ?? NONE) : NONE,
  );
  const hasEnded = known?.endSeq !== null;
  const { value: record, error } = useFetched(`${run} ${step} ${hasEnded}`, () =>
    api.step(run, step),
  );
  const show = useDialogs((state) => state.show);
  if (!known) return null;
  const at = executions.findIndex((execution) => execution.step === step) + 1;
  const failure = record?.error ?? known.error;
  return (
    <div className="stack">
      <div className="row">
        <h2 className="truncate">{known.node}</h2>
        <span className="chip">{KINDS[known.kind].label}</span>
        <span className="spread" />
        {executions.length > 1 && (
          <span className="card-times card">
            <Times node={known.node} count={at} total={executions.length} tabIndex={0} />
          </span>
        )}
      </div>
      <dl className="facts">
        <dt>Step</dt>
        <dd>
          {step} <span className="muted">(path {known.path})</span>
        </dd>
        <dt>Began</dt>
        <dd>+{duration(known.beganMs)}</dd>
        <dt>Took</dt>
        <dd>{known.endMs === null ? 'still running' : duration(known.endMs - known.beganMs)}</dd>
        {known.retries > 0 && (
          <>
            <dt>Tried again</dt>
            <dd>{known.retries} times</dd>
          </>
        )}
        {known.edge !== null && (
          <>
            <dt>Went to</dt>
            <dd>{known.edge}</dd>
          </>
        )}
      </dl>
      {error && <p className="callout bad">{error}</p>}
      {failure && (
        <div className="callout bad" role="group" aria-label="Error">
          <strong>
            {failure.code} {failure.kind}
          </strong>
          <span className="plain">{failure.message ?? failure.messageShort?.preview}</span>
        </div>
      )}
      <Payload title="Input" value={record?.input} short={record?.inputTruncated} />
      <Payload title="Output" value={record?.output} short={record?.outputTruncated} />
      {failure?.data !== undefined && <Payload title="Details of the error" value={failure.data} />}
      <div className="row">
        <Button
          icon="play"
          title="A new run that begins with this step"
          onClick={() => show({ name: 'fork', step, edits: false })}
        >
          Re-run from here
        </Button>
        <Button
          icon="fork"
          disabled={known.endSeq === null}
          title="A new run that goes on with another output"
          onClick={() => show({ name: 'fork', step, edits: true })}
        >
          Edit output and fork
        </Button>
      </div>
    </div>
  );
}

const NONE: never[] = [];
