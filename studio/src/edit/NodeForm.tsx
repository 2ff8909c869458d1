import type { Json, NodeDefinition, NodeKind, ToolView } from '../api/types';
import { findNode, removeNode, setMember, setNode, siblings } from '../model/definition';
import { expressionOf, KINDS } from '../model/kinds';
import { useDocument } from '../state/document';
import { useLocation } from '../state/location';
import { Button } from '../ui/Button';
import { Icon, kindIcon } from '../ui/Icon';
import { CallForm, SubGraphForm } from './CallForm';
import { ChoiceField, CodeField, TextField } from './Controls';
import { namesOf } from './names';
import { SwitchForm } from './SwitchForm';

/** What a node says, to be changed: what all nodes have, and what its kind has. */
export function NodeForm({ view, id }: { view: ToolView; id: string }) {
  const { set, edit } = useDocument();
  const go = useLocation((location) => location.go);
  const node = findNode(view.definition, id);
  if (!node) return <p className="muted">There is no node {id}.</p>;
  const kind = (node.type in KINDS ? node.type : 'invalid') as NodeKind;
  const change = (changed: NodeDefinition) => void set(setNode(view.definition, changed));
  const put = (key: string, value: Json | undefined) => change(setMember(node, key, value));
  const targets = siblings(view.definition, id)
    .map((other) => other.id)
    .filter((other) => other !== id || node.type === 'switch');
  const rename = async (to: string) => {
    if (to === '') return;
    if (await edit({ op: 'rename', tool: view.name, node: id, to })) go({ node: to });
  };
  const remove = () => {
    go({ node: null });
    void set(removeNode(view.definition, id));
  };
  return (
    <div className="stack" data-kind={kind}>
      <div className="row">
        <span className="kind-title">
          <Icon name={kindIcon(kind)} />
        </span>
        <div className="truncate">
          <h2 className="truncate">{id}</h2>
          <p className="muted truncate">{KINDS[kind].about}</p>
        </div>
        <span className="spread" />
        <Button icon="trash" look="quiet" title={`Remove ${id}`} onClick={remove} />
      </div>
      <Problems view={view} id={id} />
      <TextField
        label="Name"
        value={id}
        hint="Edges and expressions that name it follow."
        onCommit={(to) => void rename(to)}
      />
      <KindForm view={view} node={node} targets={targets} onChange={change} />
      {node.type !== 'switch' && node.type !== 'exit' && (
        <ChoiceField
          label="Next"
          value={typeof node.next === 'string' ? node.next : ''}
          choices={targets}
          none="nowhere"
          onChoose={(target) => put('next', target)}
        />
      )}
      {node.type !== 'entry' && node.type !== 'exit' && (
        <details>
          <summary>When it fails or takes too long</summary>
          <div className="stack inset">
            <ChoiceField
              label="On error"
              value={typeof node.onError === 'string' ? node.onError : ''}
              choices={targets}
              none="the run fails"
              onChoose={(target) => put('onError', target)}
            />
            <TextField
              label="Timeout in milliseconds"
              value={node.timeoutMs === undefined ? '' : String(node.timeoutMs)}
              onCommit={(text) => put('timeoutMs', text.trim() === '' ? undefined : Number(text))}
            />
          </div>
        </details>
      )}
    </div>
  );
}

function Problems({ view, id }: { view: ToolView; id: string }) {
  const report = useDocument((state) => state.document?.report);
  const index = view.definition.nodes.findIndex((node) => node.id === id);
  const place = `${view.pointer}/nodes/${index}`;
  const found = (report?.diagnostics ?? []).filter(
    (problem) =>
      index >= 0 && (problem.pointer === place || problem.pointer?.startsWith(`${place}/`)),
  );
  return found.map((problem) => (
    <div
      key={`${problem.code} ${problem.message}`}
      className={`callout ${problem.severity === 'error' ? 'bad' : 'warn'}`}
    >
      <strong>
        {problem.code} {problem.message}
      </strong>
      {problem.hint && <span className="plain">{problem.hint}</span>}
    </div>
  ));
}

interface KindProps {
  view: ToolView;
  node: NodeDefinition;
  targets: string[];
  onChange: (node: NodeDefinition) => void;
}

function KindForm({ view, node, targets, onChange }: KindProps) {
  const names = namesOf(view.definition);
  switch (node.type) {
    case 'transform':
      return (
        <CodeField
          label="Expression, in JSONata"
          language="jsonata"
          height="200px"
          names={names}
          value={expressionOf(node) ?? ''}
          onCommit={(expr) => onChange({ ...node, transform: { expr } })}
        />
      );
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
            value={expressionOf(node) ?? ''}
            onCommit={(expr) =>
              onChange({ ...node, items: typeof node.items === 'string' ? expr : { expr } })
            }
          />
          <TextField
            label="Name of the item"
            value={typeof node.as === 'string' ? node.as : 'item'}
            onCommit={(name) => onChange(setMember(node, 'as', name === 'item' ? undefined : name))}
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
        onChange(setMember(node, 'maxParallel', text.trim() === '' ? undefined : Number(text)))
      }
    />
  );
}
