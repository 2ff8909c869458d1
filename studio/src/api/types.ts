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
  /** The place in the text that the pointer names, for whoever edits nothing but that. */
  within?: Required<Pick<Diagnostic, 'line' | 'column' | 'endLine' | 'endColumn'>>;
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
  /** The command or the address, as the file writes it; none of a server of another file. */
  starts: string | null;
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
  /** The workflows of the file; those of the store are elsewhere. */
  workflows: WorkflowSummary[];
  /** The scripts of the file that hooks share. */
  hookModules: { name: string; usedBy: string[] }[];
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
  | 'command'
  | 'ask'
  | 'wait'
  | 'branch'
  | 'start'
  | 'end'
  | 'mcp-call'
  | 'hook'
  | 'task'
  | 'decision'
  | 'todo'
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
  /** Whether somebody put it there. */
  pinned: boolean;
}

export type LinkKind =
  | 'next'
  | 'case'
  | 'otherwise'
  | 'error'
  | 'declined'
  | 'unanswered'
  | 'worded';

export interface GraphLink {
  from: string;
  to: string;
  kind: LinkKind;
  back: boolean;
  bends: [number, number][];
  index?: number;
  rule?: Json;
  /** The condition of a link of a procedure, in words. */
  text?: string;
}

/** A node as the file writes it. */
export type NodeDefinition = JsonObject & { id: string; type: string };

/** A tool, a workflow or a procedure. A tool that is one command has no nodes. */
export type GraphDefinition = JsonObject & { name: string; nodes?: NodeDefinition[] };

export interface GraphView {
  name: string;
  pointer: string;
  definition: GraphDefinition;
  nodes: PlacedNode[];
  links: GraphLink[];
}

export type Draft = GraphDocument & { view?: GraphView | null };

/** What an edit of the file is about, by name. */
export type Subject = { tool: string } | { workflow: string };

export type Edit =
  | { op: 'add'; definition: GraphDefinition }
  | (Subject &
      (
        | { op: 'set'; definition: GraphDefinition }
        | { op: 'delete' }
        | { op: 'rename'; node: string; to: string }
      ));

/** A workflow of the store while it is edited. */
export interface WorkflowDraft {
  text: string;
  readable: boolean;
  definition: GraphDefinition | null;
  report: Report;
  view: GraphView | null;
}

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

export type RequestStatus = 'ok' | 'tool-error' | 'error' | 'cancelled';

/** A request of a client, as the log has it. */
export interface LoggedRequest {
  id: number;
  time: string;
  method: string;
  name?: string;
  server?: string;
  status: RequestStatus;
  code?: number;
  durationMs: number;
  token?: { id: string; name: string | null };
  client?: string;
  run?: string;
}

/** What a run asks a person. */
export interface Question {
  id: string;
  run: string;
  tool: string;
  node: string;
  message: string;
  schema: JsonObject;
  caller?: string;
  askedAt: string;
  expiresAt: string;
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
    | { type: 'outputChanged'; node: string; output?: Json; outputShort?: Short }
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
  /** What is long is left out until somebody opens it. */
  inputShort?: Short;
  /** What is longer than the record keeps is not there at all. */
  inputTruncated?: Short;
  output?: Json;
  outputShort?: Short;
  outputTruncated?: Short;
  error?: RunError;
  edge?: string | null;
}

export interface DebugState {
  state: 'running' | 'paused' | 'ended';
  why?: 'asked' | 'stepped' | 'before' | 'after';
  node?: string;
  next?: { node: string };
  /** What the node failed with after which the run stands still. */
  error?: RunError;
  /** Why the condition of the breakpoint could not be decided. */
  problem?: string;
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
  /** Whether what is kept has masks where the run had secrets. */
  masked: boolean;
  /** What could not be compared with the record. */
  note?: string;
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
  match?: JsonObject | null;
  description?: string | null;
}

export interface HookModule {
  id: string;
  name: string;
  script: string;
  usedBy: string[];
}

export interface ProcedureSummary {
  agent: string;
  version: string | null;
  file: string;
  nodes: number;
  enforce: boolean;
}

/** A node of a procedure. */
export interface ProcedureNode {
  id: string;
  type: NodeKind;
  description: string;
  prompt: string | null;
  tools: string[];
  examples: Json;
  edges: { to: string; condition: string | null; guard: string | null }[];
  isHub: boolean;
}

export type ProcedureView = GraphView & { about: ProcedureSummary; systemPrompt: string };

export interface Todo {
  content: string;
  status: 'pending' | 'in_progress' | 'completed';
  note?: string;
  completion_node?: string;
}

/** Where a walk is, or was. */
export interface Walk {
  mode: 'lenient' | 'strict' | 'enforced';
  path: string[];
  current: string | null;
  next: string[];
  tools: string[];
  todos: Todo[];
}

export interface WorkflowTemplate {
  name: string;
  description: string;
  definition: GraphDefinition;
}
