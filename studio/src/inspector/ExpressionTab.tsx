import { useEffect, useState } from 'react';
import { api, messageOf } from '../api/client';
import type { ExpressionResult, Json, NodeDefinition } from '../api/types';
import { Code } from '../code/Code';
import { findNode } from '../model/definition';
import { compact } from '../model/format';
import { expressionOf } from '../model/kinds';
import { parseJson } from '../model/schema';
import { useEditor, useNodeChange } from '../state/editor';
import { useFetched } from '../state/fetched';
import { useLocation } from '../state/location';
import { notify } from '../state/notices';
import { useRun } from '../state/run';
import { Button } from '../ui/Button';
import { JsonView } from '../ui/JsonView';

/** How long typing rests before the expression is evaluated. */
const SETTLE_MS = 200;

type Language = 'jsonata' | 'jsonlogic';

/** An expression on what this very step saw, with its result as one types. */
export function ExpressionTab({ run, step }: { run: string; step: number }) {
  const id = useRun((state) => state.model.steps[step]?.node ?? '');
  const { view, grammar } = useEditor();
  const change = useNodeChange(id);
  const definition = view?.definition;
  const found = definition && findNode(definition, id);
  const node = found && grammar.said(found);
  const [language, setLanguage] = useState<Language>(
    node?.type === 'switch' ? 'jsonlogic' : 'jsonata',
  );
  const [text, setText] = useState(() => initial(node, language));
  const context = useFetched(`${run} ${step}`, () => api.context(run, step));
  const result = useResult(run, step, language, text);
  const names = Object.keys(context.value ?? {}).map((name) => ({
    label: `$.${name}`,
    detail: 'context',
  }));
  const canApply = node !== undefined && language === 'jsonata' && expressionOf(node) !== null;

  const apply = async () => {
    if (!node) return;
    if (await change((changed) => withExpression(changed, text))) {
      useLocation.getState().go({ run: null, step: null, node: id }, 'push');
      notify('info', `The expression of ${id} was changed; save to keep it`);
    }
  };
  return (
    <div className="stack">
      <div className="segmented" role="group" aria-label="Language">
        {(['jsonata', 'jsonlogic'] as const).map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={language === name}
            onClick={() => setLanguage(name)}
          >
            {name === 'jsonata' ? 'JSONata' : 'JSON Logic'}
          </button>
        ))}
      </div>
      <Code
        key={language}
        label="Expression"
        language={language === 'jsonata' ? 'jsonata' : 'json'}
        text={text}
        names={names}
        height="150px"
        onChange={setText}
      />
      <Result result={result} />
      <div className="row">
        <Button
          disabled={!canApply}
          title={
            canApply
              ? `Puts it into ${id}, to be saved`
              : 'Only a transform or the items of a loop can take it'
          }
          onClick={() => void apply()}
        >
          Apply to {id}
        </Button>
      </div>
    </div>
  );
}

function Result({ result }: { result: ExpressionResult | null }) {
  if (!result) return null;
  if (result.error) {
    return (
      <div className="callout bad">
        <strong>{result.error.message}</strong>
        {result.error.suggestion && <span className="plain">{result.error.suggestion}</span>}
      </div>
    );
  }
  return (
    <section className="payload" aria-label="Result">
      <h3>
        Result
        {result.holds === undefined ? '' : result.holds ? ', which holds' : ', which does not hold'}
      </h3>
      <div className="payload-body" tabIndex={0} role="group" aria-label="Result, value">
        {result.undefined ? (
          <p className="muted">Nothing: the expression has no result here.</p>
        ) : (
          <JsonView value={result.result ?? null} />
        )}
      </div>
    </section>
  );
}

function useResult(
  run: string,
  step: number,
  language: Language,
  text: string,
): ExpressionResult | null {
  const [result, setResult] = useState<ExpressionResult | null>(null);
  useEffect(() => {
    let isGone = false;
    const timer = setTimeout(async () => {
      const parsed = language === 'jsonata' ? { value: text as Json } : parseJson(text);
      if ('error' in parsed) {
        setResult({ error: { message: parsed.error } });
        return;
      }
      const request = { language, expression: parsed.value, run, step };
      const answer = await api.testExpression(request).catch((error: unknown) => ({
        error: { message: messageOf(error) },
      }));
      if (!isGone) setResult(answer);
    }, SETTLE_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [run, step, language, text]);
  return result;
}

function initial(node: NodeDefinition | undefined, language: Language): string {
  if (language === 'jsonata') return (node && expressionOf(node)) ?? '$';
  const conditions = node && Array.isArray(node.conditions) ? node.conditions : [];
  const first = conditions[0];
  const rule =
    typeof first === 'object' && first !== null && !Array.isArray(first) ? first.rule : undefined;
  return compact(rule ?? { '==': [1, 1] });
}

function withExpression(node: NodeDefinition, text: string): NodeDefinition {
  if (node.type !== 'foreach') return { ...node, transform: { expr: text } };
  return { ...node, items: typeof node.items === 'string' ? text : { expr: text } };
}
