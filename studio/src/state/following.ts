import type { Subject } from '../api/types';
import { breakpointsOf, useBreakpoints } from './breakpoints';
import { useForms } from './forms';
import { useLocation } from './location';
import { runName } from './subject';

/** How many changes are remembered; a text has about as many to be taken back. */
const MAX_STEPS = 200;

/** The name under which a graph is run, and its breakpoints are kept. */
export const runsOf = (subject: Subject): string =>
  ('tool' in subject ? runName('graph', subject.tool) : runName('workflows', subject.workflow)) ??
  '';

/** Something that follows a change of a text, and follows it back. */
interface Follower {
  forth: () => void;
  back: () => void;
}

/** What belongs to nodes follows them, also when a change is taken back and brought back. */
export class Following {
  private steps: (Follower & { before: string; after: string })[] = [];

  /** A text became another one. */
  changed(before: string, after: string, follower: Follower) {
    follower.forth();
    if (before !== after)
      this.steps = [...this.steps, { before, after, ...follower }].slice(-MAX_STEPS);
  }

  /** One of the texts before or after was gone to. */
  travelled(from: string, to: string) {
    const back = this.steps.findLast((step) => step.before === to && step.after === from);
    const forth = this.steps.findLast((step) => step.before === from && step.after === to);
    if (back) back.back();
    else forth?.forth();
  }

  forget() {
    this.steps = [];
  }
}

/** The breakpoint, the selection and the form of a node that has another name. */
export function nodeRenamed(subject: Subject, from: string, to: string): Follower {
  const carry = (old: string, now: string) => {
    const runs = runsOf(subject);
    useBreakpoints.getState().rename(runs, old, now);
    carryForm(old, now);
    const { screen, tool, node, go } = useLocation.getState();
    if (node === old && runName(screen, tool) === runs) go({ node: now });
  };
  return { forth: () => carry(from, to), back: () => carry(to, from) };
}

/** The breakpoints of nodes that are gone. */
export function nodesRemoved(subject: Subject, nodes: string[]): Follower {
  const runs = runsOf(subject);
  const points = breakpointsOf(runs)(useBreakpoints.getState());
  const gone = points.filter(({ node }) => nodes.includes(node));
  const { put, remove } = useBreakpoints.getState();
  return {
    forth: () => {
      for (const { node } of gone) remove(runs, node);
    },
    back: () => {
      for (const point of gone) put(runs, point);
    },
  };
}

/** The breakpoints and the address of a graph that has another name. */
export function graphRenamed(from: Subject, to: Subject): Follower {
  const carry = (old: Subject, now: Subject) => {
    useBreakpoints.getState().renameTool(runsOf(old), runsOf(now));
    useForms.getState().rename(runsOf(old), runsOf(now));
    const { screen, tool, go } = useLocation.getState();
    if (runName(screen, tool) === runsOf(old)) go({ tool: nameOf(now) });
  };
  return { forth: () => carry(from, to), back: () => carry(to, from) };
}

export const nameOf = (subject: Subject): string =>
  'tool' in subject ? subject.tool : subject.workflow;

/** The forms of nodes that were renamed, which are still the same forms. */
const forms = new Map<string, string>();
let renamings = 0;

/** What the form of a node is known by: it stays while the node is given another name. */
export const formOf = (node: string): string => forms.get(node) ?? node;

function carryForm(from: string, to: string) {
  renamings += 1;
  forms.set(to, formOf(from));
  // Whatever takes the name that is free now is another node.
  forms.set(from, `${from} ${renamings}`);
}
