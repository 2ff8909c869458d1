import type { GraphDefinition, JsonObject, UpstreamTool } from '../api/types';
import { fields } from './schema';

/** What a new tool is before anybody has filled it in. */
export function emptyTool(name: string): GraphDefinition {
  return {
    name,
    description: `What ${name} does`,
    inputSchema: { type: 'object', properties: {} },
    nodes: [
      { id: 'entry', type: 'entry', next: 'exit' },
      { id: 'exit', type: 'exit' },
    ],
  };
}

/** A tool that shows what a graph can do, and runs without any server. */
export function exampleTool(): GraphDefinition {
  const words = '$count($split($trim($.entry.text), /\\s+/))';
  return {
    name: 'describe_text',
    description: 'Counts the words of a text, and says whether it is long',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', description: 'Any text' } },
      required: ['text'],
    },
    nodes: [
      { id: 'entry', type: 'entry', next: 'words' },
      {
        id: 'words',
        type: 'transform',
        transform: { expr: `{ "count": ${words} }` },
        next: 'size',
      },
      {
        id: 'size',
        type: 'switch',
        conditions: [
          { rule: { '>': [{ var: 'words.count' }, 100] }, target: 'long' },
          { target: 'short' },
        ],
      },
      { id: 'long', type: 'transform', transform: { expr: described('long') }, next: 'exit' },
      { id: 'short', type: 'transform', transform: { expr: described('short') }, next: 'exit' },
      { id: 'exit', type: 'exit' },
    ],
  };
}

const described = (size: string): string =>
  `{ "words": $.words.count, "text": "This is a ${size} text." }`;

/** A tool that calls a tool of a server with its own arguments: the first step of something more. */
export function callingTool(name: string, server: string, called: UpstreamTool): GraphDefinition {
  const schema: JsonObject = called.inputSchema ?? { type: 'object', properties: {} };
  const args = Object.fromEntries(
    fields(schema).map((field) => [field.name, { expr: `$.entry.${quoted(field.name)}` }]),
  );
  return {
    name,
    description: called.description ?? `Calls ${called.name} of ${server}`,
    inputSchema: schema,
    nodes: [
      { id: 'entry', type: 'entry', next: 'call' },
      { id: 'call', type: 'mcp', server, tool: called.name, args, next: 'exit' },
      { id: 'exit', type: 'exit' },
    ],
  };
}

/** A name as expressions write it. */
const quoted = (name: string): string =>
  /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replaceAll('`', '')}\``;
