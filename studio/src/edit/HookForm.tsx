import type { Json, JsonObject, NodeDefinition } from '../api/types';
import { isObject, setMember } from '../model/definition';
import { useDocument } from '../state/document';
import { type NodeChange, useEditor } from '../state/editor';
import { useLocation } from '../state/location';
import { useModules } from '../state/modules';
import { Button } from '../ui/Button';
import { Field } from '../ui/Field';
import { ChoiceField, CodeField, TextField } from './Controls';
import { SCRIPT_NAMES } from './names';
import { useMarks } from './useMarks';

interface Props {
  node: NodeDefinition;
  onChange: (change: NodeChange) => void;
}

const NONE: never[] = [];

const hookOf = (node: NodeDefinition): JsonObject => (isObject(node.hook) ? node.hook : {});

/** A hook: its script or module, whether the flow waits for it, and what happens if it fails. */
export function HookForm({ node, onChange }: Props) {
  const { language } = useEditor();
  const go = useLocation((location) => location.go);
  const hook = hookOf(node);
  const module = hook.module ?? hook.hookModuleId;
  const script = typeof hook.script === 'string' ? hook.script : '';
  const marks = useMarks(node.id, '/hook/script', script);
  const stored = useModules((state) => state.modules ?? NONE);
  const inFile = useDocument((state) => state.document?.hookModules ?? NONE);
  const put = (key: string, value: Json | undefined) =>
    onChange((changed) => ({ ...changed, hook: setMember(hookOf(changed), key, value) }));
  const chooseModule = (name: string | undefined) =>
    onChange((changed) => {
      const { module: _, hookModuleId: __, ...rest } = hookOf(changed);
      return { ...changed, hook: name ? { ...rest, module: name } : { script: '', ...rest } };
    });
  const known = (language === 'json' ? stored : inFile).map(({ name }) => name);
  const shared = stored.find(({ id, name }) => id === module || name === module);
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
      {language === 'json' && shared && (
        <div className="row">
          <Button onClick={() => go({ screen: 'modules', tool: shared.id }, 'push')}>
            Open the module
          </Button>
        </div>
      )}
      {typeof module !== 'string' && (
        <CodeField
          label="Script, in JavaScript"
          language="javascript"
          height="280px"
          names={SCRIPT_NAMES}
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
