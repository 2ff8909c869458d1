import { Fragment, useMemo } from 'react';
import { duration } from '../model/format';
import type { RunModel } from '../model/run';
import { type Bundle, bundles, rows } from '../model/timeline';
import { seek } from '../state/run';

interface Props {
  model: RunModel;
  cursor: number;
  hidesIdle: boolean;
}

/** When each node ran. */
export function Rows({ model, cursor, hidesIdle }: Props) {
  const { all, hiddenMs } = useMemo(() => {
    const { rows: found, hiddenMs } = rows(model, hidesIdle);
    return { all: found.map(({ node, spans }) => ({ node, spans: bundles(spans) })), hiddenMs };
  }, [model, hidesIdle]);
  const at = model.steps[cursor]?.node;
  return (
    <>
      <div className="rows">
        {all.map(({ node, spans }) => (
          <Fragment key={node}>
            <span className="truncate" title={node}>
              {node}
            </span>
            <span className="lane-bars">
              {spans.map((span) => (
                <button
                  key={span.step}
                  type="button"
                  // The keyboard goes through the steps with the range above.
                  tabIndex={-1}
                  className={span.failed ? 'failed' : undefined}
                  aria-label={`${wordsOf(span)}, ${node}`}
                  title={span.count > 1 ? wordsOf(span) : undefined}
                  aria-current={node === at && isIn(span, cursor) ? 'step' : undefined}
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

const wordsOf = ({ step, last, count }: Bundle): string =>
  count === 1 ? `Step ${step}` : `Steps ${step} to ${last}, ${count} executions`;

const isIn = ({ step, last }: Bundle, cursor: number): boolean => step <= cursor && cursor <= last;
