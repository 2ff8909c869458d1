import type { Breakpoint } from '../api/types';

/** The breakpoints with a node's under another name; one that was there already gives way. */
export function carried(points: Breakpoint[], from: string, to: string): Breakpoint[] {
  if (!points.some((point) => point.node === from)) return points;
  return points
    .filter((point) => point.node !== to)
    .map((point) => (point.node === from ? { ...point, node: to } : point));
}

/** What is known of the nodes of a graph. */
export interface KnownNodes {
  /** Those it had when it was last looked at. */
  nodes?: string[];
  /** Those that the server said it does not have. */
  refused: string[];
}

/** Whether a breakpoint belongs to no node of its graph. */
export function isStray(point: Breakpoint, known: KnownNodes | undefined): boolean {
  if (!known) return false;
  return known.refused.includes(point.node) || known.nodes?.includes(point.node) === false;
}

/** The nodes of a graph as they are now; what was refused of another set of nodes is open again. */
export function looked(known: KnownNodes | undefined, nodes: string[]): KnownNodes {
  const isOther = known?.nodes?.join('\n') !== nodes.join('\n');
  return { nodes, refused: isOther ? [] : (known?.refused ?? []) };
}
