import { useMemo, useState } from 'react';
import type { NodeKind } from '../api/types';
import { allNodes } from '../model/definition';
import { moment } from '../model/format';
import { summary } from '../model/kinds';
import { useDocument } from '../state/document';
import { useLocation } from '../state/location';
import { useRuns } from '../state/runs';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Icon, type IconName } from '../ui/Icon';

interface Hit {
  key: string;
  icon: IconName;
  kind?: NodeKind;
  label: string;
  detail: string;
  go: () => void;
}

const MAX_HITS = 40;

/** Finds nodes, tools and runs by what they are called. */
export function SearchDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [selected, setSelected] = useState(0);
  const all = useHits();
  const hits = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (hit: Hit) =>
      words.every((word) => `${hit.label} ${hit.detail}`.toLowerCase().includes(word));
    return all.filter(matches).slice(0, MAX_HITS);
  }, [all, text]);
  const choose = (hit: Hit | undefined) => {
    if (!hit) return;
    onClose();
    hit.go();
  };
  return (
    <Dialog title="Search" onClose={onClose}>
      <input
        autoFocus
        className="input"
        role="combobox"
        aria-label="Search for nodes, tools and runs"
        aria-expanded="true"
        aria-controls="hits"
        aria-activedescendant={hits[selected] ? `hit${selected}` : undefined}
        placeholder="A node, a tool, a run"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setSelected(0);
        }}
        onKeyDown={(event) => {
          const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
          if (by !== 0) {
            event.preventDefault();
            setSelected((at) => Math.max(0, Math.min(hits.length - 1, at + by)));
          } else if (event.key === 'Enter') choose(hits[selected]);
        }}
      />
      <div className="choices" id="hits" role="listbox" aria-label="What was found">
        {hits.map((hit, index) => (
          <button
            key={hit.key}
            id={`hit${index}`}
            type="button"
            role="option"
            aria-selected={index === selected}
            data-kind={hit.kind}
            onClick={() => choose(hit)}
          >
            <Icon name={hit.icon} />
            <span className="truncate">{hit.label}</span>
            <span className="muted truncate">{hit.detail}</span>
          </button>
        ))}
      </div>
      {hits.length === 0 && (
        <p className="row">
          <span className="muted">Nothing is called “{text}”.</span>
          <Button look="quiet" onClick={() => setText('')}>
            Clear
          </Button>
        </p>
      )}
    </Dialog>
  );
}

function useHits(): Hit[] {
  const view = useDocument((state) => state.tool);
  const tools = useDocument((state) => state.document?.tools);
  const open = useDocument((state) => state.open);
  const runs = useRuns((state) => state.recent);
  const go = useLocation((location) => location.go);
  return useMemo(() => {
    const nodes = allNodes(view?.definition.nodes ?? []).map(
      (node): Hit => ({
        key: `node ${node.id}`,
        icon: (node.type in KIND_ICONS ? node.type : 'invalid') as IconName,
        kind: node.type as NodeKind,
        label: node.id,
        detail: summary(node),
        go: () => go({ screen: 'graph', node: node.id }),
      }),
    );
    const named = (tools ?? []).map(
      (tool): Hit => ({
        key: `tool ${tool.name}`,
        icon: 'graph',
        label: tool.name,
        detail: tool.description ?? 'tool',
        go: () => void open(tool.name),
      }),
    );
    const recent = runs.map(
      (run): Hit => ({
        key: run.id,
        icon: 'clock',
        label: `${run.tool} ${moment(run.started)}`,
        detail: run.error ?? run.status,
        go: () =>
          go({ screen: 'graph', tool: run.tool, run: run.id, step: null, node: null }, 'push'),
      }),
    );
    return [...nodes, ...named, ...recent];
  }, [view, tools, runs, open, go]);
}

const KIND_ICONS = {
  entry: 1,
  exit: 1,
  transform: 1,
  switch: 1,
  mcp: 1,
  foreach: 1,
  parallel: 1,
  graph: 1,
};
