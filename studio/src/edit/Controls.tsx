import { useEffect, useRef } from 'react';
import { Code } from '../code/Code';
import type { Language, Mark } from '../code/code';
import { Field } from '../ui/Field';
import { useCommitted } from './useCommitted';

interface TextProps {
  label: string;
  value: string;
  hint?: string;
  onCommit: (text: string) => void;
}

export function TextField({ label, value, hint, onCommit }: TextProps) {
  const typed = useCommitted(value, onCommit);
  return (
    <Field label={label} hint={hint}>
      {(control) => <input {...control} {...typed} className="input" spellCheck={false} />}
    </Field>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  choices: string[];
  /** What it means to choose nothing; without it something must be chosen. */
  none?: string;
  hint?: string;
  onChoose: (choice: string | undefined) => void;
}

export function ChoiceField({ label, value, choices, none, hint, onChoose }: ChoiceProps) {
  const all = value === '' || choices.includes(value) ? choices : [value, ...choices];
  return (
    <Field label={label} hint={hint}>
      {(control) => (
        <select
          {...control}
          className="select"
          value={value}
          onChange={(event) => onChoose(event.target.value || undefined)}
        >
          {(none !== undefined || value === '') && <option value="">{none ?? 'Choose…'}</option>}
          {all.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CodeProps {
  label: string;
  language: Language;
  value: string;
  /** What is wrong with it, at its place. */
  marks?: Mark[];
  names?: { label: string; detail?: string }[];
  height?: string;
  onCommit: (text: string) => void;
}

/** How long typing rests before it is handed over. */
const SETTLE_MS = 500;

export function CodeField({
  label,
  language,
  value,
  marks,
  names,
  height = '120px',
  onCommit,
}: CodeProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const pending = useRef<string | null>(null);
  const commit = useRef(onCommit);
  commit.current = onCommit;
  const flush = () => {
    clearTimeout(timer.current);
    if (pending.current !== null) commit.current(pending.current);
    pending.current = null;
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was typed is handed over at the end
  useEffect(() => flush, []);
  return (
    <div className="field">
      <span className="label">{label}</span>
      <Code
        label={label}
        language={language}
        text={pending.current ?? value}
        marks={marks}
        names={names}
        height={height}
        onChange={(text) => {
          pending.current = text;
          clearTimeout(timer.current);
          timer.current = setTimeout(flush, SETTLE_MS);
        }}
      />
    </div>
  );
}
