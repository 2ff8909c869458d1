import { useState } from 'react';
import type { NodeKind, ToolDefinition } from '../api/types';
import { Diff } from '../code/Code';
import {
  addNode,
  type Connection,
  connect,
  findNode,
  siblings,
  template,
} from '../model/definition';
import { ADDABLE, KINDS } from '../model/kinds';
import { useDocument } from '../state/document';
import { useLocation } from '../state/location';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Field } from '../ui/Field';
import { Icon, kindIcon } from '../ui/Icon';
import { ChoiceField } from './Controls';

interface Props {
  onClose: () => void;
}

/** A node more, behind the selected one. */
export function AddDialog({ onClose }: Props) {
  const view = useDocument((state) => state.tool);
  const servers = useDocument((state) => state.document?.servers);
  const set = useDocument((state) => state.set);
  const { node: after, go } = useLocation();
  if (!view) return null;
  const add = async (kind: NodeKind) => {
    const server = servers?.find((known) => !known.disabled)?.name;
    const node = template(view.definition, kind, server);
    onClose();
    if (await set(addNode(view.definition, node, after))) go({ node: node.id });
  };
  return (
    <Dialog title={after ? `Add a node behind ${after}` : 'Add a node'} onClose={onClose}>
      <div className="choices">
        {ADDABLE.map((kind) => (
          <button key={kind} type="button" data-kind={kind} onClick={() => void add(kind)}>
            <Icon name={kindIcon(kind)} />
            <span>
              <strong>{KINDS[kind].label}</strong>
              <br />
              <span className="muted">{KINDS[kind].about}</span>
            </span>
          </button>
        ))}
      </div>
    </Dialog>
  );
}

const WAYS: { as: Connection; label: string; fits: (type: string) => boolean }[] = [
  { as: 'next', label: 'next', fits: (type) => type !== 'switch' && type !== 'exit' },
  { as: 'rule', label: 'if a new rule holds', fits: (type) => type === 'switch' },
  { as: 'otherwise', label: 'if no rule holds', fits: (type) => type === 'switch' },
  { as: 'error', label: 'if it fails', fits: (type) => type !== 'entry' && type !== 'exit' },
];

/** Connects the selected node with another without a mouse. */
export function ConnectDialog({ onClose }: Props) {
  const view = useDocument((state) => state.tool);
  const set = useDocument((state) => state.set);
  const from = useLocation((location) => location.node);
  const node = view && from ? findNode(view.definition, from) : undefined;
  const ways = WAYS.filter((way) => node && way.fits(node.type));
  const [as, setAs] = useState<Connection>(ways[0]?.as ?? 'next');
  const targets = view && from ? siblings(view.definition, from).map((other) => other.id) : [];
  const [to, setTo] = useState(targets.find((target) => target !== from) ?? '');
  if (!view || !from || !node) return null;
  const done = () => {
    onClose();
    void set(connect(view.definition, from, to, as));
  };
  return (
    <Dialog
      title={`Connect ${from}`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={to === '' || ways.length === 0} onClick={done}>
            Connect
          </Button>
        </>
      }
    >
      {ways.length === 0 && <p className="muted">Nothing follows an exit.</p>}
      <ChoiceField
        label="To"
        value={to}
        choices={targets}
        onChoose={(target) => setTo(target ?? '')}
      />
      <Field label="When">
        {(control) => (
          <select
            {...control}
            className="select"
            value={as}
            onChange={(event) =>
              setAs(ways.find((way) => way.as === event.target.value)?.as ?? 'next')
            }
          >
            {ways.map((way) => (
              <option key={way.as} value={way.as}>
                {way.label}
              </option>
            ))}
          </select>
        )}
      </Field>
    </Dialog>
  );
}

/** What a new tool is before anybody has filled it in. */
function firstTool(name: string): ToolDefinition {
  return {
    name,
    description: `What ${name} does`,
    inputSchema: { type: 'object', properties: {} },
    nodes: [
      { id: 'entry', type: 'entry', next: 'exit' },
      { id: 'exit', type: 'exit' },
    ],
  };
}

export function NewToolDialog({ onClose }: Props) {
  const [name, setName] = useState('');
  const tools = useDocument((state) => state.document?.tools);
  const edit = useDocument((state) => state.edit);
  const isTaken = tools?.some((tool) => tool.name === name) ?? false;
  const add = async () => {
    onClose();
    await edit({ op: 'add', definition: firstTool(name) });
  };
  return (
    <Dialog
      title="New tool"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={name === '' || isTaken} onClick={() => void add()}>
            Add the tool
          </Button>
        </>
      }
    >
      <Field
        label="Name"
        hint="What clients call it by, such as count_files"
        error={isTaken ? 'A tool has this name already.' : null}
      >
        {(control) => (
          <input
            {...control}
            autoFocus
            className="input"
            value={name}
            spellCheck={false}
            onChange={(event) => setName(event.target.value.trim())}
            onKeyDown={(event) => event.key === 'Enter' && name !== '' && !isTaken && void add()}
          />
        )}
      </Field>
    </Dialog>
  );
}

/** The file was changed by somebody else while it was changed here. */
export function ConflictDialog() {
  const { conflict, text, document, resolve } = useDocument();
  if (!conflict) return null;
  return (
    <ConflictBody
      theirs={conflict.text}
      mine={text}
      file={document?.file ?? ''}
      onKeep={(keep) => void resolve(keep)}
    />
  );
}

interface ConflictProps {
  theirs: string;
  mine: string;
  file: string;
  onKeep: (keep: 'mine' | 'theirs') => void;
}

function ConflictBody({ theirs, mine, file, onKeep }: ConflictProps) {
  return (
    <Dialog
      title="The file was changed on disk"
      wide
      onClose={() => onKeep('mine')}
      foot={
        <>
          <Button onClick={() => onKeep('theirs')}>Take the file from disk</Button>
          <Button look="primary" onClick={() => onKeep('mine')}>
            Keep mine, to be saved over it
          </Button>
        </>
      }
    >
      <p>
        {file} is not what it was when you began. On the left is the file on disk, on the right
        yours. Nothing was saved; what you give up here can be brought back with undo.
      </p>
      <Diff a={theirs} b={mine} labels={['The file on disk', 'Yours']} language="yaml" />
    </Dialog>
  );
}
