import type { RunStatus } from '../api/types';
import { Icon, type IconName } from '../ui/Icon';

const SHOWN: Record<RunStatus, { icon: IconName; tone: string; word: string }> = {
  running: { icon: 'play', tone: 'busy', word: 'running' },
  succeeded: { icon: 'check', tone: 'good', word: 'succeeded' },
  failed: { icon: 'cross', tone: 'bad', word: 'failed' },
  cancelled: { icon: 'stop', tone: 'warn', word: 'stopped' },
  interrupted: { icon: 'warning', tone: 'warn', word: 'interrupted' },
};

/** What is said of a run that stands so. */
export const statusWord = (status: RunStatus): string => SHOWN[status].word;

/** How a run stands, in a picture, a colour and a word. */
export function StatusChip({ status, short }: { status: RunStatus; short?: boolean }) {
  const shown = SHOWN[status] ?? { icon: 'dot', tone: '', word: status };
  return (
    <span className={`chip ${shown.tone}`} title={shown.word}>
      <Icon name={shown.icon} />
      <span className={short ? 'visually-hidden' : undefined}>{shown.word}</span>
    </span>
  );
}
