import { exampleTool } from '../model/starters';
import { useDialogs } from '../state/dialogs';
import { useDocument } from '../state/document';
import { useEditor } from '../state/editor';
import { useLocation } from '../state/location';
import { usePreferences } from '../state/preferences';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';

/** There is no graph to show: why, and what to do about it. */
export function NoGraph() {
  const { document, failure, load } = useDocument();
  const tool = useLocation((location) => location.tool);
  const { isReadable } = useEditor();
  if (failure) {
    return (
      <Empty title="The graph file cannot be shown">
        <p>{failure}</p>
        <Button onClick={() => void load()}>Try again</Button>
      </Empty>
    );
  }
  if (!document) return <Empty title="Reading the graph file…" />;
  if (!isReadable) return <Unreadable />;
  if (document.tools.length > 0 && tool !== null) {
    return (
      <Empty title={`There is no tool ${tool}`}>
        <p>It may have been renamed or deleted. Choose another one on the left.</p>
      </Empty>
    );
  }
  return <NoTools />;
}

/** The text beside this has to be mended. */
export function Unreadable() {
  const { language } = useEditor();
  const subject = language === 'yaml' ? 'file' : 'text';
  return (
    <Empty title={`The ${subject} cannot be read as a graph`}>
      <p>Mend it in the text beside this; the graph appears as soon as it can be read.</p>
    </Empty>
  );
}

/** The ways to a first tool. */
function NoTools() {
  const show = useDialogs((state) => state.show);
  const edit = useDocument((state) => state.edit);
  const servers = useDocument((state) => state.document?.servers ?? NONE);
  const { showsText, set } = usePreferences();
  const hasServer = servers.some((server) => !server.disabled);
  return (
    <Empty title="No tools yet">
      <p>
        A tool is a graph of nodes: it takes arguments, calls other tools, computes, and gives a
        result.
      </p>
      <Button icon="plus" look="primary" onClick={() => show({ name: 'newTool' })}>
        Make the first tool
      </Button>
      <div className="cards">
        <button type="button" onClick={() => void edit({ op: 'add', definition: exampleTool() })}>
          <strong>Start with an example</strong>
          <span className="muted">A small tool with a decision, to be run and changed</span>
        </button>
        <button
          type="button"
          disabled={!hasServer}
          onClick={() => show({ name: 'newTool', calls: true })}
        >
          <strong>Start with a server’s tool</strong>
          <span className="muted">
            {hasServer
              ? 'A tool that calls it, with the same arguments'
              : 'The file names no server under mcpServers yet'}
          </span>
        </button>
        <button
          type="button"
          aria-pressed={showsText}
          onClick={() => set({ showsText: !showsText })}
        >
          <strong>Write or paste YAML</strong>
          <span className="muted">The text of the file, beside what it says</span>
        </button>
      </div>
      <p className="muted">Or write a commented example file and open it:</p>
      <pre>mcpgraph init example.yaml{'\n'}mcpgraph studio -g example.yaml</pre>
    </Empty>
  );
}

const NONE: never[] = [];
