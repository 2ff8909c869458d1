import type { RunSummary } from '../api/types';

/** The list with what is known of runs that are new or different. */
export function merge(list: RunSummary[], changed: RunSummary[], limit: number): RunSummary[] {
  const byId = new Map(list.map((run) => [run.id, run]));
  for (const run of changed) byId.set(run.id, run);
  // Ids begin with the time, so that their order is that of the runs.
  const all = [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
  return all.slice(0, limit);
}
