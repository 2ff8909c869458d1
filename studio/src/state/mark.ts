import { nodeAt } from '../model/definition';
import { markAt, momentOf, type NodeState } from '../model/run';
import { useDocument } from './document';
import { useLocation } from './location';
import { useRun } from './run';

/** What a card says about itself: the first of these that is true. */
export type CardState = 'problem' | NodeState | 'none';

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
  done: 'done',
  stopped: 'not finished',
  idle: 'not run',
  none: '',
};

export const stateWord = (state: CardState): string => WORDS[state];

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
  const problem = useDocument((state) => problems(state).get(node) ?? null);
  if (text === '') {
    return { ...NONE, state: problem ? 'problem' : 'none', message: problem };
  }
  const [state, count, total, ms, at, message] = text.split('\u0000');
  return {
    state: problem && state === 'idle' ? 'problem' : (state as NodeState),
    count: Number(count),
    total: Number(total),
    ms: ms ? Number(ms) : null,
    step: at ? Number(at) : null,
    message: message || problem,
  };
}

const NONE: CardMark = { state: 'none', count: 0, total: 0, ms: null, step: null, message: null };

type DocumentState = ReturnType<typeof useDocument.getState>;
let known: { document: unknown; tool: unknown; byNode: Map<string, string> } | null = null;

/** The first error of each node; worked out once for all cards. */
function problems({ document, tool }: DocumentState): Map<string, string> {
  if (known?.document === document && known?.tool === tool) return known.byNode;
  const byNode = new Map<string, string>();
  for (const problem of document?.report.diagnostics ?? []) {
    if (problem.severity !== 'error' || !tool || !problem.pointer?.startsWith(`${tool.pointer}/`))
      continue;
    const node = nodeAt(tool.definition, problem.pointer.slice(tool.pointer.length));
    if (node && !byNode.has(node)) byNode.set(node, problem.message);
  }
  known = { document, tool, byNode };
  return byNode;
}
