import type { ReactNode } from 'react';
import { useLocation } from '../state/location';
import { Button } from '../ui/Button';
import { Choice } from '../ui/Choice';
import { Empty } from '../ui/Empty';

/** A filter of a list: one of a few choices, or a text. */
export type Filter = { key: string; label: string } & (
  | { choices: { value: string; label: string }[] }
  | { placeholder: string }
);

/** The filters that every list of things that took their time has. */
export const SLOWER: Filter = {
  key: 'slowerThan',
  label: 'Duration',
  choices: [
    { value: '', label: 'any duration' },
    { value: '100', label: 'slower than 100 ms' },
    { value: '1000', label: 'slower than 1 s' },
    { value: '10000', label: 'slower than 10 s' },
  ],
};
export const SINCE: Filter = {
  key: 'since',
  label: 'Time',
  choices: [
    { value: '', label: 'any time' },
    { value: '3600000', label: 'the last hour' },
    { value: '86400000', label: 'the last day' },
    { value: '604800000', label: 'the last week' },
  ],
};

/** How long typing rests before it is searched for. */
export const SETTLE_MS = 150;

/** What the filters of time say at this moment. */
export function timesOf({ slowerThan, since }: Record<string, string | undefined>): {
  slowerThan?: number;
  since?: number;
} {
  return {
    slowerThan: slowerThan ? Number(slowerThan) : undefined,
    since: since ? Date.now() - Number(since) : undefined,
  };
}

interface Props {
  title: string;
  /** What one thing of the list is called, and several. */
  noun: [string, string];
  filters: Filter[];
  /** What is shown of those that fit; nothing while there are none. */
  children: ReactNode;
  /** Why the list cannot be shown. */
  failure: { title: string; message: string } | null;
  isLoading: boolean;
  /** What is said if there are none at all. */
  none: ReactNode;
  /** Shows older ones, if there are any. */
  onMore: (() => void) | null;
}

/** A list with filters, which are in the address. */
export function ListPage(props: Props) {
  const { title, noun, filters, children, failure, isLoading, none, onMore } = props;
  const { tool, filter, go } = useLocation();
  const [one, many] = noun;
  const isFiltered = tool !== null || filters.some(({ key }) => filter[key]);
  const clear = () => go({ tool: null, filter: {} });
  return (
    <div className="page">
      <div className="page-head" role="search">
        <h1>{title}</h1>
        {filters.map((known) => (
          <FilterControl key={known.key} filter={known} />
        ))}
        {isFiltered && (
          <Button look="quiet" onClick={clear}>
            Clear
          </Button>
        )}
      </div>
      <div className="page-body">
        {failure ? (
          <Empty title={failure.title}>
            <p>{failure.message}</p>
          </Empty>
        ) : (
          children
        )}
        {!failure && !isLoading && !children && isFiltered && (
          <Empty title={`No ${one} fits`}>
            <p>None has all of what the filters ask for.</p>
            <Button onClick={clear}>Clear the filters</Button>
          </Empty>
        )}
        {!failure && !isLoading && !children && !isFiltered && none}
        {onMore && (
          <p className="row more">
            <Button onClick={onMore}>Show older {many}</Button>
          </p>
        )}
      </div>
    </div>
  );
}

function FilterControl({ filter: { key, label, ...how } }: { filter: Filter }) {
  const { tool, filter, go } = useLocation();
  // What a list is about is a part of the path of the address.
  const value = (key === 'tool' ? tool : filter[key]) ?? '';
  const put = (now: string) =>
    go(key === 'tool' ? { tool: now || null } : { filter: { ...filter, [key]: now } });
  return 'choices' in how ? (
    <Choice label={label} value={value} choices={how.choices} onChange={put} />
  ) : (
    <input
      className="input narrow"
      type="search"
      aria-label={label}
      placeholder={how.placeholder}
      value={value}
      onChange={(event) => put(event.target.value)}
    />
  );
}
