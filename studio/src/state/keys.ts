import { useEffect } from 'react';
import { useBreakpoints } from './breakpoints';
import { useDialogs } from './dialogs';
import { type Editor, hasNodes } from './editor';
import { useLocation } from './location';
import { usePreferences } from './preferences';
import { isLive, lastStep, seek, useRun } from './run';
import { runName } from './subject';

/** Everything the keyboard does anywhere, for the sheet that shows it; as Apple names the keys. */
export const SHORTCUTS = [
  { keys: '⌘K or /', about: 'search' },
  { keys: 'r', about: 'run the tool' },
  { keys: 's', about: 'step' },
  { keys: 'o', about: 'step over' },
  { keys: 'p', about: 'pause, resume' },
  { keys: 'b', about: 'breakpoint at the node' },
  { keys: '[ ]', about: 'one step back, forward' },
  { keys: 'Home End', about: 'first, last step' },
  { keys: 'f', about: 'the whole graph in view' },
  { keys: 'j k', about: 'down, up in a list' },
  { keys: 'n', about: 'add a node' },
  { keys: 'c', about: 'connect the node' },
  { keys: '← ↑ → ↓', about: 'move the node' },
  { keys: 'Delete', about: 'remove node or edge' },
  { keys: '⌘Z ⇧⌘Z', about: 'undo, redo' },
  { keys: '⌘S', about: 'save' },
  { keys: 'y', about: 'YAML beside the graph' },
  { keys: 'l', about: 'canvas or list' },
  { keys: 'Esc', about: 'back to live, close the run' },
  { keys: '?', about: 'this sheet' },
];

/** Whether keys go into a text and mean letters. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Whether a key means a shortcut of its own. */
export function isPlain(event: KeyboardEvent): boolean {
  const isModified = event.metaKey || event.ctrlKey || event.altKey;
  // Not every dialog is one that can be asked for by name.
  const isCovered = useDialogs.getState().open || document.querySelector('dialog[open]');
  return !isModified && !isTyping(event) && !isCovered;
}

/** Whether a key is meant for the graph: no button or other control has the focus. */
export function isForGraph(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  const isThere =
    target === document.body || (target instanceof Element && target.closest('.canvas'));
  return isPlain(event) && Boolean(isThere);
}

interface Commands {
  /** Runs what is shown, where that can be run. */
  run?: (paused: boolean) => void;
  /** What is edited; nothing where nothing can be. */
  editor: (Pick<Editor, 'undo' | 'redo' | 'save'> & Partial<Pick<Editor, 'view'>>) | null;
}

/** Listens for the shortcuts. */
export function useKeys({ run, editor }: Commands) {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented) return;
      const isCommand = event.metaKey || event.ctrlKey;
      const handled = isCommand
        ? command(event, editor)
        : isPlain(event) && plain(event.key, { run, editor });
      if (handled) event.preventDefault();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [run, editor]);
}

function command(event: KeyboardEvent, editor: Commands['editor']): boolean {
  const isEditing = editor !== null && useRun.getState().id === null;
  switch (event.key.toLowerCase()) {
    case 'k':
      useDialogs.getState().show({ name: 'search' });
      return true;
    case 's':
      if (isEditing) void editor.save();
      return true;
    case 'z':
      if (!isEditing || event.composedPath()[0] instanceof HTMLInputElement) return false;
      if (event.shiftKey) editor.redo();
      else editor.undo();
      return true;
    case 'y':
      if (isEditing) editor.redo();
      return isEditing;
    default:
      return false;
  }
}

function plain(key: string, commands: Commands): boolean {
  if (key === '/' || key === '?') {
    useDialogs.getState().show({ name: key === '/' ? 'search' : 'shortcuts' });
    return true;
  }
  if (key === 'j' || key === 'k') return goInList(key === 'j' ? 1 : -1);
  return useRun.getState().id === null ? editing(key, commands) : running(key) || shared(key);
}

/** Goes to the next row of the list in sight that leads somewhere. */
function goInList(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('main .table tbody tr')];
  const links = rows.flatMap((row) => row.querySelector<HTMLElement>('.link') ?? []);
  const at = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
  const next = at < 0 ? links[by > 0 ? 0 : links.length - 1] : links[at + by];
  next?.focus();
  return links.length > 0;
}

function editing(key: string, { run, editor }: Commands): boolean {
  const dialogs = useDialogs.getState();
  const isOpen = hasNodes(editor?.view ?? null);
  switch (key) {
    case 'r':
    case 's':
      run?.(key === 's');
      return run !== undefined;
    case 'n':
      if (isOpen) dialogs.show({ name: 'add' });
      return isOpen;
    case 'c':
      if (isOpen && useLocation.getState().node !== null) dialogs.show({ name: 'connect' });
      return isOpen;
    default:
      return shared(key);
  }
}

function shared(key: string): boolean {
  const { screen, tool, node } = useLocation.getState();
  const runs = runName(screen, tool);
  const preferences = usePreferences.getState();
  switch (key) {
    case 'b':
      if (runs && node && screen !== 'procedures') useBreakpoints.getState().toggle(runs, node);
      return true;
    case 'y':
      preferences.set({ showsText: !preferences.showsText });
      return true;
    case 'l':
      preferences.set({ view: preferences.view === 'canvas' ? 'list' : 'canvas' });
      return true;
    default:
      return false;
  }
}

function running(key: string): boolean {
  const state = useRun.getState();
  const place = useLocation.getState();
  const last = lastStep(state);
  const cursor = place.step ?? last;
  const isPaused = state.model.paused !== null;
  switch (key) {
    case '[':
      seek(cursor - 1);
      return true;
    case ']':
      seek(cursor + 1);
      return true;
    case 'Home':
      seek(0);
      return true;
    case 'End':
      seek(last);
      return true;
    case 'p':
      if (isLive(state)) void state.move(isPaused ? 'resume' : 'pause');
      return true;
    case 's':
    case 'o':
      if (isPaused) void state.move(key === 's' ? 'step' : 'stepOver');
      return true;
    case 'Escape':
      if (place.step !== null && isLive(state)) place.go({ step: null });
      else place.go({ run: null, step: null }, 'push');
      return true;
    default:
      return false;
  }
}
