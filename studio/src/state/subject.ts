import type { RunSummary } from '../api/types';
import type { Place, Screen } from '../model/place';
import { useLocation } from './location';
import { useProcedures } from './procedures';

/** How runs of workflows are called. */
const WORKFLOW = 'workflow:';

/** The name under which what a screen shows is run. */
export function runName(screen: Screen, subject: string | null): string | null {
  return screen === 'workflows' && subject !== null ? `${WORKFLOW}${subject}` : subject;
}

/** Where a run of this name is looked at. */
export function placeOf(name: string): Pick<Place, 'screen' | 'tool'> {
  if (name.startsWith(WORKFLOW)) {
    return { screen: 'workflows', tool: name.slice(WORKFLOW.length) };
  }
  const walks = useProcedures.getState().procedures?.some(({ agent }) => agent === name);
  return { screen: walks ? 'procedures' : 'graph', tool: name };
}

/** Opens a run beside the graph that it is a run of. */
export function openRun(run: Pick<RunSummary, 'id' | 'tool'>) {
  useLocation.getState().go({ ...placeOf(run.tool), run: run.id, step: null, node: null }, 'push');
}

/** What the runs of the screen's subject are called. */
export const useRunName = (): string | null =>
  useLocation((location) => runName(location.screen, location.tool));
