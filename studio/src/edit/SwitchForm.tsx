import { useState } from 'react';
import type { Json, JsonObject, NodeDefinition } from '../api/types';
import { compact } from '../model/format';
import { ruleText } from '../model/rule';
import { parseJson } from '../model/schema';
import { useEditor } from '../state/editor';
import { Button } from '../ui/Button';
import { ChoiceField, CodeField } from './Controls';
import { variablesOf } from './names';
import { useMarks } from './useMarks';

interface Props {
  node: NodeDefinition;
  targets: string[];
  onChange: (node: NodeDefinition) => void;
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The rules of a switch in their order, and where it goes when none holds. */
export function SwitchForm({ node, targets, onChange }: Props) {
  const conditions = (Array.isArray(node.conditions) ? node.conditions : []).filter(isObject);
  const rules = conditions.filter((condition) => condition.rule !== undefined);
  const plain = conditions.find((condition) => condition.rule === undefined)?.target;
  const otherwise =
    typeof plain === 'string' ? plain : typeof node.next === 'string' ? node.next : '';
  const write = (kept: JsonObject[], target: string | undefined) => {
    const { next: _, ...rest } = node;
    const changed = { ...rest, conditions: [...kept, ...(target ? [{ target }] : [])] };
    onChange(changed as NodeDefinition);
  };
  const replace = (at: number, rule: JsonObject) =>
    write(
      rules.map((known, index) => (index === at ? rule : known)),
      otherwise,
    );
  const swap = (at: number) => {
    const moved = [...rules];
    const [rule] = moved.splice(at, 1);
    if (rule) moved.splice(at - 1, 0, rule);
    write(moved, otherwise);
  };
  return (
    <div className="stack">
      <div className="row">
        <h3>Rules</h3>
        <span className="spread" />
        <Button
          icon="plus"
          look="quiet"
          onClick={() =>
            write([...rules, { rule: { '==': [1, 1] }, target: targets[0] ?? '' }], otherwise)
          }
        >
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
              onClick={() =>
                write(
                  rules.filter((_, at) => at !== index),
                  otherwise,
                )
              }
            />
          </div>
          <RuleEditor
            node={node.id}
            rule={rule.rule ?? null}
            number={index + 1}
            onChange={(value) => replace(index, { ...rule, rule: value })}
          />
          <ChoiceField
            label="goes to"
            value={typeof rule.target === 'string' ? rule.target : ''}
            choices={targets}
            onChoose={(target) => target && replace(index, { ...rule, target })}
          />
        </div>
      ))}
      <ChoiceField
        label="Otherwise"
        value={otherwise}
        choices={targets}
        none="nowhere"
        onChoose={(target) => write(rules, target)}
      />
    </div>
  );
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
          if ('value' in parsed && JSON.stringify(parsed.value) !== JSON.stringify(rule))
            onChange(parsed.value);
        }}
      />
      {error && <p className="callout bad">{error}</p>}
    </>
  );
}
