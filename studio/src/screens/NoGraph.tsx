import { TextPane } from '../edit/TextPane';
import { useDialogs } from '../state/dialogs';
import { useDocument } from '../state/document';
import { useLocation } from '../state/location';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';

/** There is no graph to show: why, and what to do about it. */
export function NoGraph() {
  const { document, failure, load } = useDocument();
  const tool = useLocation((location) => location.tool);
  const show = useDialogs((state) => state.show);
  if (failure) {
    return (
      <Empty title="The graph file cannot be shown">
        <p>{failure}</p>
        <Button onClick={() => void load()}>Try again</Button>
      </Empty>
    );
  }
  if (!document) return <Empty title="Reading the graph file…" />;
  if (!document.readable) {
    return (
      <div className="stage alone with-text">
        <Empty title="The file cannot be read as a graph">
          <p>Mend it in the text beside this; the graph appears as soon as it can be read.</p>
        </Empty>
        <TextPane />
      </div>
    );
  }
  if (document.tools.length > 0 && tool !== null) {
    return (
      <Empty title={`There is no tool ${tool}`}>
        <p>It may have been renamed or deleted. Choose another one on the left.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No tools yet">
      <p>
        A tool is a graph of nodes: it takes arguments, calls other tools, computes, and gives a
        result.
      </p>
      <Button icon="plus" look="primary" onClick={() => show({ name: 'newTool' })}>
        Make the first tool
      </Button>
      <p className="muted">Or write a commented example file and open it:</p>
      <pre>mcpgraph init example.yaml{'\n'}mcpgraph studio -g example.yaml</pre>
    </Empty>
  );
}
