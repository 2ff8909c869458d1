import { useCallback, useEffect, useState } from 'react';
import { api, messageOf } from '../api/client';
import type { ServerRef, Upstream, UpstreamTool } from '../api/types';
import { plural } from '../model/format';
import { useDocument } from '../state/document';
import { useKeys } from '../state/keys';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';
import { Icon, type IconName } from '../ui/Icon';

const STATES: Record<Upstream['state'], { tone: string; word: string; icon: IconName }> = {
  idle: { tone: '', word: 'starts when needed', icon: 'clock' },
  starting: { tone: 'busy', word: 'starting', icon: 'play' },
  ready: { tone: 'good', word: 'running', icon: 'check' },
  resting: { tone: 'bad', word: 'left alone for a while', icon: 'warning' },
};

/** How often the servers are looked at. */
const LOOK_MS = 2000;

const NONE: ServerRef[] = [];

/** The servers that the graph calls: whether they run, what they offer, why they failed. */
export function UpstreamsScreen() {
  const [servers, setServers] = useState<Upstream[] | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const known = useDocument((state) => state.document?.servers ?? NONE);
  useKeys({ editor: null });
  const look = useCallback(async () => {
    try {
      setServers((await api.upstreams()).servers);
      setFailure(null);
    } catch (error) {
      setFailure(messageOf(error));
    }
  }, []);
  useEffect(() => {
    void look();
    const timer = setInterval(() => document.visibilityState === 'visible' && void look(), LOOK_MS);
    return () => clearInterval(timer);
  }, [look]);
  const disabled = known.filter((server) => server.disabled);
  return (
    <div className="page">
      <div className="page-head">
        <h1>Upstreams</h1>
        <span className="muted">The MCP servers that graphs call</span>
      </div>
      <div className="page-body">
        {failure && <p className="callout bad">{failure}</p>}
        {servers?.length === 0 && disabled.length === 0 && (
          <Empty title="No upstream servers">
            <p>
              A graph that calls tools of other MCP servers names them in its file, or in an
              mcp.json given with -m:
            </p>
            <pre>
              {
                'mcpServers:\n  files:\n    command: npx\n    args: ["-y", "@modelcontextprotocol/server-filesystem", "."]'
              }
            </pre>
          </Empty>
        )}
        <div className="servers">
          {servers?.map((server) => (
            <Server
              key={server.name}
              server={server}
              starts={known.find(({ name }) => name === server.name)?.starts ?? null}
              onChange={look}
            />
          ))}
          {disabled.map((server) => (
            <article key={server.name} className="server" aria-label={server.name}>
              <div className="row">
                <h2 className="truncate">{server.name}</h2>
                <span className="spread" />
                <span className="chip">disabled</span>
              </div>
              <p className="muted">The file says that it is not to be used.</p>
            </article>
          ))}
        </div>
      </div>
    </div>
  );
}

interface ServerProps {
  server: Upstream;
  starts: string | null;
  onChange: () => Promise<void>;
}

function Server({ server, starts, onChange }: ServerProps) {
  const [tools, setTools] = useState<UpstreamTool[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const ask = useCallback(async () => {
    setBusy(true);
    try {
      setTools((await api.upstreamTools(server.name)).tools);
      setError(null);
    } catch (problem) {
      setTools(null);
      setError(messageOf(problem));
    } finally {
      setBusy(false);
      await onChange();
    }
  }, [server.name, onChange]);
  useEffect(() => {
    if (server.state === 'ready') void ask();
  }, [server.state, ask]);
  const state = STATES[server.state];
  const isDown = error !== null || (server.failure !== null && server.state !== 'ready');
  return (
    <article className="server" aria-label={server.name}>
      <div className="row">
        <h2 className="truncate">{server.name}</h2>
        <span className="spread" />
        <span className={`chip ${isDown && server.state === 'idle' ? 'bad' : state.tone}`}>
          <Icon name={isDown && server.state === 'idle' ? 'cross' : state.icon} />
          {isDown && server.state === 'idle' ? 'failed' : state.word}
        </span>
      </div>
      {starts && (
        <code className="truncate" title={starts}>
          {starts}
        </code>
      )}
      {(error ?? server.failure) && (
        <div className={`callout ${isDown ? 'bad' : ''}`}>
          <strong>{isDown ? 'It does not answer' : 'It failed earlier'}</strong>
          <span className="plain">{error ?? server.failure}</span>
        </div>
      )}
      {server.stderr && (
        <details open={isDown}>
          <summary>What it wrote to stderr</summary>
          <pre tabIndex={0}>{server.stderr}</pre>
        </details>
      )}
      {tools ? (
        <details open>
          <summary>{plural(tools.length, 'tool')}</summary>
          <ul tabIndex={0} aria-label={`Tools of ${server.name}`}>
            {tools.map((tool) => (
              <li key={tool.name}>
                <span className="row">
                  <code className="truncate">{tool.name}</code>
                  {tool.annotations?.readOnlyHint && <span className="chip good">only reads</span>}
                  {tool.annotations?.destructiveHint && (
                    <span className="chip warn">may destroy</span>
                  )}
                </span>
                {tool.description && <span className="muted truncate">{tool.description}</span>}
              </li>
            ))}
          </ul>
        </details>
      ) : (
        <div className="row">
          <Button disabled={isBusy} onClick={() => void ask()}>
            {isBusy ? 'Starting…' : isDown ? 'Retry' : 'Start and list its tools'}
          </Button>
        </div>
      )}
    </article>
  );
}
