import { api } from '../api/client';
import { useFetched } from '../state/fetched';
import { seek, useRun } from '../state/run';
import { Button } from '../ui/Button';
import { JsonView } from '../ui/JsonView';

/** Everything the step saw, with what changed since the step before it. */
export function ContextTab({ run, step }: { run: string; step: number }) {
  const { value, error } = useFetched(`${run} ${step}`, async () => {
    if (step === 0) return { context: await api.context(run, 0), changed: [] };
    const { b, changed } = await api.diff(run, step - 1, step);
    return { context: b, changed };
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
          <section key={name} className="payload" aria-label={name}>
            <div className="payload-head">
              <h3 className="mono truncate">{name}</h3>
              {value.changed.includes(name) && <span className="chip warn">changed</span>}
              <span className="spread" />
              {writer && (
                <Button look="quiet" onClick={() => seek(writer.step)}>
                  step {writer.step}
                </Button>
              )}
            </div>
            <div className="payload-body" tabIndex={0} role="group" aria-label={`${name}, value`}>
              <JsonView value={member} open={1} />
            </div>
          </section>
        );
      })}
    </div>
  );
}
