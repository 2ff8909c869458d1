import { useMemo, useState } from 'react';
import type { NodeKind } from '../api/types';
import { saidById } from '../canvas/flow';
import { moment } from '../model/format';
import { kindOf, summary } from '../model/kinds';
import { useDocument } from '../state/document';
import { useEditor } from '../state/editor';
import { useLocation } from '../state/location';
import { useProcedures } from '../state/procedures';
import { useRuns } from '../state/runs';
import { openRun } from '../state/subject';
import { useWorkflows } from '../state/workflows';
import { Button } from '../ui/Button';
import { Dialog } from '../ui/Dialog';
import { Icon, type IconName, kindIcon } from '../ui/Icon';

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
  const hasRun = useLocation((location) => location.run !== null);
  const hits = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (hit: Hit) =>
      words.every((word) => `${hit.label} ${hit.detail}`.toLowerCase().includes(word));
    const named = all.filter(matches).slice(0, MAX_HITS);
    return hasRun && text.trim() !== '' ? [inSteps(text), ...named] : named;
  }, [all, text, hasRun]);
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
        aria-label="Search for nodes, tools, workflows, procedures and runs"
        aria-expanded="true"
        aria-controls="hits"
        aria-activedescendant={hits[selected] ? `hit${selected}` : undefined}
        placeholder="A node, a tool, a workflow, a procedure, a run"
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

/** Marks the steps of the run that have what is looked for. */
function inSteps(text: string): Hit {
  const { filter, go } = useLocation.getState();
  return {
    key: 'steps',
    icon: 'search',
    label: text,
    detail: 'in the steps of this run: node, error code, text, or = expression',
    go: () => go({ filter: { ...filter, find: text } }),
  };
}

function useHits(): Hit[] {
  const { view, grammar } = useEditor();
  const tools = useDocument((state) => state.document?.tools);
  const inFile = useDocument((state) => state.document?.workflows);
  const stored = useWorkflows((state) => state.stored);
  const procedures = useProcedures((state) => state.procedures);
  const open = useDocument((state) => state.open);
  const runs = useRuns((state) => state.recent);
  const { screen, go } = useLocation();
  return useMemo(() => {
    const fresh = { run: null, step: null, node: null };
    const isGraph = screen === 'graph' || screen === 'workflows';
    const nodes = [...(view && isGraph ? saidById(view, grammar.said).values() : [])].map(
      (node): Hit => ({
        key: `node ${node.id}`,
        icon: kindIcon(kindOf(node.type)),
        kind: kindOf(node.type),
        label: node.id,
        detail: summary(node),
        go: () => go({ node: node.id }),
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
    const workflows = [...(inFile ?? []), ...(stored ?? [])].map(
      ({ id, name, description }): Hit => ({
        key: `workflow ${id}`,
        icon: 'hook',
        label: name,
        detail: description ?? 'workflow',
        go: () => go({ screen: 'workflows', tool: id, ...fresh }, 'push'),
      }),
    );
    const walked = (procedures ?? []).map(
      ({ agent, file }): Hit => ({
        key: `procedure ${agent}`,
        icon: 'task',
        label: agent,
        detail: `procedure, ${file}`,
        go: () => go({ screen: 'procedures', tool: agent, ...fresh }, 'push'),
      }),
    );
    const recent = runs.map(
      (run): Hit => ({
        key: run.id,
        icon: 'clock',
        label: `${run.tool} ${moment(run.started)}`,
        detail: run.error ?? run.status,
        go: () => openRun(run),
      }),
    );
    return [...nodes, ...named, ...workflows, ...walked, ...recent];
  }, [view, grammar, screen, tools, inFile, stored, procedures, runs, open, go]);
}
