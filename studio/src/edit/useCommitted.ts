import { useRef, useState } from 'react';
import { useHandOver } from '../state/handover';

/**
 * A text that is typed here and handed over when it is complete. What the value becomes meanwhile,
 * because an answer to something earlier arrives, takes nothing away from what is being typed.
 */
export function useCommitted(value: string, commit: (text: string) => void) {
  const [typed, setTyped] = useState<string | null>(null);
  const [last, setLast] = useState(value);
  /** What was typed and not handed over yet. */
  const open = useRef<string | null>(null);
  if (value !== last) {
    setLast(value);
    if (open.current === null) setTyped(null);
  }
  const flush = () => {
    const text = open.current;
    open.current = null;
    if (text !== null && text !== value) commit(text);
  };
  useHandOver(flush);
  return {
    value: typed ?? value,
    onChange: (event: { target: { value: string } }) => {
      open.current = event.target.value;
      setTyped(event.target.value);
    },
    onBlur: () => {
      // What was refused before is tried again.
      open.current ??= typed;
      flush();
    },
    onKeyDown: (event: { key: string; currentTarget: HTMLElement }) => {
      if (event.key === 'Enter') {
        // Keys are shortcuts again, and the tab key goes on from here.
        const panel = event.currentTarget.closest<HTMLElement>('[role="tabpanel"]');
        event.currentTarget.blur();
        panel?.focus({ preventScroll: true });
      }
      if (event.key === 'Escape') {
        open.current = null;
        setTyped(null);
      }
    },
  };
}
