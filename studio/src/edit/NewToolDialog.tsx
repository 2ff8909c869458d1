import { useState } from 'react';
import { api } from '../api/client';
import { callingTool, emptyTool } from '../model/starters';
import { useDocument } from '../state/document';
import { useFetched } from '../state/fetched';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Field } from '../ui/Field';
import { ChoiceField } from './Controls';

interface Props {
  /** Whether the tool begins with a call of a server's tool. */
  calls: boolean;
  onClose: () => void;
}

const NONE: never[] = [];

/** Asks what a new tool is called, and what it begins with. */
export function NewToolDialog({ calls, onClose }: Props) {
  const [name, setName] = useState('');
  const tools = useDocument((state) => state.document?.tools);
  const servers = useDocument((state) => state.document?.servers ?? NONE);
  const edit = useDocument((state) => state.edit);
  const [server, setServer] = useState(
    calls ? (servers.find((it) => !it.disabled)?.name ?? '') : '',
  );
  const [chosen, setChosen] = useState('');
  const offered = useFetched(server === '' ? null : server, () => api.upstreamTools(server));
  const called = offered.value?.tools.find((tool) => tool.name === chosen);
  const isTaken = tools?.some((tool) => tool.name === name) ?? false;
  const isReady = name !== '' && !isTaken && (!calls || called !== undefined);
  const add = async () => {
    onClose();
    const definition = called ? callingTool(name, server, called) : emptyTool(name);
    await edit({ op: 'add', definition });
  };
  return (
    <Dialog
      title={calls ? 'New tool that calls another' : 'New tool'}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={!isReady} onClick={() => void add()}>
            Add the tool
          </Button>
        </>
      }
    >
      {calls && (
        <>
          <ChoiceField
            label="Server"
            value={server}
            choices={servers.filter((it) => !it.disabled).map((it) => it.name)}
            onChoose={(to) => {
              setServer(to ?? '');
              setChosen('');
            }}
          />
          {offered.error && <p className="callout bad">{offered.error}</p>}
          <ChoiceField
            label="Its tool"
            value={chosen}
            choices={offered.value?.tools.map((tool) => tool.name) ?? NONE}
            hint={offered.isLoading ? 'Asking the server…' : called?.description}
            onChoose={(to) => {
              setChosen(to ?? '');
              if (name === '' || name === chosen) setName(to ?? '');
            }}
          />
        </>
      )}
      <Field
        label="Name"
        hint="What clients call it by, such as count_files"
        error={isTaken ? 'A tool has this name already.' : null}
      >
        {(control) => (
          <input
            {...control}
            autoFocus={!calls}
            className="input"
            value={name}
            spellCheck={false}
            onChange={(event) => setName(event.target.value.trim())}
            onKeyDown={(event) => event.key === 'Enter' && isReady && void add()}
          />
        )}
      </Field>
    </Dialog>
  );
}
