import { useState } from 'react';

/** How much of a text one more click shows: more than anybody reads, and drawn at once. */
const PIECE = 100_000;

/** A text of any length, of which a piece is drawn and more when somebody asks for it. */
export function LongText({ text, first }: { text: string; first: number }) {
  const [length, setLength] = useState(first);
  const left = text.length - length;
  return (
    <>
      {left > 0 ? text.slice(0, length) : text}
      {left > 0 && (
        <button type="button" className="button quiet" onClick={() => setLength(length + PIECE)}>
          Show more ({left} characters left)
        </button>
      )}
    </>
  );
}
