import type { RunEvent, RunSummary } from './types';

/** Payloads above this size are fetched when somebody looks at them. */
const SHORT_BYTES = 2048;

const EVENTS = [
  'started',
  'stepStarted',
  'stepFinished',
  'stepFailed',
  'retrying',
  'paused',
  'resumed',
  'outputChanged',
  'log',
  'finished',
];

/**
 * Follows a run: `receive` gets what arrived since the last frame, in order and each event once.
 * The browser reconnects by itself and says what it had; what comes twice anyway is left out.
 */
export function followRun(
  run: string,
  receive: (events: RunEvent[]) => void,
  connected: (how: 'open' | 'waiting' | 'refused') => void,
): () => void {
  const source = new EventSource(`/api/runs/${run}/events?short=${SHORT_BYTES}`);
  const batch = new Batch<RunEvent>(receive);
  let next = 0;
  const take = (message: MessageEvent<string>) => {
    const seq = Number(message.lastEventId);
    if (seq < next) return;
    next = seq + 1;
    const event = { ...(JSON.parse(message.data) as RunEvent), seq };
    batch.add(event);
    // The server closes the stream after the end; without this the browser would come back.
    if (event.type === 'finished') source.close();
  };
  for (const name of EVENTS) source.addEventListener(name, take);
  source.onopen = () => connected('open');
  source.onerror = () => {
    const isOver = source.readyState === EventSource.CLOSED;
    // A run of which something came and nothing is left has ended, if only with its process.
    connected(!isOver ? 'waiting' : next > 0 ? 'open' : 'refused');
  };
  return () => {
    source.close();
    batch.stop();
  };
}

/** Tells of runs that are new or different. */
export function followRuns(receive: (runs: RunSummary[]) => void): () => void {
  const source = new EventSource('/api/changes?new=true');
  const batch = new Batch<RunSummary>(receive);
  source.addEventListener('runs', (message: MessageEvent<string>) => {
    for (const run of JSON.parse(message.data) as RunSummary[]) batch.add(run);
  });
  return () => {
    source.close();
    batch.stop();
  };
}

/** Collects what arrives within a frame. A page in the background has no frames, but a clock. */
class Batch<T> {
  private items: T[] = [];
  private timer: ReturnType<typeof setTimeout> | null = null;
  private readonly receive: (items: T[]) => void;

  constructor(receive: (items: T[]) => void) {
    this.receive = receive;
  }

  add(item: T) {
    this.items.push(item);
    this.timer ??= setTimeout(() => this.flush(), 16);
  }

  stop() {
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private flush() {
    this.timer = null;
    const items = this.items;
    this.items = [];
    this.receive(items);
  }
}
