import type { GraphDefinition, Subject } from '../api/types';

/** The name that a node has by now: it may have been renamed since somebody named it. */
export type Names = (node: string) => string;

/**
 * What somebody wants to be different, said of whatever the graph is when its turn has come. What
 * was seen when it was said may be older: other changes were on their way to the server.
 */
export type Change = (definition: GraphDefinition, now: Names) => GraphDefinition;

/** A change that the server has not answered yet. */
export interface Waiting {
  readonly subject: Subject;
  readonly change: Change;
  readonly now: Names;
}

interface Entry extends Waiting {
  subject: Subject;
  renamed: { from: string; to: string }[];
}

export const isSame = (a: Subject | null, b: Subject | null): boolean =>
  a !== null && b !== null && keyOf(a) === keyOf(b);

const keyOf = (subject: Subject): string =>
  'tool' in subject ? `tool ${subject.tool}` : `workflow ${subject.workflow}`;

/** The changes that are on their way, in the order in which they were made. */
export class Changes {
  private entries: Entry[] = [];

  add(subject: Subject, change: Change): Waiting {
    const renamed: Entry['renamed'] = [];
    const now: Names = (node) =>
      renamed.reduce((name, { from, to }) => (name === from ? to : name), node);
    const entry: Entry = { subject, change, now, renamed };
    this.entries.push(entry);
    return entry;
  }

  /** It is made, or was refused. */
  remove(waiting: Waiting) {
    this.entries = this.entries.filter((entry) => entry !== waiting);
  }

  clear() {
    this.entries = [];
  }

  /** A graph as it will be when everything on its way is made. */
  shown(subject: Subject, definition: GraphDefinition): GraphDefinition {
    return this.of(subject).reduce((changed, { change, now }) => change(changed, now), definition);
  }

  /** What waits was said of a node by its name before. */
  renameNode(subject: Subject, from: string, to: string) {
    for (const { renamed } of this.of(subject)) renamed.push({ from, to });
  }

  /** What waits was said of a graph by its name before. */
  renameSubject(from: Subject, to: Subject) {
    for (const entry of this.of(from)) entry.subject = to;
  }

  private of(subject: Subject): Entry[] {
    return this.entries.filter((entry) => isSame(entry.subject, subject));
  }
}
