import { useEffect, useState } from 'react';
import { messageOf } from '../api/client';
import type { Json, Short } from '../api/types';
import { bytes, pretty } from '../model/format';
import { notify } from '../state/notices';
import { Button } from '../ui/Button';
import { JsonView } from '../ui/JsonView';
import { LongText } from '../ui/LongText';

interface Props {
  title: string;
  value: Json | undefined;
  /** What is there of a payload that is too long to be sent at once, or to be kept at all. */
  short?: Short;
  /** Fetches all of it, where it was kept. */
  onOpen?: () => Promise<Json | undefined>;
}

/** A value under its name: as a tree, or as text to copy. What is long comes when it is opened. */
export function Payload({ title, value, short, onOpen }: Props) {
  const [isRaw, setRaw] = useState(false);
  const [isLoading, setLoading] = useState(false);
  const [fetched, setFetched] = useState<Json>();
  const shown = value ?? fetched;
  if (shown === undefined && !short) return null;
  const open = async () => {
    setLoading(true);
    try {
      setFetched(await onOpen?.());
    } catch (error) {
      notify('error', messageOf(error));
    }
    setLoading(false);
  };
  return (
    <section className="payload" aria-label={title}>
      <div className="payload-head">
        <h3>{title}</h3>
        <span className="spread" />
        {shown !== undefined && (
          <>
            <Button look="quiet" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
              Raw
            </Button>
            <Copy title={title} value={shown} />
          </>
        )}
      </div>
      <div className="payload-body" tabIndex={0} role="group" aria-label={`${title}, value`}>
        {shown === undefined && short ? (
          <>
            <p className="muted">
              It has {bytes(short.size)}; this is its beginning.
              {!onOpen && ' The rest was not kept: it is longer than --max-payload-bytes.'}
            </p>
            <pre>{short.preview}…</pre>
            {onOpen && (
              <Button disabled={isLoading} onClick={() => void open()}>
                {isLoading ? 'Fetching…' : `Fetch all ${bytes(short.size)}`}
              </Button>
            )}
          </>
        ) : isRaw ? (
          <RawText value={shown ?? null} />
        ) : (
          <JsonView value={shown ?? null} />
        )}
      </div>
    </section>
  );
}

/** How long it is said that something was copied. */
const COPIED_MS = 1500;

function Copy({ title, value }: { title: string; value: Json }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(pretty(value));
      setCopied(true);
    } catch {
      notify('error', `${title} could not be copied: the browser does not allow it here.`);
    }
  };
  return (
    <>
      <Button look="quiet" icon={isCopied ? 'check' : undefined} onClick={() => void copy()}>
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
      <span className="visually-hidden" role="status">
        {isCopied && `${title} was copied`}
      </span>
    </>
  );
}

function RawText({ value }: { value: Json }) {
  const [text] = useState(() => pretty(value));
  return (
    <pre>
      <LongText text={text} first={100_000} />
    </pre>
  );
}
