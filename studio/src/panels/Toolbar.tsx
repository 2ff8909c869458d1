import { moment, plural } from '../model/format';
import { breakpointsOf, useBreakpoints } from '../state/breakpoints';
import { useDialogs } from '../state/dialogs';
import { isDirty, useDocument } from '../state/document';
import { useLocation } from '../state/location';
import { usePreferences } from '../state/preferences';
import { isLive, useRun } from '../state/run';
import { Button } from '../ui/Button';
import { StatusChip } from './status';

/** What can be done with the graph, or with the run that is looked at. */
export function Toolbar({ onRun }: { onRun: (paused: boolean) => void }) {
  const run = useRun((state) => state.id);
  return (
    <div className="workbar" role="toolbar" aria-label="Graph and run">
      {run === null ? <Begin onRun={onRun} /> : <Control />}
      <span className="rule" />
      <Breakpoints />
      {run === null && <Editing />}
      <span className="spread" />
      <Views />
    </div>
  );
}

function Begin({ onRun }: { onRun: (paused: boolean) => void }) {
  return (
    <>
      <Button icon="play" look="primary" shortcut="r" title="Run" onClick={() => onRun(false)}>
        Run
      </Button>
      <Button
        icon="step"
        shortcut="s"
        title="Run and stop before the first node"
        onClick={() => onRun(true)}
      >
        Step
      </Button>
    </>
  );
}

function Control() {
  const { summary, move, model, debug, isConnected } = useRun();
  const live = useRun(isLive);
  const go = useLocation((location) => location.go);
  const isPaused = model.paused !== null || debug?.state === 'paused';
  return (
    <>
      {isPaused ? (
        <Button
          icon="play"
          look="primary"
          title="Resume"
          shortcut="p"
          onClick={() => void move('resume')}
        >
          Resume
        </Button>
      ) : (
        <Button
          icon="pause"
          disabled={!live}
          title="Pause"
          shortcut="p"
          onClick={() => void move('pause')}
        >
          Pause
        </Button>
      )}
      <Button
        icon="step"
        disabled={!live || !isPaused}
        title="Execute one node, inside loops too"
        shortcut="s"
        onClick={() => void move('step')}
      >
        Step
      </Button>
      <Button
        icon="over"
        disabled={!live || !isPaused}
        title="Execute one node, with everything inside it"
        shortcut="o"
        onClick={() => void move('stepOver')}
      >
        Over
      </Button>
      <Button
        icon="stop"
        look="danger"
        disabled={!live}
        title="Stop the run"
        onClick={() => void move('stop')}
      >
        Stop
      </Button>
      <span className="rule" />
      {summary && <StatusChip status={isPaused && live ? 'running' : summary.status} />}
      {isPaused && live && <span className="chip warn">paused</span>}
      {!isConnected && live && <span className="chip warn">reconnecting</span>}
      {summary && <span className="muted">{moment(summary.started)}</span>}
      {summary?.origin.parent && (
        <ForkedFrom run={summary.origin.parent.run} step={summary.origin.parent.from} />
      )}
      <Button
        icon="cross"
        look="quiet"
        title="Leave the run and edit"
        shortcut="Esc"
        onClick={() => go({ run: null, step: null }, 'push')}
      >
        Close run
      </Button>
    </>
  );
}

function ForkedFrom({ run, step }: { run: string; step: number }) {
  const go = useLocation((location) => location.go);
  return (
    <Button
      icon="fork"
      look="quiet"
      title={`Forked from run ${run}`}
      onClick={() => go({ run, step }, 'push')}
    >
      forked at step {step}
    </Button>
  );
}

function Breakpoints() {
  const tool = useLocation((location) => location.tool);
  const points = useBreakpoints(breakpointsOf(tool));
  const show = useDialogs((state) => state.show);
  return (
    <Button
      icon="dot"
      look="quiet"
      title="Breakpoints"
      onClick={() => show({ name: 'breakpoints' })}
    >
      {points.length === 0 ? 'Breakpoints' : plural(points.length, 'breakpoint')}
    </Button>
  );
}

function Editing() {
  const { past, future, undo, redo, save, isSaving, document } = useDocument();
  const dirty = useDocument(isDirty);
  const node = useLocation((location) => location.node);
  const show = useDialogs((state) => state.show);
  const errors = document?.report.errors ?? 0;
  return (
    <>
      <span className="rule" />
      <Button icon="plus" shortcut="n" title="Add a node" onClick={() => show({ name: 'add' })}>
        Add
      </Button>
      <Button
        icon="link"
        shortcut="c"
        title="Connect the selected node"
        disabled={node === null}
        onClick={() => show({ name: 'connect' })}
      >
        Connect
      </Button>
      <Button
        icon="undo"
        look="quiet"
        title="Undo"
        shortcut="⌘Z"
        disabled={past.length === 0}
        onClick={undo}
      />
      <Button
        icon="redo"
        look="quiet"
        title="Redo"
        shortcut="⇧⌘Z"
        disabled={future.length === 0}
        onClick={redo}
      />
      <Button
        icon="save"
        look={dirty && errors === 0 ? 'primary' : undefined}
        disabled={!dirty || isSaving || errors > 0}
        title={errors > 0 ? 'Errors must be mended before the file is saved' : 'Save the file'}
        shortcut="⌘S"
        onClick={() => void save()}
      >
        {dirty ? 'Save' : 'Saved'}
      </Button>
      {errors > 0 && <span className="chip bad">{plural(errors, 'error')}</span>}
    </>
  );
}

function Views() {
  const { view, showsText, set } = usePreferences();
  const choice = (id: 'canvas' | 'list', label: string) => (
    <button type="button" aria-pressed={view === id} onClick={() => set({ view: id })}>
      {label}
    </button>
  );
  return (
    <>
      <div className="segmented" role="group" aria-label="How the graph is shown">
        {choice('canvas', 'Canvas')}
        {choice('list', 'List')}
      </div>
      <Button
        icon="text"
        look="quiet"
        aria-pressed={showsText}
        title="The file beside the graph"
        shortcut="y"
        onClick={() => set({ showsText: !showsText })}
      >
        YAML
      </Button>
    </>
  );
}
