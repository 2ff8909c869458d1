import { expect, it } from 'vitest';
import type { Diagnostic, GraphDocument, GraphView, ToolSummary } from '../api/types';
import { faultyTools } from './problems';

const tools = ['a', 'b'].map((name) => ({ name }) as ToolSummary);
const error = (pointer: string, severity: Diagnostic['severity'] = 'error'): Diagnostic => ({
  code: 'MG0101',
  severity,
  message: 'it is wrong',
  pointer,
});
const document = (...diagnostics: Diagnostic[]): Pick<GraphDocument, 'tools' | 'report'> => ({
  tools,
  report: { diagnostics, errors: diagnostics.length, warnings: 0 },
});
const view = (name: string, pointer: string) => ({ name, pointer }) as GraphView;

it('tools with errors are known by their place in the file', () => {
  const broken = document(error('/tools/1/nodes/0'), error('/tools/0/nodes/0', 'warning'));
  expect([...faultyTools(broken, view('a', '/tools/0'))]).toEqual(['b']);
  expect([...faultyTools(document(error('/server')), null)]).toEqual([]);
});

it('places that are not those of the list say nothing', () => {
  const broken = document(error('/tools/1/nodes/0'));
  expect([...faultyTools(broken, view('b', '/tools/2'))]).toEqual([]);
});
