import { useEffect, useRef } from 'react';
import type { JsonObject, ToolSummary } from '../api/types';
import { faults, typeAll } from '../model/form';
import { plural, pretty } from '../model/format';
import { fields } from '../model/schema';
import { runForm, useForms } from '../state/forms';
import { useInputs } from '../state/inputs';
import { Button } from '../ui/Button';
import { Field } from '../ui/Field';
import { SchemaForm } from './SchemaForm';

interface Props {
  tool: ToolSummary;
  isDirty: boolean;
  /** How many errors the file has. */
  errors: number;
  /** Why it cannot be run. */
  refusal: string | null;
  onRun: (paused: boolean) => void;
}

const NONE: JsonObject[] = [];

/** The arguments of the next run: a form made of the schema, or JSON. */
export function RunPanel({ tool, isDirty, errors, refusal, onRun }: Props) {
  const { name, inputSchema } = tool;
  const recent = useInputs((state) => state.byTool[name] ?? NONE);
  const isBegun = useForms((state) => state.byTool[name]);
  const form = isBegun ?? runForm(name, inputSchema);
  const { position, raw, isAsked } = form;
  const change = (to: typeof form) => useForms.getState().put(name, to);
  const missing = faults(inputSchema, form);
  const problem = missing.get('') ?? null;
  const hasForm = fields(inputSchema).length > 0;
  const element = useRef<HTMLFormElement>(null);
  const shows = useForms((state) => state.shows === name);
  useEffect(() => {
    if (!shows) return;
    element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
    useForms.getState().shown();
  }, [shows]);
  const choose = (to: number) => {
    const input = recent[to];
    if (!input) return;
    change({ ...form, input, typed: {}, raw: raw === null ? null : pretty(input), position: to });
  };
  return (
    <form
      ref={element}
      className="stack"
      aria-label={`Arguments of ${name}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (refusal === null) onRun(false);
      }}
    >
      {tool.description && <p className="muted">{tool.description}</p>}
      <div className="row">
        <h3>Arguments</h3>
        <span className="spread" />
        {recent.length > 1 && (
          <span className="row" role="group" aria-label="Earlier arguments">
            <Button
              icon="left"
              look="quiet"
              title="Older arguments"
              disabled={position >= recent.length - 1}
              onClick={() => choose(position + 1)}
            />
            <span className="muted">
              {position + 1}/{recent.length}
            </span>
            <Button
              icon="right"
              look="quiet"
              title="Newer arguments"
              disabled={position === 0}
              onClick={() => choose(position - 1)}
            />
          </span>
        )}
        <Button
          look="quiet"
          aria-pressed={raw !== null}
          disabled={problem !== null}
          title={problem === null ? undefined : 'The form comes back once the text can be read'}
          onClick={() => change({ ...form, raw: raw === null ? pretty(form.input) : null })}
        >
          JSON
        </Button>
      </div>
      {raw !== null ? (
        <Field label="All arguments as JSON" error={problem}>
          {(control) => (
            <textarea
              {...control}
              className="textarea"
              rows={8}
              value={raw}
              spellCheck={false}
              onChange={(event) => change({ ...form, ...typeAll(form, event.target.value) })}
            />
          )}
        </Field>
      ) : hasForm ? (
        <SchemaForm
          schema={inputSchema}
          form={form}
          missing={isAsked ? missing : undefined}
          onChange={change}
        />
      ) : (
        <p className="muted">This tool takes no arguments.</p>
      )}
      {refusal !== null && <p className="callout bad">{refusal}</p>}
      {refusal === null && errors > 0 && (
        <p className="callout warn">
          The file has {plural(errors, 'error')}. What runs is the file as it was before.
        </p>
      )}
      {isAsked && missing.size > 0 && (
        <p className="callout bad" role="alert">
          {problem === null
            ? `Nothing was run: ${[...missing.keys()].join(', ')} cannot be sent like this.`
            : 'Nothing was run: the arguments cannot be read.'}
        </p>
      )}
      <div className="row">
        <Button icon="play" look="primary" type="submit" disabled={refusal !== null}>
          {isDirty ? 'Save and run' : 'Run'}
        </Button>
        <Button icon="step" disabled={refusal !== null} onClick={() => onRun(true)}>
          Step through
        </Button>
      </div>
      <p className="muted">
        {plural(tool.nodes, 'node')}. Click a card to see and change what it does.
      </p>
    </form>
  );
}
