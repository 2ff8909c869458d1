import { useState } from 'react';

/** A text that is typed here and handed over when it is complete. */
export function useCommitted(value: string, commit: (text: string) => void) {
  const [typed, setTyped] = useState(value);
  const [last, setLast] = useState(value);
  if (value !== last) {
    setLast(value);
    setTyped(value);
  }
  return {
    value: typed,
    onChange: (event: { target: { value: string } }) => setTyped(event.target.value),
    onBlur: () => typed !== value && commit(typed),
    onKeyDown: (event: { key: string; currentTarget: HTMLElement }) => {
      if (event.key === 'Enter') event.currentTarget.blur();
      if (event.key === 'Escape') setTyped(value);
    },
  };
}
