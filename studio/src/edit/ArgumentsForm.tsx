import { useState } from 'react';
import type { GraphDefinition, Json, JsonObject } from '../api/types';
import { isObject, setMember } from '../model/definition';
import { pretty } from '../model/format';
import { fields, parseJson } from '../model/schema';
import { Button } from '../ui/Button';
import { Field } from '../ui/Field';
import { CodeField } from './Controls';
import { namesOf } from './names';
import { useCommitted } from './useCommitted';

interface Props {
  tool: GraphDefinition;
  /** What the called tool takes, if it is known. */
  schema: JsonObject | undefined;
  value: Json | undefined;
  /** Says what becomes of the arguments, whatever they are by then. */
  onChange: (change: (value: Json | undefined) => Json) => void;
}

/** The expression that an argument is, if it is one. */
export function expression(value: Json | undefined): string | null {
  if (typeof value === 'string') return value.startsWith('$') ? value : null;
  if (isObject(value) && Object.keys(value).length === 1 && typeof value.expr === 'string')
    return value.expr;
  return null;
}

/** The arguments of a call: one field each, a value or an expression. */
export function ArgumentsForm({ tool, schema, value, onChange }: Props) {
  const [isRaw, setRaw] = useState(!isObject(value ?? {}));
  const args = isObject(value) ? value : {};
  const described = fields(schema);
  const others = Object.keys(args).filter(
    (name) => !described.some((field) => field.name === name),
  );
  const put = (name: string, member: Json | undefined) =>
    onChange((now) => setMember(isObject(now) ? now : {}, name, member));
  return (
    <div className="stack">
      <div className="row">
        <h3>Arguments</h3>
        <span className="spread" />
        <Button look="quiet" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          JSON
        </Button>
      </div>
      {isRaw ? (
        <CodeField
          label="All arguments"
          language="json"
          value={pretty(value ?? {})}
          names={namesOf(tool)}
          onCommit={(text) => {
            const parsed = parseJson(text);
            if ('error' in parsed) return false;
            onChange(() => parsed.value);
            return true;
          }}
        />
      ) : (
        [...described.map((field) => field.name), ...others].map((name) => {
          const field = described.find((known) => known.name === name);
          return (
            <Argument
              key={name}
              name={name}
              hint={field ? field.description : 'The tool does not say that it takes this.'}
              required={field?.required ?? false}
              isText={field?.control === 'text'}
              value={args[name]}
              onChange={(member) => put(name, member)}
            />
          );
        })
      )}
      {!isRaw && described.length + others.length === 0 && (
        <p className="muted">No arguments are known.</p>
      )}
    </div>
  );
}

interface ArgumentProps {
  name: string;
  hint: string | null;
  required: boolean;
  isText: boolean;
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
}

function Argument({ name, hint, required, isText, value, onChange }: ArgumentProps) {
  const written = expression(value);
  const [isExpression, setExpression] = useState(written !== null);
  const shown =
    written ??
    (value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value));
  const typed = useCommitted(shown, (text) => onChange(read(text)));
  const read = (text: string): Json | undefined => {
    if (text === '') return undefined;
    if (isExpression)
      return typeof value === 'string' && text.startsWith('$') ? text : { expr: text };
    if (isText) return text;
    const parsed = parseJson(text);
    return 'value' in parsed ? parsed.value : text;
  };
  return (
    <div className="row argument">
      <Field label={name} hint={hint} required={required}>
        {(control) => (
          <input
            {...control}
            {...typed}
            className={`input${isExpression ? ' mono' : ''}`}
            spellCheck={false}
            placeholder={isExpression ? '$.node.value' : ''}
          />
        )}
      </Field>
      <Button
        look="quiet"
        aria-pressed={isExpression}
        title={`${name} is an expression`}
        aria-label={`ƒx: ${name} is an expression`}
        onClick={() => setExpression(!isExpression)}
      >
        ƒx
      </Button>
    </div>
  );
}
