import { useEffect } from 'react';
import { AddDialog, ConflictDialog, ConnectDialog, NewToolDialog } from './edit/dialogs';
import { ForkDialog } from './inspector/ForkDialog';
import { BreakpointsDialog } from './panels/Breakpoints';
import { Header } from './panels/Header';
import { SearchDialog } from './panels/Search';
import { ShortcutsDialog } from './panels/Shortcuts';
import { Sidebar } from './panels/Sidebar';
import { GraphScreen } from './screens/GraphScreen';
import { RunsScreen } from './screens/RunsScreen';
import { UpstreamsScreen } from './screens/UpstreamsScreen';
import { WorkflowsScreen } from './screens/WorkflowsScreen';
import { useDialogs } from './state/dialogs';
import { isDirty, useDocument } from './state/document';
import { useLocation } from './state/location';
import { useRun } from './state/run';
import { followAll, useRuns } from './state/runs';
import { Notices } from './ui/Notices';

/** How often the file is looked at for changes of others. */
const LOOK_MS = 2000;

export function App() {
  const screen = useLocation((location) => location.screen);
  useServer();
  return (
    <div className="app">
      <Header />
      <Sidebar />
      <main className="main">
        {screen === 'graph' && <GraphScreen />}
        {screen === 'runs' && <RunsScreen />}
        {screen === 'workflows' && <WorkflowsScreen />}
        {screen === 'upstreams' && <UpstreamsScreen />}
      </main>
      <OpenDialog />
      <ConflictDialog />
      <Notices />
    </div>
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
      return <NewToolDialog onClose={close} />;
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
    const unfollow = followAll();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void useDocument.getState().look();
    }, LOOK_MS);
    return () => {
      unfollow();
      clearInterval(timer);
    };
  }, []);
  useEffect(() => {
    if (screen === 'graph') useRun.getState().open(run);
  }, [run, screen]);
  useEffect(() => {
    const { tool: shown, document, refresh } = useDocument.getState();
    const first = document?.tools[0]?.name;
    if (tool === null && first !== undefined && screen === 'graph') {
      useLocation.getState().go({ tool: first });
    } else if (tool !== null && document && shown?.name !== tool) refresh();
  }, [tool, screen]);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (isDirty(useDocument.getState())) event.preventDefault();
    };
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, []);
}
