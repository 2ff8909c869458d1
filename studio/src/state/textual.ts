import { Problem } from '../api/client';
import type { Change } from '../model/changes';
import { type History, redone, replaced, undone } from '../model/history';
import { notify, wentWell } from './notices';

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
  /** How much was asked for that is not done yet. */
  underway: number;
  type: (text: string) => void;
  undo: () => void;
  redo: () => void;
  /** Saves the text with everything that is on its way into it. */
  save: () => Promise<boolean>;
  resolve: (keep: 'mine' | 'theirs') => Promise<void>;
}

/** A text that says a graph, which can be changed without changing the text by hand. */
export interface GraphTextual extends Textual {
  /** Changes what is shown, after everything that was asked for before; whether that was done. */
  change: (change: Change) => Promise<boolean>;
  rename: (node: string, to: string) => Promise<boolean>;
}

interface Store {
  read: () => History;
  update: (change: (state: History) => Partial<History & Pick<Textual, 'underway'>>) => void;
  /** Asks what the text says now; `also` is done together with what the answer brings. */
  check: (also?: () => void) => unknown;
  /** Another text of the history was gone to. */
  onTravel?: (from: string, to: string) => void;
}

interface Typing extends Pick<Textual, 'type' | 'undo' | 'redo'> {
  /** Puts a text in the place of the present one, as a change of its own. */
  replace: (text: string) => void;
  /** Asks about the text. An answer about another text than the present one is none. */
  ask: <T>(question: (text: string) => Promise<T>) => Promise<T | null>;
  /** Does something when everything that was asked for before is done. */
  inOrder: <T>(work: () => Promise<T>) => Promise<T>;
  /**
   * Puts a text that the server makes of the present one in its place. If somebody types meanwhile,
   * it is made again of what is there then. `make` gives nothing if nothing is to be changed; what
   * it fails with is shown.
   */
  renew: <T extends { text: string }>(
    make: (text: string) => Promise<T | null>,
    take: (answer: T, before: string) => void,
  ) => Promise<boolean>;
  /** What is edited is another thing from now on: what is on its way is not for it. */
  forget: () => void;
}

/** How a text is typed, changed, taken back and brought back: one thing after the other. */
export function typing({ read, update, check, onTravel }: Store): Typing {
  let lastTyped = 0;
  let settling: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  let era = 0;
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  const count = (by: 1 | -1) => {
    waiting += by;
    update(() => ({ underway: waiting }));
  };

  const inOrder: Typing['inOrder'] = (work) => {
    count(1);
    const done = last.then(work).finally(() => count(-1));
    last = done.catch(() => null);
    return done;
  };

  const travel = (to: (history: History) => History) => () => {
    const go = () => {
      lastTyped = 0;
      const before = read().text;
      update(to);
      void check(() => onTravel?.(before, read().text));
    };
    // What is taken back is the change that was made last, also if it is not there yet.
    if (waiting === 0) go();
    else void inOrder(async () => go());
  };

  const replace = (text: string) => {
    lastTyped = 0;
    update((history) => replaced(history, text));
  };

  return {
    type: (text) => {
      const now = Date.now();
      const goesOn = now - lastTyped <= TYPING_MS;
      update((history) => (goesOn ? { text, future: [] } : replaced(history, text)));
      lastTyped = now;
      clearTimeout(settling);
      settling = setTimeout(() => check(), SETTLE_MS);
    },
    undo: travel(undone),
    redo: travel(redone),
    replace,
    inOrder,
    ask: async (question) => {
      asked += 1;
      const number = asked;
      const { text } = read();
      const isAbout = () => number === asked && read().text === text;
      try {
        const answer = await question(text);
        wentWell('check');
        return isAbout() ? answer : null;
      } catch (error) {
        if (isAbout() && error instanceof Problem) notify('error', error.message, 'check');
        return null;
      }
    },
    renew: async (make, take) => {
      const mine = era;
      try {
        for (;;) {
          const before = read().text;
          const answer = await make(before);
          if (era !== mine) return false;
          if (read().text !== before) continue;
          if (answer === null) return true;
          // What is asked about the text before needs no answer any more.
          asked += 1;
          replace(answer.text);
          wentWell('edit');
          take(answer, before);
          return true;
        }
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (era === mine) notify('error', error.message, 'edit');
        return false;
      }
    },
    forget: () => {
      era += 1;
      asked += 1;
    },
  };
}
