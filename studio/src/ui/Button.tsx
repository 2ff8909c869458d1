import type { ComponentProps } from 'react';
import { keysHere } from '../model/keys';
import { Icon, type IconName } from './Icon';

interface Props extends ComponentProps<'button'> {
  icon?: IconName;
  look?: 'primary' | 'quiet' | 'danger';
  /** The key that does the same, as Apple names it. */
  shortcut?: string;
}

/** A button; without children it is an icon, and `title` says what it does. */
export function Button({ icon, look, shortcut, title, children, className, ...rest }: Props) {
  const isSquare = children === undefined;
  const classes = ['button', look, isSquare && 'square', className].filter(Boolean).join(' ');
  const hint = shortcut ? `${title ?? ''} (${keysHere(shortcut)})`.trim() : title;
  return (
    <button
      type="button"
      className={classes}
      title={hint}
      aria-label={isSquare ? title : undefined}
      {...rest}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
