import type { GraphDocument, GraphView } from '../api/types';

type Known = Pick<GraphDocument, 'tools' | 'report'>;

/** The names of the tools that errors are about. */
export function faultyTools(document: Known | null, view: GraphView | null): Set<string> {
  const found = new Set<string>();
  if (!document) return found;
  const { tools, report } = document;
  // A tool that cannot be read at all is not in the list, and those behind it have other numbers.
  const at = view?.pointer.match(/^\/tools\/(\d+)$/)?.[1];
  if (at !== undefined && tools[Number(at)]?.name !== view?.name) return found;
  for (const { severity, pointer } of report.diagnostics) {
    const number = pointer?.match(/^\/tools\/(\d+)(\/|$)/)?.[1];
    const tool = severity === 'error' && number !== undefined ? tools[Number(number)] : undefined;
    if (tool) found.add(tool.name);
  }
  return found;
}
