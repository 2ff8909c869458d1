import { useState } from 'react';
import { api } from '../api/client';
import type { Json } from '../api/types';
import { Diff } from '../code/Code';
import { moment, pretty } from '../model/format';
import { useFetched } from '../state/fetched';
import { useRun } from '../state/run';
import { useRuns } from '../state/runs';
import { Field } from '../ui/Field';

interface Sides {
  a: Json;
  b: Json;
  labels: [string, string];
}

/** The step beside another one. */
export function DiffTab({ run, step }: { run: string; step: number }) {
  const [against, setAgainst] = useState('step');
  const known = useRun((state) => state.model.steps[step]);
  const executions = useRun((state) => (known ? state.model.byNode.get(known.node) : undefined));
  const earlier = executions?.findLast((execution) => execution.step < step);
  const tool = useRun((state) => state.model.tool);
  const recent = useRuns((state) => state.recent);
  const others = recent.filter((other) => other.tool === tool && other.id !== run);

  const { value, error } = useFetched<Sides | null>(`${run} ${step} ${against}`, async () => {
    if (against === 'step') {
      if (step === 0) return null;
      const { a, b } = await api.diff(run, step - 1, step);
      return { a, b, labels: [`Context of step ${step - 1}`, `Context of step ${step}`] };
    }
    if (against === 'execution') {
      if (!earlier) return null;
      const [a, b] = await Promise.all([api.step(run, earlier.step), api.step(run, step)]);
      return {
        a: a.output ?? null,
        b: b.output ?? null,
        labels: [`Output of step ${earlier.step}`, `Output of step ${step}`],
      };
    }
    const { a, b } = await api.diff(against, step, step, run);
    return { a, b, labels: ['Context in the other run', 'Context in this run'] };
  });
  return (
    <div className="stack">
      <Field label="Compare with">
        {(control) => (
          <select
            {...control}
            className="select"
            value={against}
            onChange={(event) => setAgainst(event.target.value)}
          >
            <option value="step">the step before</option>
            <option value="execution" disabled={!earlier}>
              the execution of this node before
            </option>
            {others.map((other) => (
              <option key={other.id} value={other.id}>
                the same step of the run of {moment(other.started)} ({other.status})
              </option>
            ))}
          </select>
        )}
      </Field>
      {error && <p className="callout bad">{error}</p>}
      {value === null && !error && (
        <p className="muted">There is nothing before this to compare with.</p>
      )}
      {value && pretty(value.a) === pretty(value.b) && <p className="muted">They are the same.</p>}
      {value && pretty(value.a) !== pretty(value.b) && (
        <>
          <p className="muted">
            {value.labels[0]} in red, {value.labels[1].toLowerCase()} beneath it.
          </p>
          <Diff
            a={pretty(value.a)}
            b={pretty(value.b)}
            labels={value.labels}
            language="json"
            stacked
          />
        </>
      )}
    </div>
  );
}
