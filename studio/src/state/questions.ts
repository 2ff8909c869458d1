import { create } from 'zustand';
import { api, messageOf } from '../api/client';
import type { Question } from '../api/types';

interface QuestionsState {
  /** What runs wait for; none until it is known. */
  questions: Question[] | null;
  failure: string | null;
  look: () => Promise<void>;
}

/** How long a run that changed is given to ask: its question comes just after that. */
const SETTLE_MS = 400;

/** What runs ask a person. */
export const useQuestions = create<QuestionsState>((set) => ({
  questions: null,
  failure: null,
  look: async () => {
    try {
      set({ questions: (await api.questions()).questions, failure: null });
    } catch (error) {
      set({ failure: messageOf(error) });
    }
  },
}));

let isSettling = false;

/** Looks for questions soon, once for everything that happens until then. */
export function lookForQuestions() {
  if (isSettling) return;
  isSettling = true;
  setTimeout(() => {
    isSettling = false;
    void useQuestions.getState().look();
  }, SETTLE_MS);
}

/** Whether a run waits for an answer; with a node, whether it does so there. */
export const useIsAsking = (run: string | null, node?: string): boolean =>
  useQuestions(
    ({ questions }) =>
      questions?.some((asked) => asked.run === run && (node ?? asked.node) === asked.node) === true,
  );
