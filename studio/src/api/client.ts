import type {
  Breakpoint,
  DebugState,
  Draft,
  Edit,
  ExpressionResult,
  ForkEffects,
  ForkRequest,
  GraphDefinition,
  GraphDocument,
  HookModule,
  Json,
  JsonObject,
  LoggedRequest,
  ProcedureSummary,
  ProcedureView,
  Question,
  Report,
  RequestStatus,
  RunStatus,
  RunSummary,
  StepRecord,
  Subject,
  Upstream,
  UpstreamTool,
  Walk,
  WorkflowDraft,
  WorkflowSummary,
  WorkflowTemplate,
} from './types';

/** A request that was not answered as asked. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  /** What else the server says about it. */
  readonly details: ProblemDetails;

  constructor(status: number, details: ProblemDetails) {
    super(details.message);
    this.status = status;
    this.code = details.code;
    this.details = details;
  }
}

/** What to say about something that went wrong. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

export interface ProblemDetails {
  code: string;
  message: string;
  etag?: string;
  text?: string;
  diff?: string;
  report?: Report;
  /** The node of a breakpoint that no run comes to. */
  breakpoint?: string;
}

const UNREACHABLE: ProblemDetails = {
  code: 'unreachable',
  message: 'The server cannot be reached. It may have been stopped.',
};

async function send<T>(method: string, path: string, body?: unknown, etag?: string): Promise<T> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (etag !== undefined) headers['If-Match'] = `"${etag}"`;
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch {
    throw new Problem(0, UNREACHABLE);
  }
  const answer: unknown = await response.json().catch(() => null);
  if (!response.ok) {
    const error = (answer as { error?: ProblemDetails } | null)?.error;
    const message = `The server answered ${response.status}.`;
    throw new Problem(response.status, error ?? { code: 'unknown', message });
  }
  return answer as T;
}

/** What is longer is fetched when somebody opens it. */
export const LONG_BYTES = 200_000;

const get = <T>(path: string) => send<T>('GET', path);
const post = <T>(path: string, body: unknown = {}) => send<T>('POST', path, body);
const part = encodeURIComponent;

/** What to look for among the runs; all of it is in the address. */
export interface RunFilter {
  tool?: string;
  status?: RunStatus;
  text?: string;
  slowerThan?: number;
  since?: number;
}

/** What to look for among the requests; all of it is in the address. */
export interface RequestFilter {
  tool?: string;
  method?: string;
  status?: RequestStatus;
  server?: string;
  token?: string;
  slowerThan?: number;
  since?: number;
}

/** A page of a list, narrowed down. */
function listed(filter: object, before: string | number | undefined): URLSearchParams {
  const query = new URLSearchParams({ limit: '100' });
  for (const [key, value] of Object.entries(filter)) if (value) query.set(key, String(value));
  if (before) query.set('before', String(before));
  return query;
}

export interface StartRequest {
  tool: string;
  arguments: JsonObject;
  paused?: boolean;
  breakpoints?: Breakpoint[];
}

export type Move = 'pause' | 'resume' | 'step' | 'stepOver' | 'stop';

export const api = {
  document: () => get<GraphDocument>('/api/graphs'),
  version: () => get<{ etag: string }>('/api/graphs/version'),
  draft: (text: string, shown: Subject | null, edit?: Edit) =>
    post<Draft>('/api/draft', { text, ...shown, edit }),
  save: (text: string, etag: string) => send<GraphDocument>('PUT', '/api/graphs', { text }, etag),

  runs: (filter: RunFilter, before?: string) =>
    get<{ runs: RunSummary[]; next: string | null }>(`/api/runs?${listed(filter, before)}`),
  requests: (filter: RequestFilter, before?: number) =>
    get<{ requests: LoggedRequest[]; next: number | null }>(
      `/api/requests?${listed(filter, before)}`,
    ),
  questions: () => get<{ questions: Question[] }>('/api/questions'),
  answer: (id: string, answer: JsonObject) =>
    post<unknown>(`/api/questions/${part(id)}`, { answer }),
  decline: (id: string) => post<unknown>(`/api/questions/${part(id)}`, { decline: true }),
  run: (id: string) => get<RunSummary>(`/api/runs/${id}`),
  edited: (id: string) => get<{ edited: string[] }>(`/api/runs/${id}/edited`),
  removeRun: (id: string) => send<unknown>('DELETE', `/api/runs/${id}`),
  step: (run: string, step: number, short?: number) =>
    get<StepRecord>(`/api/runs/${run}/steps/${step}${short ? `?short=${short}` : ''}`),
  context: (run: string, step: number) => get<JsonObject>(`/api/runs/${run}/steps/${step}/context`),
  diff: (run: string, a: number, b: number, other?: string) => {
    const query = new URLSearchParams({ a: String(a), b: String(b), short: String(LONG_BYTES) });
    if (other) query.set('with', other);
    return get<{ a: JsonObject; b: JsonObject; changed: string[]; short: string[] }>(
      `/api/runs/${run}/diff?${query}`,
    );
  },

  findSteps: (run: string, expression: string) =>
    post<{ steps: number[]; looked: number; cut: boolean; error?: { message: string } }>(
      `/api/runs/${run}/find`,
      { expression },
    ),

  start: (request: StartRequest) => post<{ run: string }>('/api/runs', request),
  fork: (run: string, request: ForkRequest) =>
    post<{ run: string }>(`/api/runs/${run}/fork`, request),
  forkEffects: (run: string, request: ForkRequest) =>
    post<ForkEffects>(`/api/runs/${run}/fork/effects`, request),
  join: (run: string, paused: boolean, breakpoints: Breakpoint[]) =>
    post<DebugState>(`/api/runs/${run}/debug`, { paused, breakpoints }),
  debugState: (run: string) => get<DebugState>(`/api/runs/${run}/debug`),
  stop: (run: string) => post<unknown>(`/api/runs/${run}/stop`),
  move: (run: string, move: Move) => post<DebugState>(`/api/runs/${run}/debug/${move}`),
  setBreakpoints: (run: string, breakpoints: Breakpoint[]) =>
    send<DebugState>('PUT', `/api/runs/${run}/debug/breakpoints`, { breakpoints }),

  testExpression: (request: {
    language: 'jsonata' | 'jsonlogic';
    expression: Json;
    run?: string;
    step?: number;
    context?: JsonObject;
  }) => post<ExpressionResult>('/api/expr/test', request),

  workflows: () => get<{ workflows: WorkflowSummary[] }>('/api/workflows'),
  workflow: (id: string) => get<GraphDefinition>(`/api/workflows/${part(id)}`),
  draftWorkflow: (text: string, rename?: { node: string; to: string }) =>
    post<WorkflowDraft>('/api/workflows/draft', { text, rename }),
  workflowTemplates: () => get<{ templates: WorkflowTemplate[] }>('/api/workflow-templates'),
  saveWorkflow: (definition: GraphDefinition) => post<unknown>('/api/workflows', definition),
  enableWorkflow: (id: string, enabled: boolean) =>
    post<WorkflowSummary>(`/api/workflows/${part(id)}/${enabled ? 'enable' : 'disable'}`),
  removeWorkflow: (id: string) => send<unknown>('DELETE', `/api/workflows/${part(id)}`),

  hookModules: () => get<{ hookModules: HookModule[] }>('/api/hook-modules'),
  saveHookModule: (id: string, name: string, script: string) =>
    send<unknown>('PUT', `/api/hook-modules/${part(id)}`, { name, script }),
  checkScript: (script: string) => post<Report>('/api/hook-modules/check', { script }),
  removeHookModule: (id: string) => send<unknown>('DELETE', `/api/hook-modules/${part(id)}`),

  procedures: () => get<{ procedures: ProcedureSummary[]; report: Report }>('/api/procedures'),
  procedure: (agent: string) => get<ProcedureView>(`/api/procedures/${part(agent)}`),
  procedureOf: (run: string) => get<ProcedureView>(`/api/runs/${run}/procedure`),
  walk: (run: string, until: number) => get<Walk>(`/api/runs/${run}/walk?until=${until}`),

  upstreams: () => get<{ servers: Upstream[] }>('/api/upstreams'),
  upstreamTools: (server: string) =>
    get<{ tools: UpstreamTool[] }>(`/api/upstreams/${part(server)}/tools`),
};
