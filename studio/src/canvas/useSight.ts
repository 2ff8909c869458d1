import { useReactFlow, useStore, useStoreApi } from '@xyflow/react';
import { useCallback, useEffect, useRef } from 'react';
import type { GraphView } from '../api/types';
import { isPlain } from '../state/keys';
import { isLive, useRun } from '../state/run';
import { boxOf, firstSight, outOfSight, READABLE } from './view';

/** The whole graph, and not larger than life. */
const FIT = { maxZoom: 1, padding: 0.12 };

/** The same before it is known what is read first. */
export const FIRST_FIT = { ...FIT, minZoom: READABLE };

/** How long it takes to go to another card. */
const GO_MS = 160;

/**
 * What is seen of a graph: as much as can be read when there is another one or another place for
 * it, all of it by the key `f`, the selected node whoever selected it, and the one that a run stands
 * still at. Gives what is to be called when a node is selected on the canvas itself, where it is in
 * sight already.
 */
export function useSight(view: GraphView, selected: string | null): (key: string) => void {
  const { fitView, setViewport, setCenter } = useReactFlow();
  const flow = useStoreApi();
  const size = useStore(({ width, height }) => `${width}×${height}`);
  const chosenHere = useRef<string | null>(null);
  const held = useRun(heldAt);
  const latest = useRef(view);
  latest.current = view;
  /** What came last of the two: the node that was selected, or the one that is stood still at. */
  const wanted = useRef(selected);

  const follow = useCallback(
    (key: string | null) => {
      const { width, height, transform } = flow.getState();
      const [x, y, zoom] = transform;
      const box = key === null ? null : boxOf(latest.current.nodes, key);
      const to = box && outOfSight(box, { x, y, zoom }, { width, height });
      if (!to) return;
      const isQuiet = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
      void setCenter(to.x, to.y, { zoom, duration: isQuiet ? 0 : GO_MS });
    },
    [flow, setCenter],
  );

  const graph = `${view.pointer} ${view.name}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the graph and the size alone
  useEffect(() => {
    const timer = setTimeout(async () => {
      const sight = firstSight(latest.current.nodes, flow.getState());
      await (sight ? setViewport(sight) : fitView(FIT));
      follow(wanted.current);
    }, 30);
    return () => clearTimeout(timer);
  }, [graph, size, fitView, follow]);

  useEffect(() => {
    wanted.current = selected;
    if (selected !== chosenHere.current) follow(selected);
    chosenHere.current = null;
  }, [selected, follow]);
  useEffect(() => {
    if (held !== null) wanted.current = held;
    follow(held);
  }, [held, follow]);

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'f' && isPlain(event)) void fitView(FIT);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [fitView]);

  return useCallback((key) => {
    chosenHere.current = key;
  }, []);
}

/** The node that a run stands still at. */
function heldAt(state: ReturnType<typeof useRun.getState>): string | null {
  if (!isLive(state)) return null;
  const { debug, model } = state;
  return (debug?.state === 'paused' ? debug.next?.node : null) ?? model.paused?.node ?? null;
}
