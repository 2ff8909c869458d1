import { useRef } from 'react';
import { Code } from '../code/Code';
import type { Language, Mark } from '../code/code';
import { useHandOver } from '../state/handover';
import { Field } from '../ui/Field';
import { useCommitted } from './useCommitted';

interface TextProps {
  label: string;
  value: string;
  hint?: string;
  /** What is wrong with a text, as it is typed. */
  check?: (text: string) => string | null;
  onCommit: (text: string) => void;
}

export function TextField({ label, value, hint, check, onCommit }: TextProps) {
  const typed = useCommitted(value, onCommit);
  return (
    <Field label={label} hint={hint} error={check?.(typed.value)}>
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
  /** What this field is known by when it comes back, with what could not be taken then. */
  keep?: string;
  /** Takes what was typed; `false` is for what cannot be taken yet, and stays as it was typed. */
  onCommit: (text: string) => unknown;
}

/** What could not be taken yet of fields that are out of sight, with what stood there before. */
const left = new Map<string, { text: string; instead: string }>();

/** What was left in a field that cannot be taken as it is. */
export function leftIn(keep: string, value: string): string | null {
  const found = left.get(keep);
  return found?.instead === value ? found.text : null;
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
  keep,
  onCommit,
}: CodeProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** What was typed, as long as the value is not made of it. */
  const typed = useRef<{ text: string; isOpen: boolean } | null>(null);
  const isNew = useRef(true);
  if (isNew.current) {
    isNew.current = false;
    const text = keep === undefined ? null : leftIn(keep, value);
    if (text !== null) typed.current = { text, isOpen: true };
  }
  const last = useRef(value);
  if (last.current !== value) {
    last.current = value;
    if (typed.current?.isOpen === false) typed.current = null;
  }
  const flush = () => {
    clearTimeout(timer.current);
    const now = typed.current;
    if (!now?.isOpen) return;
    now.isOpen = false;
    if (now.text !== value && onCommit(now.text) === false) now.isOpen = true;
    if (keep === undefined) return;
    if (now.isOpen) left.set(keep, { text: now.text, instead: value });
    else left.delete(keep);
  };
  const settle = useRef(flush);
  settle.current = flush;
  useHandOver(flush);
  return (
    <div className="field">
      <span className="label">{label}</span>
      <Code
        label={label}
        language={language}
        text={typed.current?.text ?? value}
        marks={marks}
        names={names}
        height={height}
        onBlur={flush}
        onChange={(text) => {
          typed.current = { text, isOpen: true };
          clearTimeout(timer.current);
          timer.current = setTimeout(() => settle.current(), SETTLE_MS);
        }}
      />
    </div>
  );
}
