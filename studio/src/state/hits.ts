import { useEffect, useMemo, useState } from 'react';
import { api, messageOf } from '../api/client';
import { expressionIn, find } from '../model/find';
import { useRun } from './run';

/** The steps that a search finds. */
export interface Hits {
  steps: Set<number>;
  /** What is wrong with the search, or why it is not complete. */
  problem: string | null;
}

const NONE: Hits = { steps: new Set(), problem: null };

/** How long typing, or a run, rests before the server is asked. */
const SETTLE_MS = 300;

/** The steps of the run that fit a query: words here, an expression on the server. */
export function useHits(query: string): Hits {
  const run = useRun((state) => state.id);
  const steps = useRun((state) => state.model.steps);
  // Words are looked for again with every event; an expression when steps have ended.
  const length = useRun((state) => state.model.length);
  const expression = expressionIn(query);
  const here = useMemo(
    () => (expression === null ? { steps: find(steps, query), problem: null } : NONE),
    [steps, query, expression],
  );
  const [there, setThere] = useState<Hits>(NONE);
  // biome-ignore lint/correctness/useExhaustiveDependencies: more of a run is to be searched too
  useEffect(() => {
    if (run === null || !expression) {
      setThere(NONE);
      return;
    }
    let isGone = false;
    const timer = setTimeout(async () => {
      const found = await ask(run, expression);
      if (!isGone) setThere(found);
    }, SETTLE_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [run, expression, length]);
  return expression === null ? here : there;
}

async function ask(run: string, expression: string): Promise<Hits> {
  try {
    const { steps, looked, cut, error } = await api.findSteps(run, expression);
    const isShort = cut ? `There was time for ${looked} steps only.` : null;
    return { steps: new Set(steps), problem: error?.message ?? isShort };
  } catch (error) {
    return { steps: new Set(), problem: messageOf(error) };
  }
}
