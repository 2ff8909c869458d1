import type { GraphLink, GraphView, Json, NodeDefinition } from '../api/types';
import { findNode, nodeIds, setMember, siblings } from '../model/definition';
import { named } from '../model/format';
import { expressionOf, KINDS, kindOf } from '../model/kinds';
import { unplaced } from '../model/positions';
import { focusGraph, linkNow, type NodeChange, useEditor, useNodeChange } from '../state/editor';
import { useLocation } from '../state/location';
import { Button } from '../ui/Button';
import { Icon, kindIcon } from '../ui/Icon';
import { AskForm } from './AskForm';
import { CallForm, SubGraphForm } from './CallForm';
import { CommandForm } from './CommandForm';
import { ChoiceField, CodeField, TextField } from './Controls';
import { HookForm } from './HookForm';
import { namesOf } from './names';
import { Problems } from './Problems';
import { SwitchForm } from './SwitchForm';
import { useMarks } from './useMarks';
import { WaitForm } from './WaitForm';

/** What a node says, to be changed: what all nodes have, and what its kind has. */
export function NodeForm({ view, id }: { view: GraphView; id: string }) {
  const { grammar, change: changeGraph, rename, underway } = useEditor();
  const change = useNodeChange(id);
  const go = useLocation((location) => location.go);
  const found = findNode(view.definition, id);
  if (!found) return <p className="muted">There is no node {id} in the text.</p>;
  const node = grammar.said(found);
  const kind = kindOf(node.type);
  const put = (key: string, value: Json | undefined) =>
    change((changed) => setMember(changed, key, value));
  const lead = (key: string, target: string | undefined) =>
    change((changed, now) => setMember(changed, key, target && now(target)));
  const targets = siblings(view.definition, id)
    .map((other) => other.id)
    .filter((other) => other !== id || node.type === 'switch');
  const remove = () => {
    go({ node: null });
    focusGraph();
    void changeGraph((definition, now) => grammar.removeNode(definition, now(id)));
  };
  const isTool = grammar.noun === 'tool';
  const isTaken = (name: string) => name !== id && nodeIds(view.definition).includes(name);
  return (
    <div className="stack" data-kind={kind}>
      <div className="row">
        <span className="kind-title">
          <Icon name={kindIcon(kind)} />
        </span>
        <div className="truncate">
          <h2 className="truncate">{named(id)}</h2>
          <p className="muted truncate">{KINDS[kind].about}</p>
        </div>
        <span className="spread" />
        <Button icon="trash" look="quiet" title={`Remove ${id}`} onClick={remove} />
      </div>
      <Problems id={id} />
      <TextField
        label="Name"
        value={id}
        hint="Edges and expressions that name it follow."
        check={(to) => (isTaken(to) ? `There is a node ${to} already.` : null)}
        // What is on its way may free the name; the server knows when it is its turn.
        onCommit={(to) => to !== '' && (underway > 0 || !isTaken(to)) && void rename(id, to)}
      />
      <KindForm view={view} node={node} targets={targets} onChange={change} />
      {isTool && node.type !== 'switch' && node.type !== 'exit' && (
        <ChoiceField
          label="Next"
          value={typeof node.next === 'string' ? node.next : ''}
          choices={targets}
          none="nowhere"
          onChoose={(target) => lead('next', target)}
        />
      )}
      {!isTool && <Leads view={view} id={id} />}
      <Pin view={view} id={id} />
      {isTool && node.type !== 'entry' && node.type !== 'exit' && (
        <details>
          <summary>
            {node.type === 'wait' ? 'When it fails' : 'When it fails or takes too long'}
          </summary>
          <div className="stack inset">
            <ChoiceField
              label="On error"
              value={typeof node.onError === 'string' ? node.onError : ''}
              choices={targets}
              none="the run fails"
              onChoose={(target) => lead('onError', target)}
            />
            {/* How long it takes is what a node that waits says itself. */}
            {node.type !== 'wait' && (
              <TextField
                label="Timeout in milliseconds"
                value={node.timeoutMs === undefined ? '' : String(node.timeoutMs)}
                onCommit={(text) => put('timeoutMs', text.trim() === '' ? undefined : Number(text))}
              />
            )}
          </div>
        </details>
      )}
    </div>
  );
}

/** Where somebody put the node, to be given up. */
function Pin({ view, id }: { view: GraphView; id: string }) {
  const { change } = useEditor();
  const card = view.nodes.find((known) => known.id === id && known.pinned);
  if (!card) return null;
  return (
    <div className="field">
      <span className="label">Place</span>
      <div className="row">
        <span>
          by hand, {card.x}, {card.y}
        </span>
        <Button onClick={() => void change((definition, now) => unplaced(definition, now(id)))}>
          Leave it to the layout
        </Button>
      </div>
    </div>
  );
}

/** Where a node of a workflow leads: it may be to several at once. */
function Leads({ view, id }: { view: GraphView; id: string }) {
  const { grammar, change } = useEditor();
  const cut = (link: GraphLink) =>
    void change((definition, now) => grammar.disconnect(definition, linkNow(link, now)));
  const links = view.links.filter((link) => link.from === id && link.kind === 'next');
  if (links.length === 0) return null;
  return (
    <div className="field">
      <span className="label">Leads to</span>
      <ul className="chips">
        {links.map((link) => (
          <li key={link.to} className="chip">
            {link.to}
            <Button
              icon="cross"
              look="quiet"
              title={`Do not lead to ${link.to}`}
              onClick={() => cut(link)}
            />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface KindProps {
  view: GraphView;
  node: NodeDefinition;
  targets: string[];
  onChange: (change: NodeChange) => void;
}

function KindForm({ view, node, targets, onChange }: KindProps) {
  const { grammar } = useEditor();
  const names = namesOf(view.definition, grammar.noun);
  const expression = expressionOf(node) ?? '';
  const marks = useMarks(
    node.id,
    node.type === 'foreach' ? '/items' : '/transform/expr',
    expression,
  );
  switch (node.type) {
    case 'transform':
      return (
        <CodeField
          label="Expression, in JSONata"
          language="jsonata"
          height="200px"
          names={names}
          marks={marks}
          value={expression}
          onCommit={(expr) => onChange((changed) => ({ ...changed, transform: { expr } }))}
        />
      );
    case 'hook':
      return <HookForm node={node} onChange={onChange} />;
    case 'ask':
      return <AskForm node={node} targets={targets} onChange={onChange} />;
    case 'wait':
      return <WaitForm node={node} onChange={onChange} />;
    case 'command':
      return <CommandForm view={view} node={node} onChange={onChange} />;
    case 'switch':
      return <SwitchForm node={node} targets={targets} onChange={onChange} />;
    case 'mcp':
      return <CallForm view={view} node={node} onChange={onChange} />;
    case 'graph':
      return <SubGraphForm view={view} node={node} onChange={onChange} />;
    case 'foreach':
      return (
        <>
          <CodeField
            label="Items, in JSONata"
            language="jsonata"
            names={names}
            marks={marks}
            value={expression}
            onCommit={(expr) =>
              onChange((changed) => ({
                ...changed,
                items: typeof changed.items === 'string' ? expr : { expr },
              }))
            }
          />
          <TextField
            label="Name of the item"
            value={typeof node.as === 'string' ? node.as : 'item'}
            onCommit={(name) =>
              onChange((changed) => setMember(changed, 'as', name === 'item' ? undefined : name))
            }
          />
          <AtOnce node={node} onChange={onChange} />
        </>
      );
    case 'parallel':
      return <AtOnce node={node} onChange={onChange} />;
    default:
      return null;
  }
}

function AtOnce({ node, onChange }: Pick<KindProps, 'node' | 'onChange'>) {
  return (
    <TextField
      label="How many at once"
      value={node.maxParallel === undefined ? '' : String(node.maxParallel)}
      onCommit={(text) =>
        onChange((changed) =>
          setMember(changed, 'maxParallel', text.trim() === '' ? undefined : Number(text)),
        )
      }
    />
  );
}
