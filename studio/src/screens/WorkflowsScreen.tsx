import { useLocation } from '../state/location';
import { WorkflowList } from './WorkflowList';
import { WorkflowScreen } from './WorkflowScreen';

/** All workflows, or the one that the address names. */
export function WorkflowsScreen() {
  const id = useLocation((location) => location.tool);
  return id === null ? <WorkflowList /> : <WorkflowScreen id={id} />;
}
