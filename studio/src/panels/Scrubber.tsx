import type { Bar } from '../model/timeline';
import { seek } from '../state/run';

interface Props {
  bars: Bar[];
  cursor: number;
  hits: Set<number>;
  label: string;
}

/** Above this many steps neighbours are drawn as one bar: there are not more dots on a screen. */
const MAX_BARS = 600;

const HEIGHT = 40;

/** One bar a step, its height by the time it took. The range above it takes mouse and keys. */
export function Scrubber({ bars, cursor, hits, label }: Props) {
  const size = Math.max(1, Math.ceil(bars.length / MAX_BARS));
  const drawn = size === 1 ? bars : grouped(bars, size);
  const count = Math.max(drawn.length, 1);
  const width = 100 / count;
  const last = bars.length - 1;
  return (
    <div className="scrub">
      <svg viewBox={`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {drawn.map((bar, index) => {
          const height = 5 + bar.height * (HEIGHT - 10);
          const isPast = bar.step <= cursor;
          const state = hits.has(bar.step)
            ? 'hit'
            : bar.failed
              ? 'failed'
              : bar.running
                ? 'running'
                : isPast
                  ? 'past'
                  : '';
          return (
            <rect
              key={bar.step}
              className={state}
              x={index * width + width * 0.1}
              y={HEIGHT - 4 - height}
              width={Math.min(width * 0.8, 3)}
              height={height}
            />
          );
        })}
        <rect
          className="cursor"
          x={(Math.floor(cursor / size) + 0.1) * width}
          y={HEIGHT - 3}
          width={Math.max(Math.min(width * 0.8, 3), 0.4)}
          height={3}
        />
      </svg>
      <input
        type="range"
        aria-label="Step of the run"
        aria-valuetext={`step ${cursor}, ${cursor + 1} of ${bars.length}, ${label}`}
        min={0}
        max={last}
        step={1}
        value={cursor}
        onChange={(event) => seek(Number(event.target.value))}
      />
    </div>
  );
}

function grouped(bars: Bar[], size: number): Bar[] {
  const groups: Bar[] = [];
  for (let from = 0; from < bars.length; from += size) {
    const group = bars.slice(from, from + size);
    const first = group[0];
    if (!first) break;
    groups.push({
      ...first,
      height: Math.max(...group.map((bar) => bar.height)),
      failed: group.some((bar) => bar.failed),
      running: group.some((bar) => bar.running),
    });
  }
  return groups;
}
