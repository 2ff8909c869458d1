import { BaseEdge, EdgeLabelRenderer, type EdgeProps, useStore } from '@xyflow/react';
import { memo } from 'react';
import type { GraphLink } from '../api/types';
import { ruleText } from '../model/rule';
import { useTaken } from '../state/taken';
import type { LinkEdge } from './flow';
import { type Box, type Point, routeOf } from './geometry';

/** Below this zoom texts cannot be read and are not drawn. */
const LABEL_ZOOM = 0.45;

const WORDS = {
  otherwise: 'otherwise',
  error: 'on error',
  declined: 'declined',
  unanswered: 'no answer',
  next: '',
};

/** The edges of what does not go as planned. */
const HANDLERS = new Set<GraphLink['kind']>(['error', 'declined', 'unanswered']);

/** What stands at an edge. */
function textOf(link: GraphLink): string {
  if (link.kind === 'case') return ruleText(link.rule);
  return link.kind === 'worded' ? (link.text ?? '') : WORDS[link.kind];
}

function GraphEdge({ data, source, target }: EdgeProps<LinkEdge>) {
  const link = data?.link;
  const state = useTaken(source, target);
  const showsText = useStore((flow) => flow.transform[2] >= LABEL_ZOOM);
  const { from, to, around } = useBoxes(source, target);
  if (!link) return null;
  const bends = link.bends.map(([x, y]): Point => [x + around.x, y + around.y]);
  const route = routeOf(from, to, link.back ? data.side : null, bends, data.off);
  const text = textOf(link);
  const classes = [HANDLERS.has(link.kind) && 'error', state].filter(Boolean).join(' ');
  return (
    <>
      <BaseEdge path={route.path} className={`edge-path ${classes}`} interactionWidth={18} />
      <polygon className={`edge-arrow ${classes}`} points={route.head.join(' ')} />
      {text && showsText && (
        <EdgeLabelRenderer>
          <div
            className={`edge-label truncate ${state ?? ''}`}
            style={{
              maxWidth: data.room,
              transform: `translate(-50%, -50%) translate(${route.label[0]}px, ${route.label[1]}px)`,
            }}
            title={text}
          >
            {text}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
}

/** Where the cards at its ends are on the canvas, also while one is moved, and what is around them. */
function useBoxes(source: string, target: string) {
  const text = useStore((flow) => {
    const box = (id: string | undefined) => {
      const node = id === undefined ? undefined : flow.nodeLookup.get(id);
      const { x, y } = node?.internals.positionAbsolute ?? { x: 0, y: 0 };
      return `${x},${y},${node?.width ?? 0},${node?.height ?? 0}`;
    };
    return [source, target, flow.nodeLookup.get(source)?.parentId].map(box).join(';');
  });
  const [from = NOWHERE, to = NOWHERE, around = NOWHERE] = text.split(';').map((box): Box => {
    const [x = 0, y = 0, width = 0, height = 0] = box.split(',').map(Number);
    return { x, y, width, height };
  });
  return { from, to, around };
}

const NOWHERE: Box = { x: 0, y: 0, width: 0, height: 0 };

export default memo(GraphEdge);
