import { api } from '../api/client';
import { useFetched } from '../state/fetched';
import { seek, useRun } from '../state/run';
import { JsonView } from '../ui/JsonView';

/** Everything the step saw, with what changed since the step before it. */
export function ContextTab({ run, step }: { run: string; step: number }) {
  const { value, error } = useFetched(`${run} ${step}`, async () => {
    if (step === 0) return { context: await api.context(run, 0), changed: new Set<string>() };
    const { b, changed } = await api.diff(run, step - 1, step);
    return { context: b, changed: new Set(changed) };
  });
  const byNode = useRun((state) => state.model.byNode);
  if (error) return <p className="callout bad">{error}</p>;
  if (!value) return <p className="muted">Reading…</p>;
  const goTo = (node: string) => {
    const writer = byNode.get(node)?.findLast((known) => known.step < step);
    if (writer) seek(writer.step);
  };
  return (
    <div className="stack">
      <p className="muted">
        What step {step} saw as <code>$</code>. Marked: what changed since the step before. A name
        leads to the step that wrote it.
      </p>
      <JsonView value={value.context} changed={value.changed} open={2} onKey={goTo} />
    </div>
  );
}
