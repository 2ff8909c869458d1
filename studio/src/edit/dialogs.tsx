import { type KeyboardEvent, useRef, useState } from 'react';
import type { NodeKind } from '../api/types';
import { type Connection, findNode, siblings } from '../model/definition';
import { KINDS } from '../model/kinds';
import { useDocument } from '../state/document';
import { useEditor } from '../state/editor';
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
  const { view, grammar, change } = useEditor();
  const servers = useDocument((state) => state.document?.servers);
  const { node: after, go } = useLocation();
  const [text, setText] = useState('');
  const choices = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  if (!view) return null;
  const fits = (kind: NodeKind) =>
    `${KINDS[kind].label} ${KINDS[kind].about}`.toLowerCase().includes(text.trim().toLowerCase());
  // Those that are called so come before those that something like it is said of.
  const isCalled = (kind: NodeKind) =>
    KINDS[kind].label.toLowerCase().startsWith(text.trim().toLowerCase());
  const kinds = grammar.addable.filter(fits);
  const shown = [...kinds.filter(isCalled), ...kinds.filter((kind) => !isCalled(kind))];
  const onKeyDown = (event: KeyboardEvent) => {
    const buttons: (Element | null)[] = [...(choices.current?.querySelectorAll('button') ?? [])];
    const at = buttons.indexOf(document.activeElement);
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) {
      event.preventDefault();
      const to = buttons[at + by] ?? (by < 0 ? field.current : null);
      if (to instanceof HTMLElement) to.focus();
    } else if (at < 0 && event.key === 'Enter') {
      event.preventDefault();
      if (shown[0]) void add(shown[0]);
    } else if (at >= 0 && event.key.length === 1 && event.key !== ' ') {
      // Whoever types on is looking for something else; the letter goes where the focus is.
      field.current?.focus();
    }
  };
  const add = async (kind: NodeKind) => {
    const server = servers?.find((known) => !known.disabled)?.name;
    let node = grammar.template(view.definition, kind, server);
    onClose();
    const added = change((definition, now) => {
      node = grammar.template(definition, kind, server);
      return grammar.addNode(definition, node, after && now(after));
    });
    // Whoever goes on at once fills in the new node.
    const { id } = node;
    go({ node: id });
    const isAdded = await added;
    if (useLocation.getState().node === id) go({ node: isAdded ? node.id : after });
  };
  return (
    <Dialog title={after ? `Add a node behind ${after}` : 'Add a node'} onClose={onClose}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys of what is inside go together */}
      <div className="stack" onKeyDown={onKeyDown}>
        <input
          ref={field}
          autoFocus
          className="input"
          type="search"
          aria-label="Kind of node; Enter adds the first"
          placeholder="A kind of node"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <div className="choices" ref={choices}>
          {shown.map((kind, index) => (
            <button
              key={kind}
              type="button"
              data-kind={kind}
              data-first={index === 0 || undefined}
              onClick={() => void add(kind)}
            >
              <Icon name={kindIcon(kind)} />
              <span>
                <strong>{KINDS[kind].label}</strong>
                <br />
                <span className="muted">{KINDS[kind].about}</span>
              </span>
            </button>
          ))}
        </div>
        {shown.length === 0 && <p className="muted">No kind of node is called “{text}”.</p>}
      </div>
    </Dialog>
  );
}

/** Connects the selected node with another without a mouse. */
export function ConnectDialog({ onClose }: Props) {
  const { view, grammar, change } = useEditor();
  const from = useLocation((location) => location.node);
  const node = view && from ? findNode(view.definition, from) : undefined;
  const ways = grammar.ways.filter((way) => node && way.fits(node.type));
  const [as, setAs] = useState<Connection>(ways[0]?.as ?? 'next');
  const others = view && from ? siblings(view.definition, from) : [];
  const targets = others.map((other) => other.id).filter((other) => other !== from);
  // Whatever stood here at first would be taken by mistake now and then.
  const [to, setTo] = useState('');
  if (!view || !from || !node) return null;
  const done = () => {
    onClose();
    void change((definition, now) => grammar.connect(definition, now(from), now(to), as));
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
      {ways.length === 0 && <p className="muted">Nothing follows the end.</p>}
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
