import { useLocation } from '../state/location';
import { ModuleScreen } from './ModuleScreen';
import { WorkflowList } from './WorkflowList';
import { WorkflowScreen } from './WorkflowScreen';

/** All workflows and modules, or the one that the address names. */
export function WorkflowsScreen() {
  const { screen, tool: id } = useLocation();
  if (id === null) return <WorkflowList />;
  return screen === 'modules' ? <ModuleScreen id={id} /> : <WorkflowScreen id={id} />;
}
