import { ReactFlowProvider } from '@xyflow/react';
import type { ReactNode } from 'react';
import type { GraphView } from '../api/types';
import { Canvas } from '../canvas/Canvas';
import { TextPane } from '../edit/TextPane';
import { Inspector } from '../inspector/Inspector';
import type { Grammar } from '../model/grammar';
import { Timeline } from '../panels/Timeline';
import { type Drawing, DrawingContext } from '../state/drawing';
import type { CanvasEdits } from '../state/editor';
import { useLocation } from '../state/location';
import { usePreferences } from '../state/preferences';
import { useRun } from '../state/run';
import { Button } from '../ui/Button';
import { Outline } from './Outline';

interface Props {
  view: GraphView | null;
  drawing: Drawing;
  grammar?: Grammar;
  edits?: CanvasEdits | null;
  toolbar: ReactNode;
  /** What stands beside the graph while no run is looked at. */
  panel: ReactNode;
  /** What stands there while one is; the inspector if it is not said. */
  inspector?: ReactNode;
  /** What stands in the place of a graph that there is not. */
  empty?: ReactNode;
  /** Whether there is a text that can be shown. */
  hasText?: boolean;
  /** Whether the text is all there is to go on with. */
  needsText?: boolean;
}

/** Any graph on the canvas or as a list, with what can be done above it and its runs below. */
export function Workbench(props: Props) {
  const { view, drawing, grammar, edits, toolbar, panel, hasText = true } = props;
  const isThere = view !== null;
  const run = useRun((state) => state.id);
  const { step, go } = useLocation();
  const { view: shown, showsText } = usePreferences();
  const withText = hasText && (showsText || props.needsText === true);
  // Whoever types stays in the text whatever it says: it keeps its place beside all that is shown.
  return (
    <DrawingContext value={drawing}>
      <div className={`workbench${isThere ? '' : ' alone'}`}>
        {isThere && toolbar}
        <div className={`stage${withText ? ' with-text' : ''}`}>
          {!view ? (
            props.empty
          ) : shown === 'list' ? (
            <Outline view={view} grammar={grammar} />
          ) : (
            <ReactFlowProvider>
              <Canvas view={view} grammar={grammar} edits={edits} />
            </ReactFlowProvider>
          )}
          {withText && <TextPane />}
          {isThere && run !== null && step !== null && (
            <div className="stage-note">
              Viewing step {step}
              <Button onClick={() => go({ step: null })}>Go to the end</Button>
            </div>
          )}
        </div>
        {isThere && (run === null ? panel : (props.inspector ?? <Inspector />))}
        {isThere && run !== null && <Timeline />}
      </div>
    </DrawingContext>
  );
}
