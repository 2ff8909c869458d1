import { useContext } from 'react';
import { markAt, momentOf, takenAt } from '../model/run';
import { DrawingContext } from './drawing';
import { useLocation } from './location';
import { useRun } from './run';

let known: { model: unknown; moment: number; taken: Set<string> } | null = null;

/** All edges ask for the same moment; it is worked out once. */
function taken(model: Parameters<typeof takenAt>[0], moment: number): Set<string> {
  if (known?.model !== model || known.moment !== moment) {
    known = { model, moment, taken: takenAt(model, moment) };
  }
  return known.taken;
}

/** Whether an edge had been taken at the moment that is looked at; nothing outside of runs. */
export function useTaken(from: string, to: string): 'taken' | 'faded' | null {
  const step = useLocation((location) => location.step);
  const { namesEdges } = useContext(DrawingContext);
  return useRun((state) => {
    if (state.id === null) return null;
    const moment = step === null ? state.model.length - 1 : momentOf(state.model, step);
    if (!namesEdges) {
      const ran = (node: string) => markAt(state.model, node, moment).count > 0;
      return ran(from) && ran(to) ? 'taken' : 'faded';
    }
    return taken(state.model, moment).has(`${from}→${to}`) ? 'taken' : 'faded';
  });
}
