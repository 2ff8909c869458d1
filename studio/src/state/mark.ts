import { useContext } from 'react';
import { markAt, momentOf, type NodeState } from '../model/run';
import { DrawingContext } from './drawing';
import { useLocation } from './location';
import { useIsAsking } from './questions';
import { useRun } from './run';

/** What a card says about itself: the first of these that is true. */
export type CardState = 'problem' | 'asking' | NodeState | 'edited' | 'none';

export interface CardMark {
  state: CardState;
  count: number;
  /** All executions, also those after the moment that is looked at. */
  total: number;
  ms: number | null;
  step: number | null;
  message: string | null;
}

const WORDS: Record<CardState, string> = {
  problem: 'has errors',
  failed: 'failed',
  paused: 'paused here',
  running: 'running',
  asking: 'waits for an answer',
  done: 'done',
  changed: 'output set by hand',
  stopped: 'not finished',
  edited: 'edited since',
  idle: 'not run',
  none: '',
};

/** Of a walk other words are true. */
const WALKED: Partial<Record<CardState, string>> = {
  running: 'here',
  done: 'walked',
  stopped: 'ended here',
  idle: 'not reached',
};

export function useStateWord(state: CardState): string {
  const { isWalk } = useContext(DrawingContext);
  return (isWalk && WALKED[state]) || WORDS[state];
}

/** The mark of a node. Cards ask one by one, so that only those that changed are drawn again. */
export function useMark(node: string): CardMark {
  const step = useLocation((location) => location.step);
  const text = useRun((state) => {
    if (state.id === null) return '';
    const moment = step === null ? state.model.length - 1 : momentOf(state.model, step);
    const seen = markAt(state.model, node, moment);
    const waits = state.debug?.state === 'paused' && state.debug.next?.node === node;
    const isOver =
      state.summary?.status === 'interrupted' && seen.state === 'running' && step === null;
    const mark = isOver
      ? { ...seen, state: 'stopped' }
      : waits && step === null
        ? { ...seen, state: 'paused' }
        : seen;
    const total = state.model.byNode.get(node)?.length ?? 0;
    const error = mark.step === null ? undefined : state.model.steps[mark.step]?.error;
    const message =
      mark.state === 'failed' ? `${error?.code ?? ''} ${error?.message ?? ''}`.trim() : '';
    return [mark.state, mark.count, total, mark.ms ?? '', mark.step ?? '', message].join('\u0000');
  });
  const { problems, edited } = useContext(DrawingContext);
  const isAsking = useIsAsking(
    useRun((state) => state.id),
    node,
  );
  const problem = problems.get(node) ?? null;
  if (text === '') {
    return { ...NONE, state: problem ? 'problem' : 'none', message: problem };
  }
  const [state, count, total, ms, at, message] = text.split('\u0000');
  return {
    state:
      isAsking && state === 'running'
        ? 'asking'
        : ranked(state as NodeState, problem !== null, edited.has(node)),
    count: Number(count),
    total: Number(total),
    ms: ms ? Number(ms) : null,
    step: at ? Number(at) : null,
    message: message || problem,
  };
}

/** The one thing that a card says, of all that are true. */
function ranked(state: NodeState, hasProblem: boolean, isEdited: boolean): CardState {
  if (hasProblem && state === 'idle') return 'problem';
  return isEdited && state === 'done' ? 'edited' : state;
}

const NONE: CardMark = { state: 'none', count: 0, total: 0, ms: null, step: null, message: null };
