import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './Button';

interface Props {
  title: string;
  wide?: boolean;
  onClose: () => void;
  children: ReactNode;
  /** The buttons at the end. */
  foot?: ReactNode;
}

/** A dialog that is open as long as it is there. */
export function Dialog({ title, wide, onClose, children, foot }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
  }, []);
  return (
    <dialog
      ref={ref}
      className={wide ? 'wide' : undefined}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={onClose}
    >
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
      </div>
      <div className="dialog-body">{children}</div>
      {foot && <div className="dialog-foot">{foot}</div>}
      {/* The last in order, so that the first thing with the focus is what the dialog is about. */}
      <Button className="dialog-close" icon="cross" look="quiet" title="Close" onClick={onClose} />
    </dialog>
  );
}
