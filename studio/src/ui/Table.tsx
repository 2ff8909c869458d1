import type { ReactNode } from 'react';

interface Props {
  columns: Column[];
  /** The rows. */
  children: ReactNode;
}

export interface Column {
  label: string;
  isNumber?: boolean;
  /** Whether the label is only read out: what stands there speaks for itself. */
  isHidden?: boolean;
}

/** A table with its heads. */
export function Table({ columns, children }: Props) {
  return (
    <table className="table">
      <thead>
        <tr>
          {columns.map(({ label, isNumber, isHidden }) => (
            <th key={label} scope="col" className={isNumber ? 'number' : undefined}>
              {isHidden ? <span className="visually-hidden">{label}</span> : label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
