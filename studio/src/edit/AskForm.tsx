import type { JsonObject, NodeDefinition } from '../api/types';
import { setMember } from '../model/definition';
import { pretty } from '../model/format';
import { messageOf } from '../model/kinds';
import { parseJson } from '../model/schema';
import type { NodeChange } from '../state/editor';
import { notify } from '../state/notices';
import { ChoiceField, CodeField, TextField } from './Controls';

interface Props {
  node: NodeDefinition;
  targets: string[];
  onChange: (change: NodeChange) => void;
}

/** What a person is asked, what the answer looks like, and where it goes without one. */
export function AskForm({ node, targets, onChange }: Props) {
  const isComputed = typeof node.message !== 'string';
  const target = (key: string) => {
    const value = node[key];
    return typeof value === 'string' ? value : '';
  };
  const setSchema = (text: string) => {
    const parsed = text.trim() === '' ? { value: undefined } : parseJson(text);
    if ('error' in parsed) {
      notify('error', `The schema is not JSON: ${parsed.error}`);
      return false;
    }
    onChange((changed) => setMember(changed, 'schema', parsed.value));
    return true;
  };
  const lead = (key: string, to: string | undefined) =>
    onChange((changed, now) => setMember(changed, key, to && now(to)));
  return (
    <>
      <TextField
        label={isComputed ? 'What is asked, in JSONata' : 'What is asked'}
        value={messageOf(node)}
        onCommit={(text) =>
          onChange((changed) => ({ ...changed, message: isComputed ? { expr: text } : text }))
        }
      />
      <CodeField
        label="The answer, as a JSON Schema"
        language="json"
        height="160px"
        value={node.schema === undefined ? '' : pretty(node.schema as JsonObject)}
        onCommit={setSchema}
      />
      <ChoiceField
        label="If the person declines"
        value={target('onDecline')}
        choices={targets}
        none="the run fails"
        onChoose={(to) => lead('onDecline', to)}
      />
      <ChoiceField
        label="If nobody answers in time"
        value={target('onTimeout')}
        choices={targets}
        none="the run fails"
        onChoose={(to) => lead('onTimeout', to)}
      />
    </>
  );
}
