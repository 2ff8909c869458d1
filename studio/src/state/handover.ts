import { useEffect, useRef } from 'react';

/** The fields in sight, each of which may hold something that was typed and not handed over yet. */
const fields = new Set<() => void>();

/** Hands over what was typed anywhere, before something is done that is about all of it. */
export function handOver() {
  for (const flush of [...fields]) flush();
}

/** Lets a field hand over what was typed: when it is asked for, and at the latest when it goes. */
export function useHandOver(flush: () => void) {
  const latest = useRef(flush);
  latest.current = flush;
  useEffect(() => {
    const field = () => latest.current();
    fields.add(field);
    return () => {
      fields.delete(field);
      field();
    };
  }, []);
}
