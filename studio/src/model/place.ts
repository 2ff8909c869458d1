const SCREENS = [
  'graph',
  'workflows',
  'modules',
  'procedures',
  'runs',
  'requests',
  'questions',
  'upstreams',
] as const;

export type Screen = (typeof SCREENS)[number];

export type Tab = 'node' | 'context' | 'diff' | 'expression';

/** Where somebody is; the address says the same, so that a link leads there. */
export interface Place {
  screen: Screen;
  /** The tool, workflow or procedure that the screen is about. */
  tool: string | null;
  run: string | null;
  /** The step that is looked at; none follows the run. */
  step: number | null;
  node: string | null;
  tab: Tab;
  /** The filters of a list. */
  filter: Record<string, string>;
}

const TABS: Tab[] = ['node', 'context', 'diff', 'expression'];
const FILTERS = ['status', 'text', 'slowerThan', 'since', 'method', 'server', 'token', 'find'];

/** `#/graph/TOOL/RUN?step=5&node=entry&tab=context` */
export function toHash(place: Place): string {
  const path = [place.screen, place.tool, place.tool && place.run].filter((part) => part !== null);
  const query = new URLSearchParams();
  if (place.step !== null) query.set('step', String(place.step));
  if (place.node !== null) query.set('node', place.node);
  if (place.tab !== 'node') query.set('tab', place.tab);
  for (const [key, value] of Object.entries(place.filter)) if (value) query.set(key, value);
  const text = query.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}

export function fromHash(hash: string): Place {
  const [path = '', text = ''] = hash.replace(/^#\/?/, '').split('?');
  const [screen, tool, run] = path.split('/').map(decode);
  const query = new URLSearchParams(text);
  const step = query.get('step');
  const tab = TABS.find((known) => known === query.get('tab'));
  return {
    screen: SCREENS.find((known) => known === screen) ?? 'graph',
    tool: tool || null,
    run: (tool && run) || null,
    step: step !== null && /^\d+$/.test(step) ? Number(step) : null,
    node: query.get('node'),
    tab: tab ?? 'node',
    filter: Object.fromEntries(
      FILTERS.flatMap((key) => (query.get(key) ? [[key, query.get(key) ?? '']] : [])),
    ),
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
