import type { NodeDefinition } from '../api/types';
import { type Waiting, waitingOf, withWaiting } from '../model/waiting';
import type { NodeChange } from '../state/editor';
import { ChoiceField, TextField } from './Controls';

interface Props {
  node: NodeDefinition;
  onChange: (change: NodeChange) => void;
}

/** How a node may wait, in the words of the form. */
const WAYS: { label: string; way: Omit<Waiting, 'text'>; field: string; hint: string }[] = [
  {
    label: 'for a while',
    way: { key: 'duration', isComputed: false },
    field: 'How long',
    hint: '500ms, 90s, 5m, 2h, 3d, or a number of milliseconds.',
  },
  {
    label: 'for a while that is computed',
    way: { key: 'duration', isComputed: true },
    field: 'How long, in JSONata',
    hint: 'Gives a text such as "90s", or a number of milliseconds.',
  },
  {
    label: 'until a time',
    way: { key: 'until', isComputed: false },
    field: 'Until when',
    hint: 'A time with its zone, such as 2030-01-31T12:00:00Z.',
  },
  {
    label: 'until a time that is computed',
    way: { key: 'until', isComputed: true },
    field: 'Until when, in JSONata',
    hint: 'Gives a time with its zone, or milliseconds since 1970.',
  },
];

/** How long a node waits, or until when. */
export function WaitForm({ node, onChange }: Props) {
  const waiting = waitingOf(node);
  const chosen =
    WAYS.find(({ way }) => way.key === waiting.key && way.isComputed === waiting.isComputed) ??
    WAYS[0];
  const choose = (label: string | undefined) => {
    const way = WAYS.find((known) => known.label === label)?.way;
    if (!way) return;
    onChange((changed) => withWaiting(changed, { ...way, text: waitingOf(changed).text }));
  };
  return (
    <>
      <ChoiceField
        label="It waits"
        value={chosen?.label ?? ''}
        choices={WAYS.map((known) => known.label)}
        onChoose={choose}
      />
      <TextField
        label={chosen?.field ?? ''}
        hint={chosen?.hint}
        value={waiting.text}
        onCommit={(text) =>
          onChange((changed) => withWaiting(changed, { ...waitingOf(changed), text }))
        }
      />
    </>
  );
}
