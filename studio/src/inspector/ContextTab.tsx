import { api } from '../api/client';
import type { Short } from '../api/types';
import { useFetched } from '../state/fetched';
import { seek, useRun } from '../state/run';
import { Button } from '../ui/Button';
import { Payload } from './Payload';

/** Everything the step saw, with what changed since the step before it. */
export function ContextTab({ run, step }: { run: string; step: number }) {
  const { value, error } = useFetched(`${run} ${step}`, async () => {
    const { b, changed, short } = await api.diff(run, Math.max(step - 1, 0), step);
    return { context: b, changed, short };
  });
  const byNode = useRun((state) => state.model.byNode);
  if (error) return <p className="callout bad">{error}</p>;
  if (!value) return <p className="muted">Reading…</p>;
  const members = Object.entries(value.context);
  return (
    <div className="stack">
      <p className="muted">
        What step {step} saw as <code>$</code>.
      </p>
      {members.length === 0 && <p className="muted">Nothing had an output yet.</p>}
      {members.map(([name, member]) => {
        const writer = byNode.get(name)?.findLast((known) => known.step < step);
        return (
          <div key={name} className="stack">
            <div className="row">
              {value.changed.includes(name) && <span className="chip warn">changed</span>}
              <span className="spread" />
              {writer && (
                <Button look="quiet" onClick={() => seek(writer.step)}>
                  written by step {writer.step}
                </Button>
              )}
            </div>
            {value.short.includes(name) ? (
              <Payload
                title={name}
                value={undefined}
                short={member as unknown as Short}
                onOpen={async () => (await api.context(run, step))[name]}
              />
            ) : (
              <Payload title={name} value={member} />
            )}
          </div>
        );
      })}
    </div>
  );
}
