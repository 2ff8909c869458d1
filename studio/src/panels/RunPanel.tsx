import { useState } from 'react';
import type { JsonObject, ToolSummary } from '../api/types';
import { plural, pretty } from '../model/format';
import { example, fields, parseJson } from '../model/schema';
import { useInputs } from '../state/inputs';
import { Button } from '../ui/Button';
import { Field } from '../ui/Field';
import { SchemaForm } from './SchemaForm';

interface Props {
  tool: ToolSummary;
  isDirty: boolean;
  /** How many errors the file has. */
  errors: number;
  onRun: (input: JsonObject, paused: boolean) => void;
}

const NONE: JsonObject[] = [];

/** The arguments of the next run: a form made of the schema, or JSON. */
export function RunPanel({ tool, isDirty, errors, onRun }: Props) {
  const recent = useInputs((state) => state.byTool[tool.name] ?? NONE);
  const [input, setInput] = useState<JsonObject>(() => recent[0] ?? example(tool.inputSchema));
  const [raw, setRaw] = useState<string | null>(null);
  const [position, setPosition] = useState(0);

  const parsed = raw === null ? null : parseJson(raw);
  const problem = parsed && 'error' in parsed ? parsed.error : null;
  const hasForm = fields(tool.inputSchema).length > 0;
  const choose = (to: number) => {
    const chosen = recent[to];
    if (!chosen) return;
    setPosition(to);
    setInput(chosen);
    if (raw !== null) setRaw(pretty(chosen));
  };
  const run = (paused: boolean) => {
    if (problem) return;
    const value = parsed && 'value' in parsed ? (parsed.value as JsonObject) : input;
    onRun(value, paused);
  };
  return (
    <form
      className="stack"
      aria-label={`Arguments of ${tool.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        run(false);
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
          onClick={() => setRaw(raw === null ? pretty(input) : null)}
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
              onChange={(event) => {
                setRaw(event.target.value);
                const now = parseJson(event.target.value);
                if ('value' in now) setInput(now.value as JsonObject);
              }}
            />
          )}
        </Field>
      ) : hasForm ? (
        <SchemaForm schema={tool.inputSchema} value={input} onChange={setInput} />
      ) : (
        <p className="muted">This tool takes no arguments.</p>
      )}
      {errors > 0 && (
        <p className="callout warn">
          The file has {plural(errors, 'error')}. What runs is the file as it was before.
        </p>
      )}
      <div className="row">
        <Button icon="play" look="primary" type="submit" disabled={problem !== null}>
          {isDirty ? 'Save and run' : 'Run'}
        </Button>
        <Button icon="step" disabled={problem !== null} onClick={() => run(true)}>
          Step through
        </Button>
      </div>
      <p className="muted">
        {plural(tool.nodes, 'node')}. Click a card to see and change what it does.
      </p>
    </form>
  );
}
