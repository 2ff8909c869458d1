/** What the server answers, as far as the studio reads it. */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export interface Diagnostic {
  code: string;
  severity: 'error' | 'warning';
  message: string;
  hint?: string;
  pointer?: string;
  /** From 1, in characters; the end is the first place behind. */
  line?: number;
  column?: number;
  endLine?: number;
  endColumn?: number;
}

export interface Report {
  diagnostics: Diagnostic[];
  errors: number;
  warnings: number;
}

export interface ToolSummary {
  name: string;
  title: string | null;
  description: string | null;
  inputSchema: JsonObject;
  nodes: number;
}

export interface ServerRef {
  name: string;
  disabled: boolean;
}

export interface GraphDocument {
  file: string;
  etag: string;
  text: string;
  valid: boolean;
  readable: boolean;
  server?: { name: string; title: string };
  report: Report;
  tools: ToolSummary[];
  servers: ServerRef[];
}

export type NodeKind =
  | 'entry'
  | 'exit'
  | 'transform'
  | 'switch'
  | 'mcp'
  | 'foreach'
  | 'parallel'
  | 'graph'
  | 'branch'
  | 'invalid';

export interface PlacedNode {
  key: string;
  id: string;
  kind: NodeKind;
  inside: string | null;
  x: number;
  y: number;
  width: number;
  height: number;
}

export type LinkKind = 'next' | 'case' | 'otherwise' | 'error';

export interface GraphLink {
  from: string;
  to: string;
  kind: LinkKind;
  back: boolean;
  bends: [number, number][];
  index?: number;
  rule?: Json;
}

/** A node as the file writes it. */
export type NodeDefinition = JsonObject & { id: string; type: string };

export type ToolDefinition = JsonObject & { name: string; nodes: NodeDefinition[] };

export interface ToolView {
  name: string;
  pointer: string;
  definition: ToolDefinition;
  nodes: PlacedNode[];
  links: GraphLink[];
}

export type Draft = GraphDocument & { tool?: ToolView | null };

export type Edit =
  | { op: 'add'; definition: ToolDefinition }
  | { op: 'set'; tool: string; definition: ToolDefinition }
  | { op: 'delete'; tool: string }
  | { op: 'rename'; tool: string; node: string; to: string };

export type RunStatus = 'running' | 'succeeded' | 'failed' | 'cancelled' | 'interrupted';

export interface RunSummary {
  id: string;
  tool: string;
  status: RunStatus;
  started: string;
  durationMs: number;
  steps: number;
  events: number;
  error?: string;
  reached?: { step: number; node: string };
  origin: { face: string; parent?: { run: string; from: number } };
  children?: string[];
}

export interface RunError {
  code: string;
  kind: string;
  message?: string;
  messageShort?: Short;
  node?: string;
  data?: Json;
}

/** A payload that is too long to be sent with its event, or to be kept at all. */
export interface Short {
  preview: string;
  size: number;
}

interface Timed {
  seq: number;
  atMs: number;
}

export type RunEvent = Timed &
  (
    | { type: 'started'; tool: string; input?: Json; inputShort?: Short; inputTruncated?: Short }
    | {
        type: 'stepStarted';
        step: number;
        path: string;
        node: string;
        kind: NodeKind;
        beganMs: number;
        input?: Json;
      }
    | {
        type: 'stepFinished';
        step: number;
        edge: string | null;
        output?: Json;
        outputShort?: Short;
        outputTruncated?: Short;
      }
    | { type: 'stepFailed'; step: number; edge: string | null; error: RunError }
    | { type: 'retrying'; step: number; attempt: number; delayMs: number; error: RunError }
    | { type: 'paused'; why: string; node?: string }
    | { type: 'resumed'; waitedMs: number }
    | { type: 'outputChanged'; node: string; output?: Json }
    | { type: 'log'; step?: number; level: string; message?: string }
    | {
        type: 'finished';
        result?: Json;
        resultShort?: Short;
        resultTruncated?: Short;
        error?: RunError;
      }
  );

export interface StepRecord {
  step: number;
  path: string;
  node: string;
  kind: NodeKind;
  beganMs: number;
  durationMs?: number;
  input?: Json;
  inputTruncated?: Short;
  output?: Json;
  outputTruncated?: Short;
  error?: RunError;
  edge?: string | null;
}

export interface DebugState {
  state: 'running' | 'paused' | 'ended';
  why?: 'asked' | 'stepped' | 'before' | 'after';
  node?: string;
  next?: { node: string };
}

export interface Breakpoint {
  node: string;
  when: 'before' | 'after';
  condition?: Json;
  hits?: number;
}

export interface ForkRequest {
  from?: number;
  changes?: JsonObject;
  arguments?: JsonObject;
  paused?: boolean;
  breakpoints?: Breakpoint[];
}

export interface ForkEffects {
  kept: number;
  calls: { server: string; tool: string; readOnly: boolean | null }[];
}

export interface Upstream {
  name: string;
  state: 'idle' | 'starting' | 'ready' | 'resting';
  failure: string | null;
  stderr: string | null;
}

export interface UpstreamTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema?: JsonObject;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean };
}

export interface ExpressionResult {
  undefined?: boolean;
  result?: Json;
  holds?: boolean;
  error?: { message: string; code?: string; suggestion?: string; position?: number };
}

export interface WorkflowSummary {
  id: string;
  name: string;
  workflowType: string;
  enabled: boolean;
  priority: number;
  match?: Json;
}

export interface WorkflowTemplate {
  name: string;
  definition: Json;
}
