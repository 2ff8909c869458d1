import { create } from 'zustand';
import { api } from '../api/client';
import type { Walk } from '../api/types';
import { momentOf } from '../model/run';
import { useLocation } from './location';
import { useRun } from './run';

interface WalkState {
  run: string | null;
  until: number;
  walk: Walk | null;
}

/** Where the walk was at the moment that is looked at; asked for once for everybody. */
const useWalkState = create<WalkState>(() => ({ run: null, until: -1, walk: null }));

/** Asks for the walk whenever the moment is another one. */
export function followWalk(): () => void {
  const look = () => {
    const { id, model } = useRun.getState();
    const { screen, step } = useLocation.getState();
    if (screen !== 'procedures' || id === null) {
      if (useWalkState.getState().run !== null)
        useWalkState.setState({ run: null, until: -1, walk: null });
      return;
    }
    const until = step === null ? model.length - 1 : momentOf(model, step);
    const known = useWalkState.getState();
    if (known.run === id && known.until === until) return;
    useWalkState.setState({ run: id, until, walk: known.run === id ? known.walk : null });
    void api.walk(id, Math.max(until, 0)).then(
      (walk) => {
        const now = useWalkState.getState();
        if (now.run === id && now.until === until) useWalkState.setState({ walk });
      },
      () => null,
    );
  };
  const ends = [useRun.subscribe(look), useLocation.subscribe(look)];
  look();
  return () => {
    for (const end of ends) end();
  };
}

export const useWalk = (): Walk | null => useWalkState((state) => state.walk);
