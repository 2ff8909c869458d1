/** How many changes can be taken back. */
const MAX_UNDO = 200;

/** A text with those before it and those that were taken back. */
export interface History {
  text: string;
  past: string[];
  future: string[];
}

export const beginning = (text: string): History => ({ text, past: [], future: [] });

/** Another text in the place of the present one, to be taken back. */
export function replaced(history: History, text: string): History {
  if (text === history.text) return history;
  return { text, past: [...history.past, history.text].slice(-MAX_UNDO), future: [] };
}

/** The text before; the same history if there is none. */
export function undone({ text, past, future }: History): History {
  const before = past.at(-1);
  if (before === undefined) return { text, past, future };
  return { text: before, past: past.slice(0, -1), future: [...future, text] };
}

/** The text that was taken back last; the same history if there is none. */
export function redone({ text, past, future }: History): History {
  const after = future.at(-1);
  if (after === undefined) return { text, past, future };
  return { text: after, past: [...past, text], future: future.slice(0, -1) };
}
