import { useEffect, useMemo } from 'react';
import { Code } from '../code/Code';
import { ConflictDialog } from '../edit/ConflictDialog';
import { TextField } from '../edit/Controls';
import { SCRIPT_NAMES } from '../edit/names';
import { marksOf } from '../edit/useMarks';
import { plural } from '../model/format';
import { useKeys } from '../state/keys';
import { useLocation } from '../state/location';
import { isModuleDirty, useModule } from '../state/module';
import { useModules } from '../state/modules';
import { useWorkflows } from '../state/workflows';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';
import { UndoButtons } from '../ui/UndoButtons';

/** One script that several hooks share: its text, and the workflows that use it. */
export function ModuleScreen({ id }: { id: string }) {
  const module = useModule();
  const isDirty = isModuleDirty(module);
  const go = useLocation((location) => location.go);
  const { text, name, report, failure, isSaving, open, type, undo, redo, save } = module;
  useEffect(() => {
    void open(id);
    void useModules.getState().load();
  }, [id, open]);
  useKeys({ editor: module });
  const marks = useMemo(() => marksOf(report?.diagnostics ?? [], text), [report, text]);
  if (failure !== null || module.id !== id) {
    return failure === null ? (
      <Empty title="Reading the module…" />
    ) : (
      <Empty title={`There is no hook module ${id}`}>
        <p>{failure}</p>
        <Button onClick={() => go({ screen: 'workflows', tool: null })}>All workflows</Button>
      </Empty>
    );
  }
  const errors = report?.errors ?? 0;
  return (
    <div className="workbench">
      <div className="workbar" role="toolbar" aria-label="Hook module">
        <UndoButtons history={module} undo={undo} redo={redo} />
        <Button
          icon="save"
          look={isDirty && errors === 0 ? 'primary' : undefined}
          disabled={!isDirty || isSaving || errors > 0 || name === ''}
          title={
            errors > 0 ? 'Errors must be mended before the module is saved' : 'Save to the store'
          }
          shortcut="⌘S"
          onClick={() => void save()}
        >
          {isDirty ? 'Save' : 'Saved'}
        </Button>
        {errors > 0 && <span className="chip bad">{plural(errors, 'error')}</span>}
        <span className="spread" />
        <Button icon="trash" look="danger" onClick={() => void module.remove()}>
          Remove the module
        </Button>
      </div>
      <div className="stage">
        <Code
          key={id}
          label="Script of the module, in JavaScript"
          language="javascript"
          text={text}
          undoes={false}
          marks={marks}
          names={SCRIPT_NAMES}
          height="100%"
          onChange={type}
        />
      </div>
      <aside className="panel whole" aria-label="About the module">
        <div className="panel-body stack">
          {module.refusal && (
            <div className="callout bad" role="alert">
              <strong>It was not removed</strong>
              <span className="plain">{module.refusal}</span>
              <span className="plain">Take it out of these workflows first.</span>
            </div>
          )}
          {report?.diagnostics.map((problem) => (
            <div key={problem.message} className="callout bad">
              <strong>
                {problem.code} {problem.message}
              </strong>
              {problem.hint && <span className="plain">{problem.hint}</span>}
            </div>
          ))}
          <TextField
            label="Name"
            value={name}
            hint="Hooks name the module by it."
            onCommit={module.rename}
          />
          <Users id={id} />
          <p className="muted">
            It is the body of an async function, as the script of a hook is: it sees{' '}
            <code>context</code>, and what it returns decides what happens. It is kept in the store;
            workflows in use take it over as soon as it is saved.
          </p>
        </div>
      </aside>
      <ConflictDialog edited={module} noun="module" language="javascript" />
    </div>
  );
}

/** The workflows whose hooks use a module. */
function Users({ id }: { id: string }) {
  const users = useModules((state) => state.modules?.find((known) => known.id === id)?.usedBy);
  const stored = useWorkflows((state) => state.stored);
  const go = useLocation((location) => location.go);
  return (
    <section className="field" aria-label="Used by">
      <span className="label">Used by</span>
      {!users?.length && <span className="muted">no workflow of the store</span>}
      <ul className="plain-list">
        {users?.map((user) => (
          <li key={user}>
            <button
              type="button"
              className="button quiet link"
              onClick={() => go({ screen: 'workflows', tool: user }, 'push')}
            >
              {stored?.find((workflow) => workflow.id === user)?.name ?? user}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
