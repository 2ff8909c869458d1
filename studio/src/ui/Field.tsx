import { type ReactNode, useId } from 'react';

interface Props {
  label: string;
  hint?: string | null;
  error?: string | null;
  required?: boolean;
  /** Gets the id that the label is for, and whether there is an error. */
  children: (control: {
    id: string;
    'aria-invalid': boolean;
    'aria-describedby'?: string;
  }) => ReactNode;
}

/** A control with its label, what it is for, and what is wrong with it. */
export function Field({ label, hint, error, required, children }: Props) {
  const id = useId();
  const described = hint || error ? `${id}about` : undefined;
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {required && <span className="muted">required</span>}
      </label>
      {children({ id, 'aria-invalid': Boolean(error), 'aria-describedby': described })}
      {described && (
        <div id={described}>
          {error ? <span className="error">{error}</span> : <span className="hint">{hint}</span>}
        </div>
      )}
    </div>
  );
}
