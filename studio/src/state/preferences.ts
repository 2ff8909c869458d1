import { create } from 'zustand';
import { load, store } from './storage';

export type Theme = 'system' | 'light' | 'dark';

interface Preferences {
  theme: Theme;
  /** How the graph is shown. */
  view: 'canvas' | 'list';
  showsText: boolean;
  showsRows: boolean;
  hidesIdle: boolean;
  set: (changes: Partial<Omit<Preferences, 'set'>>) => void;
}

type Stored = Omit<Preferences, 'set'>;

const KEY = 'preferences';
const FIRST: Stored = {
  theme: 'system',
  view: 'canvas',
  showsText: false,
  showsRows: false,
  hidesIdle: true,
};

export const usePreferences = create<Preferences>((set, get) => ({
  ...FIRST,
  ...load<Partial<Stored>>(KEY, {}),
  set: (changes) => {
    set(changes);
    const { set: _, ...kept } = get();
    store(KEY, kept);
  },
}));

const prefersDark = window.matchMedia('(prefers-color-scheme: dark)');

export function isDark(theme: Theme): boolean {
  return theme === 'dark' || (theme === 'system' && prefersDark.matches);
}

/** Puts the theme where the styles look for it, now and whenever it changes. */
export function applyTheme() {
  const apply = () => {
    const { theme } = usePreferences.getState();
    document.documentElement.dataset.theme = isDark(theme) ? 'dark' : 'light';
  };
  apply();
  usePreferences.subscribe(apply);
  prefersDark.addEventListener('change', apply);
}
