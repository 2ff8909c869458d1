import { api, LONG_BYTES } from '../api/client';
import { Times } from '../canvas/NodeCard';
import { duration } from '../model/format';
import { KINDS, kindOf } from '../model/kinds';
import { changedOutput } from '../model/run';
import { useDialogs } from '../state/dialogs';
import { useFetched } from '../state/fetched';
import { useLocation } from '../state/location';
import { useIsAsking } from '../state/questions';
import { isLive, useRun } from '../state/run';
import { Button } from '../ui/Button';
import { Payload } from './Payload';

/** What went into a node and what came out. */
export function NodeTab({ run, step }: { run: string; step: number }) {
  const known = useRun((state) => state.model.steps[step]);
  const executions = useRun((state) =>
    known ? (state.model.byNode.get(known.node) ?? NONE) : NONE,
  );
  const changed = useRun((state) => known && changedOutput(state.model, known));
  const hasEnded = known?.endSeq !== null;
  const { value: record, error } = useFetched(`${run} ${step} ${hasEnded}`, () =>
    api.step(run, step, LONG_BYTES),
  );
  const live = useRun(isLive);
  const isAsking = useIsAsking(run, known?.node) && known?.endMs === null;
  const go = useLocation((location) => location.go);
  const show = useDialogs((state) => state.show);
  // Workflows and walks belong to calls of others, which cannot be made again from here.
  const canFork = useLocation((location) => location.screen === 'graph');
  if (!known) return null;
  const whole = (key: 'input' | 'output') => async () => (await api.step(run, step))[key];
  const at = executions.findIndex((execution) => execution.step === step) + 1;
  const failure = record?.error ?? known.error;
  return (
    <div className="stack">
      <div className="row">
        <h2 className="truncate">{known.node}</h2>
        <span className="chip">{KINDS[kindOf(known.kind)].label}</span>
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
        <dd>
          {known.endMs !== null
            ? duration(known.endMs - known.beganMs)
            : live
              ? 'still running'
              : 'not finished'}
        </dd>
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
      {isAsking && (
        <div className="callout warn">
          <span className="plain">It waits until a person has answered.</span>
          <div className="row">
            <Button icon="ask" onClick={() => go({ screen: 'questions' }, 'push')}>
              Answer it
            </Button>
          </div>
        </div>
      )}
      {error && <p className="callout bad">{error}</p>}
      {failure && (
        <div className="callout bad" role="group" aria-label="Error">
          <strong>
            {failure.code} {failure.kind}
          </strong>
          <span className="plain">{failure.message ?? failure.messageShort?.preview}</span>
        </div>
      )}
      <Payload
        title="Input"
        value={record?.input}
        short={record?.inputShort ?? record?.inputTruncated}
        onOpen={record?.inputShort && whole('input')}
      />
      <Payload
        title="Output"
        value={record?.output}
        short={record?.outputShort ?? record?.outputTruncated}
        onOpen={record?.outputShort && whole('output')}
      />
      {changed && (
        <Payload
          title="Output that was set by hand"
          value={changed.output}
          short={changed.outputShort}
        />
      )}
      {failure?.data !== undefined && <Payload title="Details of the error" value={failure.data} />}
      <Log step={step} />
      {canFork && (
        <div className="row wrap">
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
      )}
    </div>
  );
}

/** What was written into the record at a step: the console of hooks, moves that were refused. */
function Log({ step }: { step: number }) {
  const lines = useRun((state) => state.model.logs.get(step) ?? NONE);
  if (lines.length === 0) return null;
  return (
    <section className="payload" aria-label="Log">
      <h3>Log</h3>
      <ul className="log">
        {lines.map((line) => (
          <li key={line.seq} data-level={line.level}>
            <strong>{line.level}</strong> {line.message}
          </li>
        ))}
      </ul>
    </section>
  );
}

const NONE: never[] = [];
