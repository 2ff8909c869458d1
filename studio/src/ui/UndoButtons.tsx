import type { History } from '../model/history';
import { Button } from './Button';

interface Props {
  history: Pick<History, 'past' | 'future'>;
  undo: () => void;
  redo: () => void;
}

/** Takes changes back, and brings them back. */
export function UndoButtons({ history, undo, redo }: Props) {
  return (
    <>
      <Button
        icon="undo"
        look="quiet"
        title="Undo"
        shortcut="⌘Z"
        disabled={history.past.length === 0}
        onClick={undo}
      />
      <Button
        icon="redo"
        look="quiet"
        title="Redo"
        shortcut="⇧⌘Z"
        disabled={history.future.length === 0}
        onClick={redo}
      />
    </>
  );
}
