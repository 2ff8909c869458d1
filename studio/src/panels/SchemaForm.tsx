import { useState } from 'react';
import type { Json, JsonObject } from '../api/types';
import { type Field as Described, fields, parse } from '../model/schema';
import { Field } from '../ui/Field';

interface Props {
  schema: JsonObject;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
}

/** A form that a JSON Schema describes. */
export function SchemaForm({ schema, value, onChange }: Props) {
  const put = (name: string, member: Json | undefined) => {
    const { [name]: _, ...rest } = value;
    onChange(member === undefined ? rest : { ...value, [name]: member });
  };
  return (
    <div className="stack">
      {fields(schema).map((field) => (
        <Control
          key={field.name}
          field={field}
          value={value[field.name]}
          onChange={(member) => put(field.name, member)}
        />
      ))}
    </div>
  );
}

interface ControlProps {
  field: Described;
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
}

function Control({ field, value, onChange }: ControlProps) {
  if (field.control === 'flag') return <Flag field={field} value={value} onChange={onChange} />;
  if (field.control === 'choice') return <Choice field={field} value={value} onChange={onChange} />;
  return <Typed field={field} value={value} onChange={onChange} />;
}

function Flag({ field, value, onChange }: ControlProps) {
  return (
    <div className="field">
      <label>
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />{' '}
        {field.title}
      </label>
      {field.description && <span className="hint">{field.description}</span>}
    </div>
  );
}

function Choice({ field, value, onChange }: ControlProps) {
  const index = field.choices.findIndex(
    (choice) => JSON.stringify(choice) === JSON.stringify(value),
  );
  return (
    <Field label={field.title} hint={field.description} required={field.required}>
      {(control) => (
        <select
          {...control}
          className="select"
          value={index}
          onChange={(event) => onChange(field.choices[Number(event.target.value)])}
        >
          <option value={-1}>–</option>
          {field.choices.map((choice, at) => (
            <option key={JSON.stringify(choice)} value={at}>
              {typeof choice === 'string' ? choice : JSON.stringify(choice)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

const shown = (field: Described, value: Json | undefined): string => {
  if (value === undefined) return '';
  return field.control === 'text' && typeof value === 'string' ? value : JSON.stringify(value);
};

function Typed({ field, value, onChange }: ControlProps) {
  const [typed, setTyped] = useState(() => shown(field, value));
  const [error, setError] = useState<string | null>(null);
  const outside = shown(field, value);
  const [last, setLast] = useState(outside);
  // The value may be replaced as a whole, by earlier arguments for example.
  if (outside !== last) {
    setLast(outside);
    const now = parse(field, typed);
    if ('error' in now || shown(field, now.value) !== outside) setTyped(outside);
  }
  const change = (text: string) => {
    setTyped(text);
    const now = parse(field, text);
    setError('error' in now ? now.error : null);
    if ('value' in now) {
      setLast(shown(field, now.value));
      onChange(now.value);
    }
  };
  const isJson = field.control === 'json';
  return (
    <Field label={field.title} hint={field.description} error={error} required={field.required}>
      {(control) =>
        isJson ? (
          <textarea
            {...control}
            className="textarea"
            rows={3}
            value={typed}
            spellCheck={false}
            placeholder="JSON"
            onChange={(event) => change(event.target.value)}
          />
        ) : (
          <input
            {...control}
            className="input"
            value={typed}
            inputMode={field.control === 'number' ? 'decimal' : undefined}
            spellCheck={false}
            onChange={(event) => change(event.target.value)}
          />
        )
      }
    </Field>
  );
}
