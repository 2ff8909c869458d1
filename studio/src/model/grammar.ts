import type { GraphDefinition, GraphLink, NodeDefinition, NodeKind } from '../api/types';
import type { Connection } from './definition';
import * as tool from './definition';
import * as workflow from './workflow';

/** A way in which a node may lead to another, as people are asked for it. */
export interface Way {
  as: Connection;
  label: string;
  fits: (type: string) => boolean;
}

/**
 * How a kind of graph is written. Tools and workflows are edited by the same canvas and the same
 * forms; what differs is here.
 */
export interface Grammar {
  noun: 'tool' | 'workflow';
  /** The kinds of node that a person can add. */
  addable: NodeKind[];
  ways: Way[];
  /** A node as if it said everything itself. */
  said: (node: NodeDefinition) => NodeDefinition;
  setNode: (definition: GraphDefinition, node: NodeDefinition) => GraphDefinition;
  template: (definition: GraphDefinition, kind: NodeKind, server?: string) => NodeDefinition;
  addNode: (
    definition: GraphDefinition,
    node: NodeDefinition,
    after: string | null,
  ) => GraphDefinition;
  connect: (
    definition: GraphDefinition,
    from: string,
    to: string,
    as: Connection,
  ) => GraphDefinition;
  disconnect: (definition: GraphDefinition, link: GraphLink) => GraphDefinition;
  removeNode: (definition: GraphDefinition, id: string) => GraphDefinition;
}

const SWITCH_WAYS: Way[] = [
  { as: 'rule', label: 'if a new rule holds', fits: (type) => type === 'switch' },
  { as: 'otherwise', label: 'if no rule holds', fits: (type) => type === 'switch' },
];

export const TOOL: Grammar = {
  noun: 'tool',
  addable: [
    'transform',
    'mcp',
    'switch',
    'foreach',
    'parallel',
    'graph',
    'command',
    'ask',
    'wait',
    'entry',
    'exit',
  ],
  ways: [
    { as: 'next', label: 'next', fits: (type) => type !== 'switch' && type !== 'exit' },
    ...SWITCH_WAYS,
    { as: 'declined', label: 'if the person declines', fits: (type) => type === 'ask' },
    { as: 'unanswered', label: 'if nobody answers in time', fits: (type) => type === 'ask' },
    { as: 'error', label: 'if it fails', fits: (type) => type !== 'entry' && type !== 'exit' },
  ],
  said: (node) => node,
  setNode: tool.setNode,
  template: tool.template,
  addNode: tool.addNode,
  connect: tool.connect,
  disconnect: tool.disconnect,
  removeNode: tool.removeNode,
};

export const WORKFLOW: Grammar = {
  noun: 'workflow',
  addable: ['hook', 'transform', 'switch', 'start', 'mcp-call', 'end'],
  ways: [
    { as: 'next', label: 'next', fits: (type) => type !== 'switch' && type !== 'end' },
    ...SWITCH_WAYS,
  ],
  said: workflow.said,
  setNode: workflow.setNode,
  template: workflow.template,
  addNode: workflow.addNode,
  connect: workflow.connect,
  disconnect: workflow.disconnect,
  removeNode: workflow.removeNode,
};
