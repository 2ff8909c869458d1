import type { GraphDefinition, GraphView, Json, JsonObject } from '../api/types';
import { isObject, setMember } from '../model/definition';
import { plural } from '../model/format';
import { useEditor, useIsStored } from '../state/editor';
import { Field } from '../ui/Field';
import { TextField } from './Controls';

const AROUND = [
  { value: 'tools/call', label: 'calls of tools' },
  { value: 'tools/list', label: 'the list of tools' },
];

const PATTERNS = [
  { key: 'server', label: 'Server', hint: 'Such as files*; nothing is any.' },
  { key: 'tool', label: 'Tool', hint: 'Such as write_*|delete_*; nothing is any.' },
  { key: 'client', label: 'Client', hint: 'Nothing is any.' },
];

const text = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : String(value);

const matchOf = ({ match }: GraphDefinition): JsonObject => (isObject(match) ? match : {});

/** What a workflow is put around, in which order, and whether it is in use. */
export function WorkflowForm({ view }: { view: GraphView }) {
  const { change, report } = useEditor();
  const isStored = useIsStored();
  const { definition } = view;
  const put = (key: string, value: Json | undefined) =>
    void change((now) => setMember(now, key, value));
  const match = matchOf(definition);
  const putPattern = (key: string, pattern: string) =>
    void change((now) => {
      const changed = setMember(matchOf(now), key, pattern === '' ? undefined : pattern);
      return setMember(now, 'match', Object.keys(changed).length === 0 ? undefined : changed);
    });
  const hosts = Array.isArray(definition.allowHosts) ? definition.allowHosts : [];
  return (
    <div className="stack">
      <Summary errors={report?.errors ?? 0} isEnabled={definition.enabled !== false} />
      <label className="check">
        <input
          type="checkbox"
          checked={definition.enabled !== false}
          onChange={(event) => put('enabled', event.target.checked)}
        />
        In use once it is saved
      </label>
      <TextField
        label="Name"
        value={definition.name}
        onCommit={(name) => name && put('name', name)}
      />
      <TextField
        label="Description"
        value={text(definition.description)}
        onCommit={(about) => put('description', about === '' ? undefined : about)}
      />
      <Field label="Around">
        {(control) => (
          <select
            {...control}
            className="select"
            value={text(definition.workflowType)}
            onChange={(event) => put('workflowType', event.target.value)}
          >
            {AROUND.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <TextField
        label="Priority"
        value={text(definition.priority ?? 0)}
        hint="The greatest is outside: it sees the request first and the response last."
        onCommit={(typed) => put('priority', typed.trim() === '' ? undefined : Number(typed))}
      />
      <fieldset className="stack">
        <legend>Only calls that match</legend>
        {PATTERNS.map(({ key, label, hint }) => (
          <TextField
            key={key}
            label={label}
            hint={hint}
            value={text(match[key])}
            onCommit={(pattern) => putPattern(key, pattern.trim())}
          />
        ))}
      </fieldset>
      <TextField
        label="Hosts that hooks may fetch from"
        value={hosts.join(', ')}
        hint="Such as api.example.com; none if nothing is said."
        onCommit={(typed) => {
          const names = typed.split(/[\s,]+/).filter(Boolean);
          put('allowHosts', names.length === 0 ? undefined : names);
        }}
      />
      <p className="muted">
        {isStored ? 'It is kept in the store' : 'It is written in the graph file'}
        {definition.enabled === false
          ? ', and is not in use.'
          : ', and is in use as soon as it is saved.'}
      </p>
    </div>
  );
}

function Summary({ errors, isEnabled }: { errors: number; isEnabled: boolean }) {
  if (errors === 0) return null;
  return (
    <div className={`callout ${isEnabled ? 'bad' : 'warn'}`}>
      <strong>{plural(errors, 'error')}</strong>
      <span className="plain">
        {isEnabled
          ? 'A workflow that is in use must have none: mend them, or take it out of use to keep a draft.'
          : 'It can be kept as a draft; in use it must have none.'}
      </span>
    </div>
  );
}
