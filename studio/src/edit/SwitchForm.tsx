import { useState } from 'react';
import type { Json, JsonObject, NodeDefinition } from '../api/types';
import type { Names } from '../model/changes';
import { siblings } from '../model/definition';
import { compact } from '../model/format';
import { ruleText } from '../model/rule';
import { parseJson } from '../model/schema';
import { harmless, ledBy, NEVER, targetOf, type Ways, waysOf, withWays } from '../model/switch';
import { type NodeChange, useEditor } from '../state/editor';
import { Button } from '../ui/Button';
import { ChoiceField, CodeField } from './Controls';
import { variablesOf } from './names';
import { useMarks } from './useMarks';

interface Props {
  node: NodeDefinition;
  targets: string[];
  onChange: (change: NodeChange) => void;
}

/** The rules of a switch in their order, and where it goes when none holds. */
export function SwitchForm({ node, targets, onChange }: Props) {
  const { rules, otherwise } = waysOf(node);
  const { view } = useEditor();
  type Write = (ways: Ways, now: Names, changed: NodeDefinition) => Partial<Ways>;
  const write = (change: Write) =>
    onChange((changed, now) => {
      const ways = waysOf(changed);
      return withWays(changed, { ...ways, ...change(ways, now, changed) });
    });
  const replace = (at: number, change: (rule: JsonObject, of: Changed) => JsonObject) =>
    write(({ rules }, now, node) => ({
      rules: rules.map((rule, index) => (index === at ? change(rule, { now, node }) : rule)),
    }));
  const swap = (at: number) =>
    write(({ rules }) => {
      const moved = [...rules];
      const [rule] = moved.splice(at, 1);
      if (rule) moved.splice(at - 1, 0, rule);
      return { rules: moved };
    });
  const add = () =>
    write(({ rules }, now, changed) => {
      const target = harmless(node, view ? siblings(view.definition, node.id) : []);
      return { rules: [...rules, ledBy(changed, NEVER, target ? now(target) : '')] };
    });
  const remove = (at: number) =>
    write(({ rules }) => ({ rules: rules.filter((_, index) => index !== at) }));
  return (
    <div className="stack">
      <div className="row">
        <h3>Rules</h3>
        <span className="spread" />
        <Button icon="plus" look="quiet" onClick={add}>
          Add a rule
        </Button>
      </div>
      {rules.map((rule, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a rule is its place
          key={index}
          className="rule-item"
        >
          <div className="row">
            <span className="muted">{index + 1}</span>
            <code className="truncate">{ruleText(rule.rule)}</code>
            <span className="spread" />
            <Button
              look="quiet"
              disabled={index === 0}
              title={`Move rule ${index + 1} up`}
              onClick={() => swap(index)}
            >
              ↑
            </Button>
            <Button
              icon="trash"
              look="quiet"
              title={`Remove rule ${index + 1}`}
              onClick={() => remove(index)}
            />
          </div>
          <RuleEditor
            node={node.id}
            rule={rule.rule ?? null}
            number={index + 1}
            onChange={(value) => replace(index, (rule) => ({ ...rule, rule: value }))}
          />
          <ChoiceField
            label="goes to"
            value={targetOf(rule)}
            choices={targets}
            onChoose={(target) =>
              target && replace(index, (rule, { now, node }) => ledBy(node, rule, now(target)))
            }
          />
        </div>
      ))}
      <ChoiceField
        label="Otherwise"
        value={otherwise}
        choices={targets}
        none="nowhere"
        onChoose={(target) => write((_, now) => ({ otherwise: target ? now(target) : '' }))}
      />
    </div>
  );
}

/** A switch as it is when its turn has come. */
interface Changed {
  node: NodeDefinition;
  now: Names;
}

interface RuleProps {
  node: string;
  rule: Json;
  number: number;
  onChange: (rule: Json) => void;
}

function RuleEditor({ node, rule, number, onChange }: RuleProps) {
  const [error, setError] = useState<string | null>(null);
  const { view, grammar } = useEditor();
  const marks = useMarks(node, `/conditions/${number - 1}/rule`, compact(rule));
  return (
    <>
      <CodeField
        label={`Rule ${number}, in JSON Logic`}
        language="json"
        height="96px"
        marks={marks}
        names={view ? variablesOf(view.definition, grammar.noun) : undefined}
        value={compact(rule)}
        onCommit={(text) => {
          const parsed = parseJson(text);
          setError('error' in parsed ? parsed.error : null);
          if ('error' in parsed) return false;
          onChange(parsed.value);
          return true;
        }}
      />
      {error && <p className="callout bad">{error}</p>}
    </>
  );
}
