import { moment, plural } from '../model/format';
import { breakpointsOf, useBreakpoints } from '../state/breakpoints';
import { useDialogs } from '../state/dialogs';
import { hasNodes, useEditor } from '../state/editor';
import { useLocation } from '../state/location';
import { usePreferences } from '../state/preferences';
import { useIsAsking } from '../state/questions';
import { isLive, useRun } from '../state/run';
import { useRunName } from '../state/subject';
import { Button } from '../ui/Button';
import { UndoButtons } from '../ui/UndoButtons';
import { StatusChip } from './status';

/** What can be done with the graph, or with the run that is looked at. */
export function Toolbar({ onRun, refusal }: Partial<BeginProps>) {
  const run = useRun((state) => state.id);
  return (
    <div className="workbar" role="toolbar" aria-label="Graph and run">
      {run !== null && <Control />}
      {run === null && onRun && <Begin onRun={onRun} refusal={refusal ?? null} />}
      {(run !== null || onRun) && <span className="rule" />}
      <Breakpoints />
      {run === null && <Editing />}
      <span className="spread" />
      <Views />
    </div>
  );
}

/** What can be done with a walk, which only its agent can go on with. */
export function WalkToolbar() {
  const { id, summary, isConnected } = useRun();
  const live = useRun(isLive);
  return (
    <div className="workbar" role="toolbar" aria-label="Procedure and walk">
      {id === null ? (
        <span className="muted">No walk is shown: choose one on the left.</span>
      ) : (
        <>
          {summary && <StatusChip status={summary.status} />}
          {!isConnected && live && <span className="chip warn">reconnecting</span>}
          {summary && <span className="muted">{moment(summary.started)}</span>}
          <CloseRun label="Close walk" />
        </>
      )}
      <span className="spread" />
      <Views hasText={false} />
    </div>
  );
}

interface BeginProps {
  onRun: (paused: boolean) => void;
  /** Why nothing can be run. */
  refusal: string | null;
}

function Begin({ onRun, refusal }: BeginProps) {
  return (
    <>
      <Button
        icon="play"
        look="primary"
        shortcut="r"
        title={refusal ?? 'Run'}
        disabled={refusal !== null}
        onClick={() => onRun(false)}
      >
        Run
      </Button>
      <Button
        icon="step"
        shortcut="s"
        title={refusal ?? 'Run and stop before the first node'}
        disabled={refusal !== null}
        onClick={() => onRun(true)}
      >
        Step
      </Button>
    </>
  );
}

const NO_PAUSE =
  'A durable run goes on wherever its process ends, so nobody can hold it. It can be stopped; begun with Step or with breakpoints, the tool runs without being durable.';

function Control() {
  const { id, summary, move, model, debug, isConnected, isDurable, isMissing } = useRun();
  const live = useRun(isLive);
  const isAsking = useIsAsking(id);
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
          disabled={!live || isDurable}
          title={isDurable ? NO_PAUSE : 'Pause'}
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
      {isMissing && <span className="chip warn">no such run</span>}
      {isPaused && live && <span className="chip warn">paused</span>}
      {isPaused && live && debug?.problem && (
        <span className="chip warn" role="status" title={debug.problem}>
          condition failed
          <span className="visually-hidden">: {debug.problem}</span>
        </span>
      )}
      {isDurable && live && (
        <span className="chip" role="status" title={NO_PAUSE}>
          durable: it cannot be paused
        </span>
      )}
      {isAsking && live && (
        <Button
          icon="ask"
          look="quiet"
          title="A person has to answer first: go to the question"
          onClick={() => go({ screen: 'questions' }, 'push')}
        >
          waits for an answer
        </Button>
      )}
      {!isConnected && live && <span className="chip warn">reconnecting</span>}
      {summary && <span className="muted">{moment(summary.started)}</span>}
      {summary?.origin.parent && (
        <ForkedFrom run={summary.origin.parent.run} step={summary.origin.parent.from} />
      )}
      <CloseRun label="Close run" />
    </>
  );
}

function CloseRun({ label }: { label: string }) {
  const go = useLocation((location) => location.go);
  return (
    <Button
      icon="cross"
      look="quiet"
      title="Back to the graph"
      shortcut="Esc"
      onClick={() => go({ run: null, step: null }, 'push')}
    >
      {label}
    </Button>
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
  const tool = useRunName();
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
  const { view, grammar, report, language, ...editor } = useEditor();
  const { isDirty, isSaving, undo, redo, save } = editor;
  const node = useLocation((location) => location.node);
  const show = useDialogs((state) => state.show);
  const errors = report?.errors ?? 0;
  // A draft in the store may have errors as long as it is not in use.
  const isDraft = language === 'json' && view?.definition.enabled === false;
  const isRefused = errors > 0 && !isDraft;
  const place = language === 'json' ? 'to the store' : 'the file';
  return (
    <>
      <span className="rule" />
      <Button
        icon="plus"
        shortcut="n"
        title="Add a node"
        disabled={!hasNodes(view)}
        onClick={() => show({ name: 'add' })}
      >
        Add
      </Button>
      <Button
        icon="link"
        shortcut="c"
        title="Connect the selected node"
        disabled={node === null || !hasNodes(view)}
        onClick={() => show({ name: 'connect' })}
      >
        Connect
      </Button>
      <UndoButtons history={editor} undo={undo} redo={redo} />
      <Button
        icon="save"
        look={isDirty && !isRefused ? 'primary' : undefined}
        disabled={!isDirty || isSaving || isRefused}
        title={
          isRefused ? `Errors must be mended before the ${grammar.noun} is saved` : `Save ${place}`
        }
        shortcut="⌘S"
        onClick={() => void save()}
      >
        {isDirty ? 'Save' : 'Saved'}
      </Button>
      {errors > 0 && (
        <button
          type="button"
          className="chip bad"
          title="Show the errors in the text"
          onClick={showProblems}
        >
          {plural(errors, 'error')}
        </button>
      )}
    </>
  );
}

/** Goes to the first problem, in the list below the text. */
function showProblems() {
  usePreferences.getState().set({ showsText: true });
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('.problems .error button, .problems button')?.focus(),
  );
}

function Views({ hasText = true }: { hasText?: boolean }) {
  const { language } = useEditor();
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
      {hasText && (
        <Button
          icon="text"
          look="quiet"
          aria-pressed={showsText}
          title="The text beside the graph"
          shortcut="y"
          onClick={() => set({ showsText: !showsText })}
        >
          {language.toUpperCase()}
        </Button>
      )}
    </>
  );
}
