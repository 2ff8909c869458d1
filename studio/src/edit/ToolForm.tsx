import { useState } from 'react';
import type { GraphView, Json, JsonObject } from '../api/types';
import { pretty } from '../model/format';
import { parseJson } from '../model/schema';
import { useDocument } from '../state/document';
import { Button } from '../ui/Button';
import { CodeField, leftIn, TextField } from './Controls';

/** What clients are told of the tool. */
export function ToolForm({ view }: { view: GraphView }) {
  const { change, edit } = useDocument();
  const { definition } = view;
  const schema = pretty(definition.inputSchema ?? { type: 'object' });
  const field = `schema of ${view.name}`;
  const [error, setError] = useState(() => errorOf(leftIn(field, schema)));
  const put = (key: string, value: Json) => void change((now) => ({ ...now, [key]: value }));
  return (
    <div className="stack">
      <TextField label="Name" value={view.name} onCommit={(name) => name && put('name', name)} />
      <TextField
        label="Description"
        value={typeof definition.description === 'string' ? definition.description : ''}
        hint="Models decide by it when to call the tool."
        onCommit={(text) => put('description', text)}
      />
      <CodeField
        label="Schema of the arguments"
        language="json"
        height="240px"
        keep={field}
        value={schema}
        onCommit={(text) => {
          const parsed = parseJson(text);
          setError(errorOf(text));
          if ('error' in parsed) return false;
          put('inputSchema', parsed.value as JsonObject);
          return true;
        }}
      />
      {error && <p className="callout bad">{error}</p>}
      <div className="row">
        <Button
          icon="trash"
          look="danger"
          onClick={() => void edit({ op: 'delete', tool: view.name })}
        >
          Delete the tool
        </Button>
      </div>
    </div>
  );
}

function errorOf(text: string | null): string | null {
  const parsed = text === null ? null : parseJson(text);
  return parsed && 'error' in parsed ? parsed.error : null;
}
