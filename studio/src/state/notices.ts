import { create } from 'zustand';

export interface Notice {
  id: number;
  tone: 'success' | 'info' | 'error';
  text: string;
}

/** How long a notice stays; errors stay until they are closed. */
const SHOWN_MS = 4000;

const MAX_NOTICES = 4;

interface NoticeState {
  notices: Notice[];
  close: (id: number) => void;
}

let last = 0;

export const useNotices = create<NoticeState>((set) => ({
  notices: [],
  close: (id) => set((state) => ({ notices: state.notices.filter((notice) => notice.id !== id) })),
}));

export function notify(tone: Notice['tone'], text: string) {
  last += 1;
  const notice = { id: last, tone, text };
  const others = useNotices.getState().notices.filter((known) => known.text !== text);
  useNotices.setState({ notices: [...others, notice].slice(-MAX_NOTICES) });
  if (tone !== 'error') setTimeout(() => useNotices.getState().close(notice.id), SHOWN_MS);
}
