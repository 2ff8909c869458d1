import { Fragment, useMemo } from 'react';
import { duration } from '../model/format';
import type { RunModel } from '../model/run';
import { rows } from '../model/timeline';
import { seek } from '../state/run';

/** How many executions of a node are drawn one by one. */
const MAX_SPANS = 200;

interface Props {
  model: RunModel;
  cursor: number;
  hidesIdle: boolean;
}

/** When each node ran. */
export function Rows({ model, cursor, hidesIdle }: Props) {
  const { rows: all, hiddenMs } = useMemo(() => rows(model, hidesIdle), [model, hidesIdle]);
  return (
    <>
      <div className="rows">
        {all.map(({ node, spans }) => (
          <Fragment key={node}>
            <span className="truncate" title={node}>
              {node}
            </span>
            <span className="lane-bars">
              {spans.slice(-MAX_SPANS).map((span) => (
                <button
                  key={span.step}
                  type="button"
                  // The keyboard goes through the steps with the range above.
                  tabIndex={-1}
                  className={span.failed ? 'failed' : undefined}
                  aria-label={`Step ${span.step}, ${node}`}
                  aria-current={span.step === cursor ? 'step' : undefined}
                  style={{
                    left: `${span.from * 99}%`,
                    width: `${Math.max((span.to - span.from) * 99, 0)}%`,
                  }}
                  onClick={() => seek(span.step)}
                />
              ))}
            </span>
          </Fragment>
        ))}
      </div>
      {hiddenMs > 0 && (
        <p className="muted">{duration(hiddenMs)} without activity are not drawn.</p>
      )}
    </>
  );
}
