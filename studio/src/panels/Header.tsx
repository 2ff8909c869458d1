import { useEffect } from 'react';
import { named, plural } from '../model/format';
import { keysHere } from '../model/keys';
import type { Screen } from '../model/place';
import { useDialogs } from '../state/dialogs';
import { useDocument } from '../state/document';
import { useLocation } from '../state/location';
import { type Theme, usePreferences } from '../state/preferences';
import { useQuestions } from '../state/questions';
import { Button } from '../ui/Button';
import { Icon, type IconName } from '../ui/Icon';

const SCREENS: { id: Screen; label: string }[] = [
  { id: 'graph', label: 'Tools' },
  { id: 'workflows', label: 'Workflows' },
  { id: 'procedures', label: 'Procedures' },
  { id: 'runs', label: 'Runs' },
  { id: 'requests', label: 'Requests' },
  { id: 'questions', label: 'Questions' },
  { id: 'upstreams', label: 'Upstreams' },
];

/** The screens that are about one thing at a time. */
const HAS_SUBJECT = new Set<Screen>(['graph', 'workflows', 'modules', 'procedures']);

/** The screens that belong to another. */
const SHOWN_AS: Partial<Record<Screen, Screen>> = { modules: 'workflows' };

const BEGINNING = { tool: null, run: null, step: null, node: null };

const THEMES: Record<Theme, { next: Theme; icon: IconName; label: string }> = {
  system: { next: 'light', icon: 'half', label: 'Theme of the system' },
  light: { next: 'dark', icon: 'sun', label: 'Light theme' },
  dark: { next: 'system', icon: 'moon', label: 'Dark theme' },
};

export function Header() {
  const { screen, tool, go } = useLocation();
  const server = useDocument((state) => state.document?.server);
  const file = useDocument((state) => state.document?.file);
  const asked = useQuestions((state) => state.questions?.length ?? 0);
  const { theme, set } = usePreferences();
  const show = useDialogs((state) => state.show);
  const { next, icon, label } = THEMES[theme];
  const shown = SHOWN_AS[screen] ?? screen;
  const subject = HAS_SUBJECT.has(screen) ? tool : null;
  const about = subject ?? SCREENS.find(({ id }) => id === shown)?.label ?? '';
  useEffect(() => {
    document.title = `${named(about)} – mcpgraph studio`;
  }, [about]);
  return (
    <header className="head">
      <span className="brand">
        <img src="/icon.svg" alt="" />
        mcpgraph
      </span>
      <div className="crumbs" title={file}>
        {server && <span className="truncate">{server.title}</span>}
        {(screen === 'graph' || (HAS_SUBJECT.has(screen) && tool !== null)) && (
          <>
            <Icon name="right" />
            <h1 className="truncate">{tool === null ? 'no tool' : named(tool)}</h1>
          </>
        )}
      </div>
      <span className="spread" />
      <nav className="segmented" aria-label="Screens">
        {SCREENS.map(({ id, label }) => (
          <button
            key={id}
            type="button"
            aria-current={id === shown ? 'page' : undefined}
            // The screen that is open goes back to its list.
            onClick={() => go(id === shown ? { ...BEGINNING, screen: id } : { screen: id }, 'push')}
          >
            {label}
            {id === 'questions' && asked > 0 && (
              <span className="count" title={`${plural(asked, 'answer')} waited for`}>
                {asked}
              </span>
            )}
          </button>
        ))}
      </nav>
      <span className="spread" />
      <Button icon="search" onClick={() => show({ name: 'search' })}>
        <span className="word">Search</span> <kbd>{keysHere('⌘K')}</kbd>
      </Button>
      <Button
        icon="help"
        look="quiet"
        title="Keyboard shortcuts"
        shortcut="?"
        onClick={() => show({ name: 'shortcuts' })}
      />
      <Button icon={icon} look="quiet" title={label} onClick={() => set({ theme: next })} />
    </header>
  );
}
