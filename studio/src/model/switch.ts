import type { GraphLink, JsonObject, NodeDefinition } from '../api/types';
import { isObject } from './schema';

/**
 * Files say where a switch leads in one of two ways: by `target` in its conditions, the last of them
 * without a rule, or by `next` in its conditions and in itself. What is written one way stays so.
 */
export type Dialect = 'target' | 'next';

/** Where a switch leads: by its rules, and when none holds. */
export interface Ways {
  rules: JsonObject[];
  otherwise: string;
}

/** A rule that never holds: what nobody has filled in leads nowhere yet. */
export const NEVER: JsonObject = { rule: false };

export const conditionsOf = (node: NodeDefinition): JsonObject[] =>
  Array.isArray(node.conditions) ? node.conditions.filter(isObject) : [];

const isRule = (condition: JsonObject): boolean =>
  condition.rule !== undefined && condition.rule !== null;

/** Where a condition leads. */
export function targetOf(condition: JsonObject): string {
  const target = condition.target ?? condition.next;
  return typeof target === 'string' ? target : '';
}

/** The condition leading elsewhere, said as the other conditions of its switch say it. */
function leading(condition: JsonObject, to: string, usual: Dialect): JsonObject {
  const dialect = condition.next !== undefined ? 'next' : usual;
  return { ...condition, [condition.target !== undefined ? 'target' : dialect]: to };
}

/** How a switch is written; `usual` is for one that does not say it. */
function dialectOf(node: NodeDefinition, usual: Dialect): Dialect {
  const conditions = conditionsOf(node);
  if (conditions.some((condition) => condition.next !== undefined)) return 'next';
  if (conditions.some((condition) => condition.target !== undefined)) return 'target';
  return node.next === undefined ? usual : 'next';
}

/** How the switches among some nodes are written. */
export function usualDialect(nodes: NodeDefinition[]): Dialect {
  const dialects = nodes
    .filter((node) => node.type === 'switch' && conditionsOf(node).length > 0)
    .map((node) => dialectOf(node, 'target'));
  return dialects[0] ?? 'target';
}

export function waysOf(node: NodeDefinition): Ways {
  const conditions = conditionsOf(node);
  const plain = conditions.find((condition) => !isRule(condition));
  const next = typeof node.next === 'string' ? node.next : '';
  return { rules: conditions.filter(isRule), otherwise: plain ? targetOf(plain) : next };
}

/** The switch with other ways, where it said them before. */
export function withWays(
  node: NodeDefinition,
  { rules, otherwise }: Ways,
  usual: Dialect = 'target',
): NodeDefinition {
  const { next, ...rest } = node;
  const hasPlain = conditionsOf(node).some((condition) => !isRule(condition));
  // Its own `next` stands beside either kind of rule.
  const isOwn = !hasPlain && (next !== undefined || dialectOf(node, usual) === 'next');
  const last = otherwise && !isOwn ? [{ target: otherwise }] : [];
  const own = otherwise && isOwn ? { next: otherwise } : {};
  return { ...rest, ...own, conditions: [...rules, ...last] } as NodeDefinition;
}

/** A rule of a switch that leads elsewhere. */
export const ledBy = (node: NodeDefinition, rule: JsonObject, to: string): JsonObject =>
  leading(rule, to, dialectOf(node, 'target'));

/** The switch with a rule more, or with another way if none holds. */
export function connectSwitch(
  node: NodeDefinition,
  to: string,
  as: 'rule' | 'otherwise',
  usual: Dialect = 'target',
): NodeDefinition {
  const { rules, otherwise } = waysOf(node);
  if (as === 'otherwise') return withWays(node, { rules, otherwise: to }, usual);
  const added = leading(NEVER, to, dialectOf(node, usual));
  return withWays(node, { rules: [...rules, added], otherwise }, usual);
}

/** The switch without one of its ways. */
export function disconnectSwitch(node: NodeDefinition, link: GraphLink): NodeDefinition {
  const { rules, otherwise } = waysOf(node);
  if (link.kind !== 'case') return withWays(node, { rules, otherwise: '' });
  return withWays(node, { rules: rules.filter((_, index) => index !== link.index), otherwise });
}

/** The node with its rules leading elsewhere than to `id`; without those that lead nowhere then. */
export function redirectSwitch(
  node: NodeDefinition,
  id: string,
  onwards: string | undefined,
): NodeDefinition {
  if (!Array.isArray(node.conditions)) return node;
  const conditions = conditionsOf(node)
    .map((condition) =>
      targetOf(condition) === id && onwards ? leading(condition, onwards, 'target') : condition,
    )
    .filter((condition) => targetOf(condition) !== id);
  return { ...node, conditions };
}

/** Where a new rule may lead without doing harm: where the switch leads anyway, or to what follows. */
export function harmless(node: NodeDefinition, siblings: NodeDefinition[]): string | undefined {
  const { otherwise } = waysOf(node);
  if (otherwise) return otherwise;
  const at = siblings.findIndex(({ id }) => id === node.id);
  const others = [...siblings.slice(at + 1), ...siblings.slice(0, Math.max(at, 0))];
  return others.find(({ type }) => type !== 'entry' && type !== 'start')?.id;
}
