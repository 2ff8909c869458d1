import { useEffect, useState } from 'react';
import { api } from '../api/client';
import type { Diagnostic, Json } from '../api/types';
import { Code } from '../code/Code';
import { pretty } from '../model/format';
import { parseJson } from '../model/schema';
import { notify } from '../state/notices';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';

/** How long typing rests before it is checked. */
const SETTLE_MS = 300;

/** A workflow as JSON, checked as one types. */
export function WorkflowDialog({ definition, onClose }: { definition: Json; onClose: () => void }) {
  const [text, setText] = useState(() => pretty(definition));
  const [problems, setProblems] = useState<Pick<Diagnostic, 'code' | 'message' | 'hint'>[]>([]);
  const parsed = parseJson(text);
  const error = 'error' in parsed ? parsed.error : null;
  useEffect(() => {
    const now = parseJson(text);
    if ('error' in now) return;
    const timer = setTimeout(async () => {
      try {
        setProblems((await api.checkWorkflow(now.value)).diagnostics.diagnostics);
      } catch (problem) {
        const message = problem instanceof Error ? problem.message : String(problem);
        setProblems([{ code: '', message }]);
      }
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const save = async () => {
    if ('error' in parsed) return;
    try {
      await api.saveWorkflow(parsed.value);
      onClose();
    } catch (problem) {
      notify('error', problem instanceof Error ? problem.message : String(problem));
    }
  };
  return (
    <Dialog
      title="Workflow"
      wide
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button icon="save" look="primary" disabled={error !== null} onClick={() => void save()}>
            Save to the store
          </Button>
        </>
      }
    >
      <Code
        label="Definition of the workflow"
        language="json"
        text={text}
        height="52vh"
        onChange={setText}
      />
      {error && <p className="callout bad">{error}</p>}
      {error === null &&
        problems.map((problem) => (
          <div key={`${problem.code} ${problem.message}`} className="callout warn">
            <strong>
              {problem.code} {problem.message}
            </strong>
            {problem.hint && <span className="plain">{problem.hint}</span>}
          </div>
        ))}
    </Dialog>
  );
}
