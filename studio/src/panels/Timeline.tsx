import { useEffect, useMemo, useState } from 'react';
import { WORDS as FIND_WORDS } from '../model/find';
import { duration } from '../model/format';
import { durationOf } from '../model/run';
import { bars } from '../model/timeline';
import { useHits } from '../state/hits';
import { useLocation } from '../state/location';
import { usePreferences } from '../state/preferences';
import { isLive, lastStep, seek, useCursor, useRun } from '../state/run';
import { Button } from '../ui/Button';
import { Rows } from './Rows';
import { Scrubber } from './Scrubber';

const FIND_HELP = `Words that all have to fit; ${FIND_WORDS.map((word) => `${word}:`).join(' ')} narrow it down.
Or, after =, an expression in JSONata on each step: = output.total > 100 and node = "sum"`;

/** The pause between two steps of a playback. */
const PLAY_MS = { 1: 700, 4: 175 };

/** Time in a run: every step as a bar, and where one is. */
export function Timeline() {
  const model = useRun((state) => state.model);
  const live = useRun(isLive);
  const last = useRun(lastStep);
  const cursor = useCursor();
  const { step: pinned, filter, go } = useLocation();
  const { showsRows, hidesIdle, set } = usePreferences();
  const text = filter.find ?? '';
  const all = useMemo(() => bars(model), [model]);
  const { steps: hits, problem } = useHits(text);
  const step = model.steps[cursor];
  if (last < 0) return null;
  const nextHit = [...hits].find((hit) => hit > cursor) ?? [...hits][0];
  return (
    <section className="timeline" aria-label="Timeline">
      <div className="row">
        <Button
          icon="left"
          look="quiet"
          title="Step back"
          shortcut="["
          disabled={cursor <= 0}
          onClick={() => seek(cursor - 1)}
        />
        <Playback cursor={cursor} last={last} />
        <Button
          icon="right"
          look="quiet"
          title="Step forward"
          shortcut="]"
          disabled={cursor >= last}
          onClick={() => seek(cursor + 1)}
        />
        <span>
          Step <strong>{cursor}</strong>{' '}
          <span className="muted">
            ({cursor + 1} of {last + 1})
          </span>
        </span>
        {step && (
          <span className="muted truncate">
            {step.node} · +{duration(step.beganMs)} · {duration(durationOf(step, model))}
          </span>
        )}
        {live && pinned === null && <span className="chip busy">live</span>}
        {live && pinned !== null && (
          <Button
            look="quiet"
            icon="play"
            shortcut="Esc"
            title="Follow the run"
            onClick={() => go({ step: null })}
          >
            Go live
          </Button>
        )}
        <span className="spread" />
        <input
          className="input search"
          type="search"
          aria-label="Find in the steps"
          placeholder="node:… text, or = expression"
          title={FIND_HELP}
          aria-invalid={problem !== null}
          aria-describedby={problem === null ? undefined : 'find-problem'}
          list="step-words"
          value={text}
          onChange={(event) => go({ filter: { ...filter, find: event.target.value } })}
        />
        <Suggestions />
        {problem && (
          <span id="find-problem" className="chip warn find-problem" title={problem}>
            <span className="truncate">{problem}</span>
          </span>
        )}
        {text !== '' && (
          <Button
            look="quiet"
            disabled={nextHit === undefined}
            onClick={() => nextHit !== undefined && seek(nextHit)}
          >
            {hits.size} found
          </Button>
        )}
        {showsRows && (
          <Button
            look="quiet"
            aria-pressed={hidesIdle}
            title="Leave out time in which nothing ran"
            onClick={() => set({ hidesIdle: !hidesIdle })}
          >
            Hide idle
          </Button>
        )}
        <Button
          icon="rows"
          look="quiet"
          aria-pressed={showsRows}
          title="A row for each node"
          onClick={() => set({ showsRows: !showsRows })}
        >
          Rows
        </Button>
      </div>
      <Scrubber bars={all} cursor={cursor} hits={hits} label={`${step?.node ?? ''}`} />
      {showsRows && <Rows model={model} cursor={cursor} hidesIdle={hidesIdle} />}
    </section>
  );
}

/** The words that narrow a search down, with what is there to be found. */
function Suggestions() {
  const byNode = useRun((state) => state.model.byNode);
  const words = ['status:failed', 'status:done', 'slower:100', 'code:MG', '= output.'];
  return (
    <datalist id="step-words">
      {[...words, ...[...byNode.keys()].map((node) => `node:${node}`)].map((word) => (
        <option key={word} value={word} />
      ))}
    </datalist>
  );
}

function Playback({ cursor, last }: { cursor: number; last: number }) {
  const [speed, setSpeed] = useState<0 | 1 | 4>(0);
  useEffect(() => {
    if (speed === 0) return;
    if (cursor >= last) {
      setSpeed(0);
      return;
    }
    const timer = setTimeout(() => seek(cursor + 1), PLAY_MS[speed]);
    return () => clearTimeout(timer);
  }, [speed, cursor, last]);
  const press = () => {
    if (speed === 0 && cursor >= last) seek(0);
    setSpeed(speed === 0 ? 1 : speed === 1 ? 4 : 0);
  };
  return (
    <Button
      icon={speed === 4 ? 'pause' : 'play'}
      look="quiet"
      aria-pressed={speed > 0}
      title={
        speed === 0 ? 'Play the run' : speed === 1 ? 'Play four times as fast' : 'Stop playing'
      }
      onClick={press}
    >
      {speed === 0 ? undefined : `${speed}×`}
    </Button>
  );
}
