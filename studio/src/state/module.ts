import { create } from 'zustand';
import { api, messageOf } from '../api/client';
import type { HookModule, Report } from '../api/types';
import { beginning } from '../model/history';
import { handOver } from './handover';
import { useLocation } from './location';
import { useModules } from './modules';
import { notify } from './notices';
import { type Textual, typing } from './textual';

/** The text of a module is its script. */
interface ModuleState extends Textual {
  id: string | null;
  name: string;
  /** What is in the store; none of a module that is not there yet. */
  saved: Pick<HookModule, 'name' | 'script'> | null;
  /** What is wrong with the script. */
  report: Report | null;
  /** Why it was not removed. */
  refusal: string | null;
  /** Shows a module of the store. */
  open: (id: string) => Promise<void>;
  /** Begins a module that is not in the store. */
  begin: () => void;
  rename: (name: string) => void;
  remove: () => Promise<void>;
}

const FIRST_SCRIPT = `// The body of an async function: it sees context, and what it returns counts.
return {};
`;

const fetched = async (id: string): Promise<HookModule | undefined> =>
  (await api.hookModules()).hookModules.find((module) => module.id === id);

/** The module of the store that is edited. */
export const useModule = create<ModuleState>((set, get) => {
  const check = async () => {
    const report = await ask((text) => api.checkScript(text));
    if (report) set({ report });
  };

  const { type, undo, redo, replace, ask, inOrder, forget } = typing({
    read: get,
    update: set,
    check,
  });

  const show = (id: string, name: string, script: string, saved: ModuleState['saved']) => {
    forget();
    const fresh = { report: null, refusal: null, conflict: null, failure: null };
    set({ id, name, saved, ...fresh, ...beginning(script) });
    void check();
  };

  return {
    id: null,
    name: '',
    saved: null,
    report: null,
    refusal: null,
    ...beginning(''),
    conflict: null,
    failure: null,
    isSaving: false,
    underway: 0,

    open: async (id) => {
      if (get().id === id) return;
      // What was asked of the one before is about that one.
      await inOrder(async () => {
        forget();
        set({ id, name: '', failure: null, report: null, saved: null, ...beginning('') });
      });
      try {
        const kept = await fetched(id);
        if (get().id !== id) return;
        if (kept) show(id, kept.name, kept.script, kept);
        else set({ failure: 'It may have been removed since.' });
      } catch (error) {
        if (get().id === id) set({ failure: messageOf(error) });
      }
    },

    begin: () => {
      const taken = new Set(useModules.getState().modules?.flatMap(({ id, name }) => [id, name]));
      let name = 'module';
      for (let number = 2; taken.has(name); number += 1) name = `module_${number}`;
      show(name, name, FIRST_SCRIPT, null);
      const place = { run: null, step: null, node: null };
      useLocation.getState().go({ screen: 'modules', tool: name, ...place }, 'push');
    },

    rename: (name) => set({ name }),
    type,
    undo,
    redo,

    save: () => {
      handOver();
      return inOrder(async () => {
        const { id, name, text, saved } = get();
        if (id === null) return false;
        // What is not in the store yet is known there by the name it is given first.
        const key = saved ? id : name;
        set({ isSaving: true });
        try {
          const theirs = saved && (await fetched(key))?.script;
          if (saved && theirs !== undefined && theirs !== saved.script) {
            set({ conflict: { text: theirs ?? '' } });
            return false;
          }
          await api.saveHookModule(key, name, text);
          if (get().id === id) {
            set({ id: key, saved: { name, script: text }, refusal: null });
            if (key !== id) useLocation.getState().go({ tool: key });
          }
          notify('success', `Saved ${name} to the store`, 'save');
          await useModules.getState().load();
          return true;
        } catch (error) {
          notify('error', messageOf(error), 'save');
          return false;
        } finally {
          set({ isSaving: false });
        }
      });
    },

    resolve: async (keep) => {
      const { conflict, name } = get();
      if (!conflict) return;
      set({ saved: { name, script: conflict.text }, conflict: null });
      if (keep === 'theirs') {
        replace(conflict.text);
        await check();
      }
    },

    remove: async () => {
      const { id, name, saved } = get();
      if (id === null) return;
      try {
        if (saved) await api.removeHookModule(id);
      } catch (error) {
        set({ refusal: messageOf(error) });
        await useModules.getState().load();
        return;
      }
      set({ id: null, saved: null, ...beginning('') });
      useLocation.getState().go({ screen: 'workflows', tool: null }, 'push');
      if (saved) notify('success', `Removed ${name} from the store`);
      await useModules.getState().load();
    },
  };
});

/** Whether something would be lost. */
export const isModuleDirty = ({ id, name, text, saved }: ModuleState): boolean =>
  id !== null && (saved === null || saved.script !== text || saved.name !== name);
