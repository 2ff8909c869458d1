import { create } from 'zustand';

export interface Notice {
  id: number;
  tone: 'success' | 'info' | 'error';
  text: string;
  /** What was being done. */
  about?: About;
}

/** What is done again and again, so that what went wrong once says nothing after it went well. */
type About = 'run' | 'control' | 'save' | 'edit' | 'check';

/** How long a notice stays; what went wrong takes longer to be read. */
const SHOWN_MS = 4000;
const ERROR_MS = 15_000;

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

export function notify(tone: Notice['tone'], text: string, about?: About) {
  last += 1;
  const notice = { id: last, tone, text, about };
  if (about && tone !== 'error') wentWell(about);
  const others = useNotices.getState().notices.filter((known) => known.text !== text);
  useNotices.setState({ notices: [...others, notice].slice(-MAX_NOTICES) });
  const shown = tone === 'error' ? ERROR_MS : SHOWN_MS;
  setTimeout(() => useNotices.getState().close(notice.id), shown);
}

/** Takes away what went wrong before with the same. */
export function wentWell(about: About) {
  const { notices } = useNotices.getState();
  const left = notices.filter((notice) => notice.tone !== 'error' || notice.about !== about);
  if (left.length < notices.length) useNotices.setState({ notices: left });
}
