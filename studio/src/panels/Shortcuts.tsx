import { Fragment } from 'react';
import { keysHere } from '../model/keys';
import { SHORTCUTS } from '../state/keys';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog
      title="Keyboard"
      onClose={onClose}
      foot={
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="shortcuts">
        {SHORTCUTS.map(({ keys, about }) => (
          <Fragment key={keys}>
            <kbd>{keysHere(keys)}</kbd>
            <span>{about}</span>
          </Fragment>
        ))}
      </div>
    </Dialog>
  );
}
