import {
  Background,
  type Connection,
  ControlButton,
  Controls,
  MiniMap,
  type NodeTypes,
  ReactFlow,
  useStore,
} from '@xyflow/react';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { GraphView } from '../api/types';
import type { Grammar } from '../model/grammar';
import type { Place } from '../model/positions';
import type { CanvasEdits } from '../state/editor';
import { isForGraph } from '../state/keys';
import { useLocation } from '../state/location';
import { isDark, usePreferences } from '../state/preferences';
import { useRun } from '../state/run';
import { Icon } from '../ui/Icon';
import { type LinkData, toEdges, toNodes } from './flow';
import GraphEdge from './GraphEdge';
import { Legend } from './Legend';
import { GroupCard, LaneBox, NodeCard } from './NodeCard';
import { FIRST_FIT, useSight } from './useSight';

const NODE_TYPES: NodeTypes = { card: NodeCard, container: GroupCard, lane: LaneBox };
const EDGE_TYPES = { link: GraphEdge };

/** From this many nodes on, only those in sight are drawn. */
const MANY_NODES = 150;

/** An overview is of use from this many nodes on, and where it leaves room for them. */
const MAP_NODES = 8;
const MAP_WIDTH = 620;

/** What cards are moved by, and how long one rests between keys before it is where it belongs. */
const GRID: [number, number] = [10, 10];
const REST_MS = 300;

/** From this many edges on, the tab key passes them by; the list has them too. */
const MANY_EDGES = 50;

interface Props {
  view: GraphView;
  /** How its nodes are written. */
  grammar?: Grammar;
  /** What may be changed; nothing if it is not given, or while a run is looked at. */
  edits?: CanvasEdits | null;
}

/** Any graph: cards with what they are and what became of them, and what leads from one to another. */
export function Canvas({ view, grammar, edits }: Props) {
  const { node, step, go } = useLocation();
  const isRun = useRun((state) => state.id !== null);
  const theme = usePreferences((state) => state.theme);
  const [selectedEdge, setEdge] = useState<string | null>(null);
  const said = grammar?.said;
  const isFixed = isRun || !edits;
  const { moved, move } = useMoves(view, edits ?? null);
  const nodes = useMemo(() => toNodes(view, said, isFixed), [view, said, isFixed]);
  const edges = useMemo(() => toEdges(view), [view]);
  // What is not touched stays the same object, so that it is not drawn again.
  const shownNodes = useMemo(
    () =>
      nodes.map((card) => {
        const position = card.id === moved?.key ? { x: moved.x, y: moved.y } : card.position;
        const selected = card.id === node;
        return selected || position !== card.position ? { ...card, selected, position } : card;
      }),
    [nodes, node, moved],
  );
  const shownEdges = useMemo(
    () =>
      edges.map((edge) => {
        // A way around cards is one only as long as what it connects stands where it stood.
        const isLoose = moved && (edge.source === moved.key || edge.target === moved.key);
        const data = isLoose && edge.data ? straight(edge.data) : edge.data;
        const selected = edge.id === selectedEdge;
        return selected || data !== edge.data ? { ...edge, selected, data } : edge;
      }),
    [edges, selectedEdge, moved],
  );
  const choosing = useSight(view, node);
  const hasRoom = useStore((flow) => flow.width >= MAP_WIDTH);

  const onConnect = ({ source, target }: Connection) => edits?.connect(source, target);
  useRemoval(() => {
    if (isFixed) return;
    setEdge(null);
    edits?.remove(
      nodes.filter((card) => card.id === node).map((card) => card.data.placed.id),
      edges.filter((edge) => edge.id === selectedEdge).flatMap((edge) => edge.data?.link ?? []),
    );
  });

  return (
    <section
      className={`canvas${step !== null ? ' past' : ''}${isFixed ? ' fixed' : ''}`}
      aria-label={`Graph of ${view.name}`}
      tabIndex={-1}
    >
      <ReactFlow
        nodes={shownNodes}
        edges={shownEdges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        colorMode={isDark(theme) ? 'dark' : 'light'}
        onlyRenderVisibleElements={nodes.length > MANY_NODES}
        edgesFocusable={edges.length <= MANY_EDGES}
        nodesConnectable={!isFixed}
        nodesDraggable={!isFixed}
        nodeDragThreshold={4}
        snapToGrid
        snapGrid={GRID}
        // The library listens everywhere, also behind dialogs and in the toolbar.
        deleteKeyCode={null}
        onConnect={onConnect}
        onNodesChange={(changes) => {
          for (const change of changes) {
            if (change.type === 'select' && change.selected) {
              if (change.id !== node) choosing(change.id);
              go({ node: change.id });
            }
            if (change.type === 'position' && change.position && !isFixed) {
              move({ key: change.id, ...change.position }, change.dragging === true);
            }
          }
        }}
        onEdgesChange={(changes) => {
          for (const change of changes) {
            if (change.type === 'select') setEdge(change.selected ? change.id : null);
          }
        }}
        onPaneClick={() => go({ node: null })}
        minZoom={0.05}
        maxZoom={1.6}
        fitView
        fitViewOptions={FIRST_FIT}
      >
        <Background gap={20} size={1} color="var(--line)" />
        <Controls showInteractive={false} orientation="horizontal" position="top-right">
          {!isFixed && view.nodes.some((placed) => placed.pinned) && (
            <ControlButton
              title="Lay out all nodes anew"
              aria-label="Lay out all nodes anew"
              onClick={edits?.arrange}
            >
              <Icon name="canvas" />
            </ControlButton>
          )}
        </Controls>
        {hasRoom && nodes.length >= MAP_NODES && (
          <MiniMap
            pannable
            zoomable
            position="bottom-right"
            ariaLabel="Overview of the graph"
            nodeColor="var(--line-strong)"
            maskColor="color-mix(in srgb, var(--bg) 70%, transparent)"
            style={{ width: 160, height: 112 }}
          />
        )}
        <Legend nodes={view.nodes} />
      </ReactFlow>
    </section>
  );
}

const straight = (data: LinkData): LinkData => ({ ...data, link: { ...data.link, bends: [] } });

/** A card on its way to another place. */
interface Moved extends Place {
  key: string;
}

/** Moves cards by mouse and by arrow keys; where one comes to rest, it is put. */
function useMoves(view: GraphView, edits: CanvasEdits | null) {
  const [moved, setMoved] = useState<Moved | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // The card stays where it was let go until there is a layout that says so.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the places alone
  useEffect(() => setMoved(null), [view.nodes]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const drop = async ({ key, x, y }: Moved) => {
    const card = view.nodes.find((known) => known.key === key);
    const isOther = card && (card.x !== x || card.y !== y);
    if (!isOther || !(await edits?.place(card.id, { x, y }))) setMoved(null);
  };
  const isDragged = useRef(false);
  const move = (to: Moved, isDragging: boolean) => {
    clearTimeout(timer.current);
    setMoved(to);
    // A mouse lets go; keys are pressed again and again.
    if (isDragged.current && !isDragging) void drop(to);
    else if (!isDragging) timer.current = setTimeout(() => void drop(to), REST_MS);
    isDragged.current = isDragging;
  };
  return { moved, move };
}

/** Removes what is selected by a key, where no other control has it. */
function useRemoval(remove: () => void) {
  const latest = useRef(remove);
  latest.current = remove;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Delete' && event.key !== 'Backspace') return;
      if (!event.defaultPrevented && isForGraph(event)) latest.current();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}
