import { create } from 'zustand';
import type { JsonObject } from '../api/types';
import { load, store } from './storage';

const KEY = 'inputs';
const MAX_KEPT = 10;

type ByTool = Record<string, JsonObject[]>;

interface InputState {
  byTool: ByTool;
  keep: (tool: string, input: JsonObject) => void;
}

/** The arguments a tool was called with from here, the newest first. */
export const useInputs = create<InputState>((set, get) => ({
  byTool: load<ByTool>(KEY, {}),
  keep: (tool, input) => {
    const text = JSON.stringify(input);
    const others = (get().byTool[tool] ?? []).filter((known) => JSON.stringify(known) !== text);
    const byTool = { ...get().byTool, [tool]: [input, ...others].slice(0, MAX_KEPT) };
    set({ byTool });
    store(KEY, byTool);
  },
}));
