import { useEffect, useRef } from 'react';
import { useDialogs } from '../state/dialogs';
import { useNotices } from '../state/notices';
import { Button } from './Button';

/** What just happened, read out when it appears. */
export function Notices() {
  const { notices, close } = useNotices();
  const dialog = useDialogs((state) => state.open);
  const ref = useRef<HTMLDivElement>(null);
  // Whatever came last is on top, of dialogs, too.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows what there is to be covered
  useEffect(() => {
    ref.current?.hidePopover();
    ref.current?.showPopover();
  }, [notices, dialog]);
  return (
    <div ref={ref} className="notices" popover="manual" role="status" aria-live="polite">
      {notices.map((notice) => (
        <div key={notice.id} className={`notice ${notice.tone}`}>
          <span>{notice.text}</span>
          <span className="spread" />
          <Button icon="cross" look="quiet" title="Dismiss" onClick={() => close(notice.id)} />
        </div>
      ))}
    </div>
  );
}
