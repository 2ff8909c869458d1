import {
  Background,
  type Connection,
  Controls,
  MiniMap,
  type NodeTypes,
  ReactFlow,
  useReactFlow,
  useStore,
} from '@xyflow/react';
import { useEffect, useMemo, useState } from 'react';
import type { GraphView } from '../api/types';
import type { Grammar } from '../model/grammar';
import type { CanvasEdits } from '../state/editor';
import { useLocation } from '../state/location';
import { isDark, usePreferences } from '../state/preferences';
import { useRun } from '../state/run';
import { type CardNode, type LinkEdge, toEdges, toNodes } from './flow';
import GraphEdge from './GraphEdge';
import { Legend } from './Legend';
import { GroupCard, LaneBox, NodeCard } from './NodeCard';

const NODE_TYPES: NodeTypes = { card: NodeCard, container: GroupCard, lane: LaneBox };
const EDGE_TYPES = { link: GraphEdge };

/** From this many nodes on, only those in sight are drawn. */
const MANY_NODES = 150;

/** An overview is of use from this many nodes on, and where it leaves room for them. */
const MAP_NODES = 8;
const MAP_WIDTH = 620;

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
  const { tool, node, step, go } = useLocation();
  const isRun = useRun((state) => state.id !== null);
  const theme = usePreferences((state) => state.theme);
  const [edge, setEdge] = useState<string | null>(null);
  const said = grammar?.said;
  const nodes = useMemo(() => toNodes(view, said), [view, said]);
  const isFixed = isRun || !edits;
  const edges = useMemo(() => toEdges(view), [view]);
  const shownNodes = useMemo(
    () => nodes.map((card) => (card.id === node ? { ...card, selected: true } : card)),
    [nodes, node],
  );
  const shownEdges = useMemo(
    () => edges.map((link) => (link.id === edge ? { ...link, selected: true } : link)),
    [edges, edge],
  );
  useFit(tool);
  const hasRoom = useStore((flow) => flow.width >= MAP_WIDTH);

  const onConnect = ({ source, target }: Connection) => edits?.connect(source, target);
  const onDelete = (gone: { nodes: CardNode[]; edges: LinkEdge[] }) => {
    if (isFixed) return;
    setEdge(null);
    edits?.remove(
      gone.nodes.map((card) => card.data.placed.id),
      gone.edges.flatMap((edge) => edge.data?.link ?? []),
    );
  };

  return (
    <section
      className={`canvas${step !== null ? ' past' : ''}${isFixed ? ' fixed' : ''}`}
      aria-label={`Graph of ${view.name}`}
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
        nodesDraggable={false}
        deleteKeyCode={isFixed ? null : ['Delete', 'Backspace']}
        onConnect={onConnect}
        onDelete={onDelete}
        onNodesChange={(changes) => {
          for (const change of changes) {
            if (change.type === 'select' && change.selected) go({ node: change.id });
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
        fitViewOptions={{ maxZoom: 1, padding: 0.12 }}
      >
        <Background gap={20} size={1} color="var(--line)" />
        <Controls showInteractive={false} orientation="horizontal" position="top-right" />
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

/** The whole graph is shown when there is another one, or another place for it. */
function useFit(tool: string | null) {
  const { fitView } = useReactFlow();
  const size = useStore((flow) => `${flow.width}×${flow.height}`);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows the tool and the size alone
  useEffect(() => {
    const timer = setTimeout(() => void fitView({ maxZoom: 1, padding: 0.12 }), 30);
    return () => clearTimeout(timer);
  }, [tool, size, fitView]);
}
