import { useNotices } from '../state/notices';
import { Button } from './Button';

/** What just happened, read out when it appears. */
export function Notices() {
  const { notices, close } = useNotices();
  return (
    <div className="notices" role="status" aria-live="polite">
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
