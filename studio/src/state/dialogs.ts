import { create } from 'zustand';

/** The dialog that is open. */
export type Open =
  | { name: 'search' }
  | { name: 'shortcuts' }
  | { name: 'add' }
  | { name: 'connect' }
  | { name: 'newTool'; calls?: boolean }
  | { name: 'breakpoints' }
  | { name: 'fork'; step: number; edits: boolean }
  | null;

interface DialogState {
  open: Open;
  show: (open: Open) => void;
  close: () => void;
}

export const useDialogs = create<DialogState>((set) => ({
  open: null,
  show: (open) => set({ open }),
  close: () => set({ open: null }),
}));
