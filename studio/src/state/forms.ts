import { create } from 'zustand';
import type { JsonObject } from '../api/types';
import { type Form, firstForm } from '../model/form';
import { useInputs } from './inputs';

/** The form of a tool, with how it was filled in. */
export interface RunForm extends Form {
  /** Which of the earlier arguments it was filled with. */
  position: number;
  /** Whether somebody wanted to run it as it is, and could not. */
  isAsked: boolean;
}

interface FormState {
  byTool: Record<string, RunForm>;
  /** The tool whose form is to show at once what keeps it from running. */
  shows: string | null;
  put: (tool: string, form: RunForm) => void;
  /** Says in the form what is missing. */
  ask: (tool: string, form: RunForm) => void;
  shown: () => void;
  /** A tool has another name. */
  rename: (from: string, to: string) => void;
}

/** What is filled in to run each tool, whichever button runs it and whatever is shown beside. */
export const useForms = create<FormState>((set, get) => ({
  byTool: {},
  shows: null,
  put: (tool, form) => set({ byTool: { ...get().byTool, [tool]: form } }),
  ask: (tool, form) => {
    get().put(tool, { ...form, isAsked: true });
    set({ shows: tool });
  },
  shown: () => set({ shows: null }),
  rename: (from, to) => {
    const { [from]: form, ...others } = get().byTool;
    if (form) set({ byTool: { ...others, [to]: form } });
  },
}));

/** The form of a tool as it is now: what was typed, or what it begins with. */
export function runForm(tool: string, schema: JsonObject): RunForm {
  const begun = useForms.getState().byTool[tool];
  if (begun) return begun;
  const recent = useInputs.getState().byTool[tool]?.[0];
  return { ...firstForm(schema, recent), position: 0, isAsked: false };
}
