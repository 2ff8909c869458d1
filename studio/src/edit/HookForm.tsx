import { api } from '../api/client';
import type { Json, JsonObject, NodeDefinition } from '../api/types';
import { isObject, setMember } from '../model/definition';
import { useEditor } from '../state/editor';
import { useFetched } from '../state/fetched';
import { Field } from '../ui/Field';
import { ChoiceField, CodeField, TextField } from './Controls';
import { useMarks } from './useMarks';

interface Props {
  node: NodeDefinition;
  onChange: (node: NodeDefinition) => void;
}

/** What a script finds and may give; see docs/workflows.md. */
const NAMES = [
  { label: 'context.request.params.arguments', detail: 'what the tool is called with' },
  { label: 'context.request.params.name', detail: 'the name of the tool' },
  { label: 'context.response', detail: 'after the call' },
  { label: 'context.metadata.clientId', detail: 'who asks' },
  { label: 'context.metadata.serverName', detail: 'of an upstream tool' },
  { label: 'context.metadata.toolName', detail: 'of an upstream tool' },
  { label: 'context.variables', detail: 'what hooks before it gave' },
  { label: 'console.log()', detail: 'into the record' },
  { label: 'sleep()', detail: 'milliseconds' },
  { label: 'fetch()', detail: 'hosts in allowHosts' },
  { label: "return { continue: false, error: { code: '', message: '' } };", detail: 'stop' },
  { label: 'return { request: context.request };', detail: 'another request' },
  { label: 'return { response: context.response };', detail: 'another response' },
  { label: 'return { context: {} };', detail: 'variables' },
];

/** A hook: its script or module, whether the flow waits for it, and what happens if it fails. */
export function HookForm({ node, onChange }: Props) {
  const { language } = useEditor();
  const hook: JsonObject = isObject(node.hook) ? node.hook : {};
  const module = hook.module ?? hook.hookModuleId;
  const script = typeof hook.script === 'string' ? hook.script : '';
  const marks = useMarks(node.id, '/hook/script', script);
  const modules = useFetched(language === 'json' ? 'modules' : null, () => api.hookModules());
  const put = (key: string, value: Json | undefined) =>
    onChange({ ...node, hook: setMember(hook, key, value) });
  const chooseModule = (name: string | undefined) => {
    const { module: _, hookModuleId: __, ...rest } = hook;
    onChange({ ...node, hook: name ? { ...rest, module: name } : { script: '', ...rest } });
  };
  const known = modules.value?.hookModules.map(({ name }) => name) ?? [];
  return (
    <>
      {(known.length > 0 || typeof module === 'string') && (
        <ChoiceField
          label="Code"
          value={typeof module === 'string' ? module : ''}
          choices={known}
          none="a script of its own"
          hint="A module is a script that several hooks share."
          onChoose={chooseModule}
        />
      )}
      {typeof module !== 'string' && (
        <CodeField
          label="Script, in JavaScript"
          language="javascript"
          height="280px"
          names={NAMES}
          marks={marks}
          value={script}
          onCommit={(text) => put('script', text)}
        />
      )}
      <Field
        label="What follows"
        hint="A hook that nothing waits for can neither stop nor change anything."
      >
        {(control) => (
          <select
            {...control}
            className="select"
            value={hook.blocking === false ? 'goes on' : 'waits'}
            onChange={(event) => put('blocking', event.target.value === 'waits')}
          >
            <option value="waits">waits for it</option>
            <option value="goes on">goes on at once</option>
          </select>
        )}
      </Field>
      <Field label="If it fails">
        {(control) => (
          <select
            {...control}
            className="select"
            value={hook.onError === 'continue' ? 'continue' : 'stop'}
            onChange={(event) =>
              put('onError', event.target.value === 'continue' ? 'continue' : undefined)
            }
          >
            <option value="stop">the call is refused</option>
            <option value="continue">the workflow goes on</option>
          </select>
        )}
      </Field>
      <TextField
        label="Timeout in milliseconds"
        value={hook.timeoutMs === undefined ? '' : String(hook.timeoutMs)}
        hint="5000 if nothing is said."
        onCommit={(text) => put('timeoutMs', text.trim() === '' ? undefined : Number(text))}
      />
    </>
  );
}
