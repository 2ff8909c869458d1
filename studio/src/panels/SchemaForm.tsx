import type { Json, JsonObject } from '../api/types';
import { type Form, put, type } from '../model/form';
import { type Field as Described, fields, parse } from '../model/schema';
import { Field } from '../ui/Field';

interface Props<F extends Form> {
  schema: JsonObject;
  form: F;
  /** What is wrong with fields that were not typed into; those that were say it themselves. */
  missing?: Map<string, string>;
  onChange: (form: F) => void;
}

/** A form that a JSON Schema describes. */
export function SchemaForm<F extends Form>({ schema, form, missing, onChange }: Props<F>) {
  return (
    <div className="stack">
      {fields(schema).map((field) => (
        <Control
          key={field.name}
          field={field}
          value={form.input[field.name]}
          typed={form.typed[field.name]}
          missing={missing?.get(field.name)}
          onType={(text) => onChange({ ...form, ...type(form, field, text) })}
          onChange={(member) => onChange({ ...form, ...put(form, field.name, member) })}
        />
      ))}
    </div>
  );
}

interface ControlProps {
  field: Described;
  value: Json | undefined;
  /** The text in the field, if somebody typed it. */
  typed?: string;
  missing?: string;
  onType: (text: string) => void;
  onChange: (value: Json | undefined) => void;
}

function Control(props: ControlProps) {
  const { control } = props.field;
  if (control === 'flag') return <Flag {...props} />;
  return control === 'choice' ? <Choice {...props} /> : <Typed {...props} />;
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

function Choice({ field, value, missing, onChange }: ControlProps) {
  const index = field.choices.findIndex(
    (choice) => JSON.stringify(choice) === JSON.stringify(value),
  );
  return (
    <Field label={field.title} hint={field.description} error={missing} required={field.required}>
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

function Typed({ field, value, typed, missing, onType }: ControlProps) {
  const text = typed ?? shown(field, value);
  const now = typed === undefined ? null : parse(field, typed);
  const error = now && 'error' in now ? now.error : missing;
  const isJson = field.control === 'json';
  return (
    <Field label={field.title} hint={field.description} error={error} required={field.required}>
      {(control) =>
        isJson ? (
          <textarea
            {...control}
            className="textarea"
            rows={3}
            value={text}
            spellCheck={false}
            placeholder="JSON"
            onChange={(event) => onType(event.target.value)}
          />
        ) : (
          <input
            {...control}
            className="input"
            value={text}
            inputMode={field.control === 'number' ? 'decimal' : undefined}
            spellCheck={false}
            onChange={(event) => onType(event.target.value)}
          />
        )
      }
    </Field>
  );
}
