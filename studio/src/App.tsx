import { useEffect } from 'react';
import { ConflictDialog } from './edit/ConflictDialog';
import { AddDialog, ConnectDialog } from './edit/dialogs';
import { NewToolDialog } from './edit/NewToolDialog';
import { ForkDialog } from './inspector/ForkDialog';
import { BreakpointsDialog } from './panels/Breakpoints';
import { Header } from './panels/Header';
import { SearchDialog } from './panels/Search';
import { ShortcutsDialog } from './panels/Shortcuts';
import { Sidebar } from './panels/Sidebar';
import { GraphScreen } from './screens/GraphScreen';
import { ProceduresScreen } from './screens/ProceduresScreen';
import { QuestionsScreen } from './screens/QuestionsScreen';
import { RequestsScreen } from './screens/RequestsScreen';
import { RunsScreen } from './screens/RunsScreen';
import { UpstreamsScreen } from './screens/UpstreamsScreen';
import { WorkflowsScreen } from './screens/WorkflowsScreen';
import { useDialogs } from './state/dialogs';
import { isDirty, useDocument } from './state/document';
import { EditorContext, useChosenEditor, useIsStored } from './state/editor';
import { handOver } from './state/handover';
import { useLocation } from './state/location';
import { isModuleDirty, useModule } from './state/module';
import { useModules } from './state/modules';
import { useProcedures } from './state/procedures';
import { useRun } from './state/run';
import { followAll, useRuns } from './state/runs';
import { followWalk } from './state/walk';
import { isWorkflowDirty, useWorkflow } from './state/workflow';
import { useWorkflows } from './state/workflows';
import { Notices } from './ui/Notices';

/** How often the file is looked at for changes of others. */
const LOOK_MS = 2000;

export function App() {
  const screen = useLocation((location) => location.screen);
  const editor = useChosenEditor();
  const path = useDocument((state) => state.document?.file);
  const file = editor.language === 'yaml' ? path : undefined;
  useServer();
  return (
    <EditorContext value={editor}>
      <div className="app">
        <Header />
        <Sidebar />
        <main className="main">
          {screen === 'graph' && <GraphScreen />}
          {(screen === 'workflows' || screen === 'modules') && <WorkflowsScreen />}
          {screen === 'procedures' && <ProceduresScreen />}
          {screen === 'runs' && <RunsScreen />}
          {screen === 'requests' && <RequestsScreen />}
          {screen === 'questions' && <QuestionsScreen />}
          {screen === 'upstreams' && <UpstreamsScreen />}
        </main>
        <OpenDialog />
        <ConflictDialog
          edited={editor}
          noun={editor.language === 'yaml' ? 'file' : 'workflow'}
          name={file}
          language={editor.language}
        />
        <Notices />
      </div>
    </EditorContext>
  );
}

function OpenDialog() {
  const { open, close } = useDialogs();
  switch (open?.name) {
    case 'search':
      return <SearchDialog onClose={close} />;
    case 'shortcuts':
      return <ShortcutsDialog onClose={close} />;
    case 'add':
      return <AddDialog onClose={close} />;
    case 'connect':
      return <ConnectDialog onClose={close} />;
    case 'newTool':
      return <NewToolDialog calls={open.calls ?? false} onClose={close} />;
    case 'breakpoints':
      return <BreakpointsDialog onClose={close} />;
    case 'fork':
      return <ForkDialog step={open.step} edits={open.edits} onClose={close} />;
    default:
      return null;
  }
}

/** Keeps what is shown in step with the server and with the address. */
function useServer() {
  const { tool, run, screen } = useLocation();
  useEffect(() => {
    void useDocument.getState().load();
    void useRuns.getState().refresh();
    void useWorkflows.getState().load();
    void useModules.getState().load();
    void useProcedures.getState().load();
    const unfollow = followAll();
    const unfollowWalk = followWalk();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void useDocument.getState().look();
    }, LOOK_MS);
    return () => {
      unfollow();
      unfollowWalk();
      clearInterval(timer);
    };
  }, []);
  useEffect(() => {
    useRun.getState().open(run);
  }, [run]);
  const isStored = useIsStored();
  const isRead = useDocument((state) => state.document !== null);
  const first = useDocument((state) => state.document?.tools[0]?.name);
  useEffect(() => {
    if (tool === null && first !== undefined && screen === 'graph') {
      useLocation.getState().go({ tool: first });
    }
  }, [tool, screen, first]);
  useEffect(() => {
    if (tool !== null && isRead && (screen === 'graph' || screen === 'workflows')) {
      if (isStored) void useWorkflow.getState().open(tool);
      else useDocument.getState().refresh();
    }
  }, [tool, screen, isStored, isRead]);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      handOver();
      const workflow = useWorkflow.getState();
      const isDraft = workflow.saved !== null && isWorkflowDirty(workflow);
      const isEdited = isDraft || isModuleDirty(useModule.getState());
      if (isEdited || isDirty(useDocument.getState())) event.preventDefault();
    };
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, []);
}
