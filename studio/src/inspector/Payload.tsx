import { useState } from 'react';
import type { Json, Short } from '../api/types';
import { bytes, pretty } from '../model/format';
import { Button } from '../ui/Button';
import { JsonView } from '../ui/JsonView';

interface Props {
  title: string;
  value: Json | undefined;
  /** What is left of a payload that was not kept whole. */
  short?: Short;
}

/** Above this size a value is drawn only when asked for. */
const LARGE = 200_000;

/** A value under its name: as a tree, or as text to copy. */
export function Payload({ title, value, short }: Props) {
  const [isRaw, setRaw] = useState(false);
  const [isOpen, setOpen] = useState(false);
  if (value === undefined && !short) return null;
  const text = value === undefined ? '' : pretty(value);
  const isHidden = text.length > LARGE && !isOpen;
  return (
    <section className="payload" aria-label={title}>
      <div className="payload-head">
        <h3>{title}</h3>
        <span className="spread" />
        {value !== undefined && (
          <>
            <Button look="quiet" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
              Raw
            </Button>
            <Button look="quiet" onClick={() => void navigator.clipboard?.writeText(text)}>
              Copy
            </Button>
          </>
        )}
      </div>
      <div className="payload-body" tabIndex={0} role="group" aria-label={`${title}, value`}>
        {value === undefined && short ? (
          <>
            <p className="muted">It has {bytes(short.size)}; this is its beginning.</p>
            <pre>{short.preview}…</pre>
          </>
        ) : isHidden ? (
          <Button onClick={() => setOpen(true)}>Show {bytes(text.length)}</Button>
        ) : isRaw ? (
          <pre>{text}</pre>
        ) : (
          <JsonView value={value ?? null} />
        )}
      </div>
    </section>
  );
}
