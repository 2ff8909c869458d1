import { create } from 'zustand';
import { fromHash, type Place, type Screen, toHash } from '../model/place';

interface LocationState extends Place {
  /** Goes somewhere; what is not said stays. */
  go: (to: Partial<Place>, how?: 'push' | 'replace') => void;
}

/** What each screen showed when it was left. */
const left = new Map<Screen, Pick<Place, 'tool' | 'filter'>>();
const NOWHERE = { tool: null, filter: {} };

export const useLocation = create<LocationState>((set, get) => ({
  ...fromHash(window.location.hash),
  go: (to, how = 'replace') => {
    const here = get();
    const leaves = to.screen !== undefined && to.screen !== here.screen;
    if (leaves) {
      left.set(here.screen, here);
      // Another screen is about something else; it shows what it showed before.
      const { tool, filter } = left.get(to.screen ?? here.screen) ?? NOWHERE;
      set({ tool, filter, run: null, step: null, node: null });
    }
    set(to);
    const hash = toHash(get());
    if (hash === window.location.hash) return;
    if (how === 'push') window.history.pushState(null, '', hash);
    else window.history.replaceState(null, '', hash);
  },
}));

for (const event of ['popstate', 'hashchange']) {
  window.addEventListener(event, () => useLocation.setState(fromHash(window.location.hash)));
}
