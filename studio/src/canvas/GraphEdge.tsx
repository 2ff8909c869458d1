import { BaseEdge, EdgeLabelRenderer, type EdgeProps, useStore } from '@xyflow/react';
import { memo } from 'react';
import type { GraphLink } from '../api/types';
import { ruleText } from '../model/rule';
import { useTaken } from '../state/taken';
import type { LinkEdge } from './flow';
import { downward, type Point, type Route, sideArc } from './geometry';

/** Below this zoom texts cannot be read and are not drawn. */
const LABEL_ZOOM = 0.45;

const WORDS = { otherwise: 'otherwise', error: 'on error', next: '' };

/** What stands at an edge. */
function textOf(link: GraphLink): string {
  if (link.kind === 'case') return ruleText(link.rule);
  return link.kind === 'worded' ? (link.text ?? '') : WORDS[link.kind];
}

function GraphEdge({
  data,
  sourceX,
  sourceY,
  targetX,
  targetY,
  source,
  target,
}: EdgeProps<LinkEdge>) {
  const link = data?.link;
  const state = useTaken(source, target);
  const showsText = useStore((flow) => flow.transform[2] >= LABEL_ZOOM);
  const boxes = useStore((flow) => {
    const edge = (id: string) => {
      const node = flow.nodeLookup.get(id);
      const x = node?.internals.positionAbsolute.x ?? 0;
      const y = node?.internals.positionAbsolute.y ?? 0;
      return `${x + (node?.width ?? 0)},${y},${node?.height ?? 0}`;
    };
    return link?.back ? `${edge(source)};${edge(target)}` : '';
  });
  const origin = useStore((flow) => {
    const parent = flow.nodeLookup.get(source)?.parentId;
    const at = parent ? flow.nodeLookup.get(parent)?.internals.positionAbsolute : undefined;
    return `${at?.x ?? 0},${at?.y ?? 0}`;
  });
  if (!link) return null;
  const [ox = 0, oy = 0] = origin.split(',').map(Number);
  const bends = link.bends.map(([x, y]): Point => [x + ox, y + oy]);
  const route: Route = link.back
    ? back(boxes, data.side)
    : downward([sourceX, sourceY], [targetX, targetY - 7], bends);
  const text = textOf(link);
  const classes = [link.kind === 'error' && 'error', state].filter(Boolean).join(' ');
  return (
    <>
      <BaseEdge path={route.path} className={`edge-path ${classes}`} interactionWidth={18} />
      <Arrow at={link.back ? null : [targetX, targetY]} boxes={boxes} classes={classes} />
      {text && showsText && (
        <EdgeLabelRenderer>
          <div
            className={`edge-label truncate ${state ?? ''}`}
            style={{
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

function ends(boxes: string): { from: Point; to: Point } {
  const [from = '', to = ''] = boxes.split(';');
  const [x0 = 0, y0 = 0, h0 = 0] = from.split(',').map(Number);
  const [x1 = 0, y1 = 0, h1 = 0] = to.split(',').map(Number);
  // An edge to the card itself needs two places at its side.
  return { from: [x0, y0 + h0 * 0.66], to: [x1 + 7, y1 + h1 * 0.34] };
}

function back(boxes: string, side: number): Route {
  const { from, to } = ends(boxes);
  return sideArc(from, to, side);
}

function Arrow({ at, boxes, classes }: { at: Point | null; boxes: string; classes: string }) {
  const [x, y] = at ?? ends(boxes).to;
  const points = at
    ? `${x - 5},${y - 9} ${x + 5},${y - 9} ${x},${y - 1}`
    : `${x + 2},${y - 5} ${x + 2},${y + 5} ${x - 6},${y}`;
  return <polygon className={`edge-arrow ${classes}`} points={points} />;
}

export default memo(GraphEdge);
