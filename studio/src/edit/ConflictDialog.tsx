import { Diff } from '../code/Code';
import type { Language } from '../code/code';
import type { Textual } from '../state/textual';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';

interface Props {
  edited: Pick<Textual, 'conflict' | 'text' | 'resolve'>;
  /** What it is that was changed. */
  noun: 'file' | 'workflow' | 'module';
  /** What it is called. */
  name?: string;
  language: Language;
}

/** What is edited was changed by somebody else while it was changed here. */
export function ConflictDialog({ edited, noun, name, language }: Props) {
  const { conflict, text, resolve } = edited;
  if (!conflict) return null;
  const place = noun === 'file' ? 'on disk' : 'in the store';
  const keep = (which: 'mine' | 'theirs') => void resolve(which);
  return (
    <Dialog
      title={`The ${noun} was changed ${place}`}
      wide
      onClose={() => keep('mine')}
      foot={
        <>
          <Button onClick={() => keep('theirs')}>
            {noun === 'file' ? 'Take the file from disk' : 'Take the one from the store'}
          </Button>
          <Button look="primary" onClick={() => keep('mine')}>
            Keep mine, to be saved over it
          </Button>
        </>
      }
    >
      <p>
        {name ?? `The ${noun}`} is not what it was when you began. On the left is what is there now,
        on the right yours. Nothing was saved; what you give up here can be brought back with undo.
      </p>
      <Diff
        a={conflict.text}
        b={text}
        labels={[`The ${noun} ${place}`, 'Yours']}
        language={language}
      />
    </Dialog>
  );
}
