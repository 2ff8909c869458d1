import { useState } from 'react';
import type { GraphView, Json, NodeDefinition } from '../api/types';
import { pretty } from '../model/format';
import { parseJson } from '../model/schema';
import { type NodeChange, useEditor } from '../state/editor';
import { ArgumentsForm } from './ArgumentsForm';
import { CodeField } from './Controls';

interface Props {
  view: GraphView;
  node: NodeDefinition;
  onChange: (change: NodeChange) => void;
}

/** A node that sends a command: what is sent, and what fills its placeholders. */
export function CommandForm({ view, node, onChange }: Props) {
  return (
    <>
      <CommandField
        value={node.command}
        onChange={(command) => onChange((changed) => ({ ...changed, command }))}
      />
      <ArgumentsForm
        tool={view.definition}
        schema={undefined}
        value={node.args}
        onChange={(change) => onChange((changed) => ({ ...changed, args: change(changed.args) }))}
      />
    </>
  );
}

/** The command of a tool that is nothing else. */
export function CommandToolForm({ view }: { view: GraphView }) {
  const { change } = useEditor();
  return (
    <div className="stack" data-kind="command">
      <h2>The command</h2>
      <p className="muted">
        The arguments of the tool fill the placeholders; its answer is what the tool gives.
      </p>
      <CommandField
        value={view.definition.command}
        onChange={(command) => void change((definition) => ({ ...definition, command }))}
      />
    </div>
  );
}

function CommandField({ value, onChange }: { value?: Json; onChange: (command: Json) => void }) {
  const [error, setError] = useState<string | null>(null);
  return (
    <>
      <CodeField
        label="Command"
        language="json"
        height="220px"
        value={pretty(value ?? {})}
        onCommit={(text) => {
          const parsed = parseJson(text);
          setError('error' in parsed ? parsed.error : null);
          if ('error' in parsed) return false;
          onChange(parsed.value);
          return true;
        }}
      />
      {error && <p className="callout bad">{error}</p>}
    </>
  );
}
