import { create } from 'zustand';
import { fromHash, type Place, toHash } from '../model/place';

interface LocationState extends Place {
  /** Goes somewhere; what is not said stays. */
  go: (to: Partial<Place>, how?: 'push' | 'replace') => void;
}

export const useLocation = create<LocationState>((set, get) => ({
  ...fromHash(window.location.hash),
  go: (to, how = 'replace') => {
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
