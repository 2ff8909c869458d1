import { Problem } from '../api/client';
import type { GraphDefinition } from '../api/types';
import { type History, redone, replaced, undone } from '../model/history';
import { notify } from './notices';

/** Typing within this time is one change. */
const TYPING_MS = 1000;

/** How long typing rests before it is checked. */
const SETTLE_MS = 200;

/** What is edited was changed by somebody else; nothing of it is lost as long as this is there. */
export interface Conflict {
  text: string;
}

/** A text that is edited, to be saved somewhere. */
export interface Textual extends History {
  conflict: Conflict | null;
  /** Why there is nothing to see. */
  failure: string | null;
  isSaving: boolean;
  type: (text: string) => void;
  undo: () => void;
  redo: () => void;
  save: () => Promise<boolean>;
  resolve: (keep: 'mine' | 'theirs') => Promise<void>;
}

/** A text that says a graph, which can be changed without changing the text by hand. */
export interface GraphTextual extends Textual {
  /** Another definition of what is shown. */
  set: (definition: GraphDefinition) => Promise<boolean>;
  rename: (node: string, to: string) => Promise<boolean>;
}

interface Typing extends Pick<Textual, 'type' | 'undo' | 'redo'> {
  /** Puts a text in the place of the present one, as a change of its own. */
  replace: (text: string) => void;
  /** Asks the server about the text. An answer to an earlier question is none; a refusal is shown. */
  ask: <T>(question: () => Promise<T>) => Promise<T | null>;
}

/** How a text is typed, taken back and brought back; `check` asks what it says now. */
export function typing(
  update: (change: (history: History) => History) => void,
  check: () => unknown,
): Typing {
  let lastTyped = 0;
  let settling: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  const travel = (to: (history: History) => History) => () => {
    lastTyped = 0;
    update(to);
    void check();
  };
  return {
    type: (text) => {
      const now = Date.now();
      const goesOn = now - lastTyped <= TYPING_MS;
      update((history) => (goesOn ? { ...history, text, future: [] } : replaced(history, text)));
      lastTyped = now;
      clearTimeout(settling);
      settling = setTimeout(check, SETTLE_MS);
    },
    undo: travel(undone),
    redo: travel(redone),
    replace: (text) => {
      lastTyped = 0;
      update((history) => replaced(history, text));
    },
    ask: async (question) => {
      asked += 1;
      const number = asked;
      try {
        const answer = await question();
        return number === asked ? answer : null;
      } catch (error) {
        if (number === asked && error instanceof Problem) notify('error', error.message);
        return null;
      }
    },
  };
}
