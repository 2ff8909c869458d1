import type { Step } from './run';

/** What each word of a query may be about. */
const ABOUT: Record<string, (step: Step, wanted: string) => boolean> = {
  node: (step, wanted) => step.node.toLowerCase().includes(wanted),
  kind: (step, wanted) => step.kind === wanted,
  status: (step, wanted) => stateOf(step).startsWith(wanted),
  code: (step, wanted) => (step.error?.code ?? '').toLowerCase().startsWith(wanted),
  slower: (step, wanted) => {
    const took = step.endMs === null ? Number.POSITIVE_INFINITY : step.endMs - step.beganMs;
    return took > Number(wanted);
  },
};

/** The words that can stand before a colon. */
export const WORDS = Object.keys(ABOUT);

function stateOf(step: Step): 'done' | 'failed' | 'running' {
  if (step.endSeq === null) return 'running';
  return step.error ? 'failed' : 'done';
}

/** The expression that a query is: one that begins with `=` is JSONata, and no words. */
export function expressionIn(query: string): string | null {
  const text = query.trim();
  return text.startsWith('=') ? text.slice(1).trim() : null;
}

/**
 * The steps that fit all words of a query: `node:count status:failed lamp` are the failed steps of
 * a node whose name has `count` in it, and that have the text `lamp`.
 */
export function find(steps: Step[], query: string): Set<number> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return new Set();
  const tests = words.map((word) => {
    const [key = '', ...rest] = word.split(':');
    const about = ABOUT[key];
    const wanted = rest.join(':');
    if (about && wanted !== '') return (step: Step) => about(step, wanted);
    return (step: Step) => textOf(step).some((part) => part.toLowerCase().includes(word));
  });
  const found = steps.filter((step) => step && tests.every((test) => test(step)));
  return new Set(found.map((step) => step.step));
}

/** Where a word without a colon is looked for. */
function textOf(step: Step): string[] {
  const { node, error, output, outputShort } = step;
  const said = output === undefined ? (outputShort?.preview ?? '') : JSON.stringify(output);
  return [node, error?.code ?? '', error?.message ?? '', said];
}
