import { api } from '../api/client';
import type { GraphView, NodeDefinition } from '../api/types';
import { useDocument } from '../state/document';
import type { NodeChange } from '../state/editor';
import { useFetched } from '../state/fetched';
import { ArgumentsForm } from './ArgumentsForm';
import { ChoiceField } from './Controls';

interface Props {
  view: GraphView;
  node: NodeDefinition;
  onChange: (change: NodeChange) => void;
}

const NO_SERVERS: never[] = [];

/** A call: the server and the tool to choose from, and a form made of the tool's schema. */
export function CallForm({ view, node, onChange }: Props) {
  const servers = useDocument((state) => state.document?.servers ?? NO_SERVERS);
  const server = typeof node.server === 'string' ? node.server : '';
  const isKnown = servers.some((known) => known.name === server && !known.disabled);
  const listed = useFetched(isKnown ? server : null, () => api.upstreamTools(server));
  const tools = listed.value?.tools ?? [];
  const tool = tools.find((known) => known.name === node.tool);
  return (
    <>
      <ChoiceField
        label="Server"
        value={server}
        choices={servers.filter((known) => !known.disabled).map((known) => known.name)}
        onChoose={(name) => name && onChange((changed) => ({ ...changed, server: name }))}
      />
      <ChoiceField
        label="Tool"
        value={typeof node.tool === 'string' ? node.tool : ''}
        choices={tools.map((known) => known.name)}
        hint={listed.isLoading ? `Asking ${server} for its tools…` : tool?.description}
        onChoose={(name) => name && onChange((changed) => ({ ...changed, tool: name }))}
      />
      {listed.error && (
        <div className="callout warn">
          <strong>{server} does not tell its tools</strong>
          <span className="plain">{listed.error}</span>
        </div>
      )}
      <ArgumentsForm
        key={`${server} ${String(node.tool)}`}
        tool={view.definition}
        schema={tool?.inputSchema}
        value={node.args}
        onChange={(change) => onChange((changed) => ({ ...changed, args: change(changed.args) }))}
      />
    </>
  );
}

/** A call of another tool of the file. */
export function SubGraphForm({ view, node, onChange }: Props) {
  const tools = useDocument((state) => state.document?.tools ?? NO_SERVERS);
  const called = tools.find((tool) => tool.name === node.tool);
  return (
    <>
      <ChoiceField
        label="Tool"
        value={typeof node.tool === 'string' ? node.tool : ''}
        choices={tools.map((tool) => tool.name).filter((name) => name !== view.name)}
        onChoose={(name) => name && onChange((changed) => ({ ...changed, tool: name }))}
      />
      <ArgumentsForm
        key={String(node.tool)}
        tool={view.definition}
        schema={called?.inputSchema}
        value={node.args}
        onChange={(change) => onChange((changed) => ({ ...changed, args: change(changed.args) }))}
      />
    </>
  );
}
