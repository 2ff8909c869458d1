import { useEffect, useState } from 'react';
import { messageOf } from '../api/client';

export interface Fetched<T> {
  value: T | null;
  error: string | null;
  isLoading: boolean;
}

/** What the server answers to a question, asked again when `key` changes; no key asks nothing. */
export function useFetched<T>(key: string | null, ask: () => Promise<T>): Fetched<T> {
  const [state, setState] = useState<Fetched<T> & { key: string | null }>({
    key: null,
    value: null,
    error: null,
    isLoading: false,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what is asked
  useEffect(() => {
    if (key === null) return;
    let isGone = false;
    setState((old) => ({ ...old, isLoading: true }));
    ask().then(
      (value) => !isGone && setState({ key, value, error: null, isLoading: false }),
      (error: unknown) =>
        !isGone &&
        setState({
          key,
          value: null,
          error: messageOf(error),
          isLoading: false,
        }),
    );
    return () => {
      isGone = true;
    };
  }, [key]);
  // An answer to an earlier question says nothing about this one.
  return state.key === key ? state : { value: null, error: null, isLoading: key !== null };
}
