import type { NodeKind } from '../api/types';

/** Every icon as a path on a grid of 16. */
const PATHS = {
  entry: 'M2.500 8h8M7.500 5l3 3-3 3M10 2.500h2.500a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H10',
  exit: 'M6 8h7.500M10.500 5l3 3-3 3M6 2.500H3.500a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1H6',
  transform:
    'M6.500 2.500c-2.500 0-1 4.500-4 5.500 3 1 1.500 5.500 4 5.500M9.500 2.500c2.500 0 1 4.500 4 5.500-3 1-1.500 5.500-4 5.500',
  switch:
    'M8 2.500v3.500M8 6c0 3-4.500 3-4.500 7M8 6c0 3 4.500 3 4.500 7M1.500 11l2 2 2-2M10.500 11l2 2 2-2',
  mcp: 'M5.500 2v3M10.500 2v3M4 5h8v3a4 4 0 0 1-8 0zM8 12v2.500',
  foreach: 'M13 8a5 5 0 1 1-1.500-3.500M13 2v3h-3',
  parallel: 'M4 2.500v11M8 2.500v11M12 2.500v11',
  graph: 'M3 3h4v4H3zM9 9h4v4H9zM7 5h2.500a1.500 1.500 0 0 1 1.500 1.500V9',
  branch: 'M5 3v10M5 8c4 0 6-1 6-5',
  invalid: 'M8 2.500l6 11H2zM8 6.500v3M8 11.500v.2',
  play: 'M5 3.200v9.600l7.500-4.800z',
  step: 'M3 3.500v9l6-4.500zM12 3.500v9',
  over: 'M2.500 9.500a5.500 5.500 0 0 1 10.500-1M13.500 5v3.500H10M8 12.500v.2',
  pause: 'M5.500 3.500v9M10.500 3.500v9',
  stop: 'M4 4h8v8H4z',
  dot: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  check: 'M3 8.500l3.500 3.500L13 4.500',
  cross: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  search: 'M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9zM10.500 10.500l3 3',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1.500v1M8 13.500v1M1.500 8h1M13.500 8h1M3.500 3.500l.7.7M11.800 11.800l.7.7M12.500 3.500l-.7.7M4.200 11.800l-.7.7',
  moon: 'M13 9.500A5.500 5.500 0 1 1 6.500 3 4.500 4.500 0 0 0 13 9.500z',
  half: 'M8 2.500a5.500 5.500 0 1 0 0 11zM8 2.500a5.500 5.500 0 0 1 0 11',
  undo: 'M5 3L2.500 5.500 5 8M2.500 5.500h7a4 4 0 0 1 0 8H6',
  redo: 'M11 3l2.500 2.500L11 8M13.500 5.500h-7a4 4 0 0 0 0 8H10',
  save: 'M3 3h8l2 2v8H3zM5.500 3v3.500h4V3M5.500 13V9.500h5V13',
  link: 'M6.500 9.500l3-3M5 8L3.500 9.500a2.500 2.500 0 0 0 3.500 3.500L8.500 11.500M7.500 4.500L9 3a2.500 2.500 0 0 1 3.500 3.500L11 8',
  trash: 'M3 4.500h10M6 4.500V3h4v1.500M4.500 4.500l.5 8.500h6l.5-8.500',
  left: 'M9.500 4L5.500 8l4 4',
  right: 'M6.500 4l4 4-4 4',
  clock: 'M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11zM8 5v3l2 1.500',
  fork: 'M4.500 3v10M4.500 9c0-2.500 7-1 7-4.500M11.500 4.500V3',
  text: 'M3 4h10M3 8h10M3 12h6',
  list: 'M5.500 4H13M5.500 8H13M5.500 12H13M2.800 4v.1M2.800 8v.1M2.800 12v.1',
  canvas:
    'M5.500 2.500h5v3h-5zM2.500 10.500h4v3h-4zM9.500 10.500h4v3h-4zM8 5.500v2.500M4.500 10.500V8h7v2.500',
  rows: 'M2.500 4h5M6 8h6M4 12h4',
  help: 'M6 6a2 2 0 1 1 2.800 1.800c-.6.300-.8.700-.8 1.400M8 11.800v.1',
  warning: 'M8 2.500l6 11H2zM8 6.500v3M8 11.500v.2',
} as const;

export type IconName = keyof typeof PATHS;

export const kindIcon = (kind: NodeKind): IconName => kind;

/** A picture beside words; it says nothing on its own. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
