import { api } from '../api/client';
import { duration } from '../model/format';
import { type Finished, wasStopped } from '../model/run';
import { useRun } from '../state/run';
import { Payload } from './Payload';

/** How a run ended, and with what. */
export function RunResult() {
  const { id, model, summary } = useRun();
  const { finished, steps } = model;
  if (!finished) return null;
  // What the last node gave is the result.
  const fetchResult = async () => (await api.step(id ?? '', steps.length - 1)).output;
  return (
    <div className="stack">
      <h2>{headline(finished)}</h2>
      {summary && (
        <p className="muted">{`It took ${duration(summary.durationMs)} for ${summary.steps} steps.`}</p>
      )}
      {finished.error && (
        <div className={`callout ${wasStopped(finished) ? 'warn' : 'bad'}`}>
          <strong>
            {finished.error.code} {finished.error.kind}
          </strong>
          <span className="plain">
            {finished.error.message ?? finished.error.messageShort?.preview}
          </span>
        </div>
      )}
      <Payload title="Arguments" value={model.input} short={model.inputShort} />
      <Payload
        title="Result"
        value={finished.result}
        short={finished.resultShort}
        onOpen={finished.isKept && id ? fetchResult : undefined}
      />
      {finished.error?.data !== undefined && (
        <Payload title="Details of the error" value={finished.error.data} />
      )}
      {steps.length > 0 && (
        <p className="muted">Select a card or a step to see what happened there.</p>
      )}
    </div>
  );
}

function headline(finished: Finished): string {
  if (!finished.error) return 'The run gave its result';
  return wasStopped(finished) ? 'The run was stopped' : 'The run failed';
}
