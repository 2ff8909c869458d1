import { useCallback, useEffect, useState } from 'react';
import { api, type RequestFilter } from '../api/client';
import type { LoggedRequest, RequestStatus } from '../api/types';
import { duration, moment } from '../model/format';
import { useKeys } from '../state/keys';
import { useLocation } from '../state/location';
import { notify } from '../state/notices';
import { openRun } from '../state/subject';
import { Button } from '../ui/Button';
import { Choice, SINCE, SLOW } from '../ui/Choice';
import { Empty } from '../ui/Empty';
import { Icon, type IconName } from '../ui/Icon';
import { Table } from '../ui/Table';

/** How often new requests are looked for. */
const LOOK_MS = 2000;

/** How long typing rests before it is searched for. */
const SETTLE_MS = 150;

const STATUSES: Record<RequestStatus, { icon: IconName; tone: string; word: string }> = {
  ok: { icon: 'check', tone: 'good', word: 'answered' },
  'tool-error': { icon: 'warning', tone: 'warn', word: 'the tool failed' },
  error: { icon: 'cross', tone: 'bad', word: 'refused' },
  cancelled: { icon: 'stop', tone: '', word: 'cancelled' },
};

const STATUS_CHOICES = [
  { value: '', label: 'any status' },
  ...Object.entries(STATUSES).map(([value, { word }]) => ({ value, label: word })),
];

const METHODS = [
  { value: '', label: 'any method' },
  ...['tools/call', 'tools/list', 'resources/read', 'prompts/get', 'initialize'].map((method) => ({
    value: method,
    label: method,
  })),
];

/** Every request of a client, the newest first; the filters are in the address. */
export function RequestsScreen() {
  const { filter, go } = useLocation();
  const { requests, next, failure, isLoading, more } = useRequests();
  useKeys({ editor: null });
  const put = (key: string, value: string) => go({ filter: { ...filter, [key]: value } });
  const isFiltered = Object.values(filter).some(Boolean);
  const clear = () => go({ filter: {} });
  return (
    <div className="page">
      <div className="page-head" role="search">
        <h1>Requests</h1>
        <Choice
          label="Method"
          value={filter.method ?? ''}
          choices={METHODS}
          onChange={(value) => put('method', value)}
        />
        <Choice
          label="Status"
          value={filter.status ?? ''}
          choices={STATUS_CHOICES}
          onChange={(value) => put('status', value)}
        />
        <Choice
          label="Duration"
          value={filter.slowerThan ?? ''}
          choices={SLOW}
          onChange={(value) => put('slowerThan', value)}
        />
        <Choice
          label="Time"
          value={filter.since ?? ''}
          choices={SINCE}
          onChange={(value) => put('since', value)}
        />
        <input
          className="input narrow"
          type="search"
          aria-label="Tool, with * for any text"
          placeholder="A tool, such as files__*"
          value={filter.text ?? ''}
          onChange={(event) => put('text', event.target.value)}
        />
        <input
          className="input narrow"
          type="search"
          aria-label="Server"
          placeholder="Server"
          value={filter.server ?? ''}
          onChange={(event) => put('server', event.target.value)}
        />
        <input
          className="input narrow"
          type="search"
          aria-label="Token"
          placeholder="Token"
          value={filter.token ?? ''}
          onChange={(event) => put('token', event.target.value)}
        />
        {isFiltered && (
          <Button look="quiet" onClick={clear}>
            Clear
          </Button>
        )}
      </div>
      <div className="page-body">
        {failure && (
          <Empty title="The log cannot be read">
            <p>{failure}</p>
          </Empty>
        )}
        {!failure && requests.length > 0 && <RequestTable requests={requests} />}
        {!failure && !isLoading && requests.length === 0 && (
          <Empty title={isFiltered ? 'No request fits' : 'No requests yet'}>
            <p>
              {isFiltered
                ? 'No request has all of what the filters ask for.'
                : 'Every request of an MCP client is listed here: who asked for what, and how it was answered.'}
            </p>
            {isFiltered && <Button onClick={clear}>Clear the filters</Button>}
          </Empty>
        )}
        {next !== null && (
          <p className="row more">
            <Button onClick={() => void more()}>Show older requests</Button>
          </p>
        )}
      </div>
    </div>
  );
}

interface Found {
  requests: LoggedRequest[];
  next: number | null;
  failure: string | null;
  isLoading: boolean;
}

/** The requests that fit; new ones appear by themselves while nobody has gone further back. */
function useRequests(): Found & { more: () => Promise<void> } {
  const wanted = useLocation((location) => JSON.stringify(queryOf(location.filter)));
  const [found, setFound] = useState<Found>({
    requests: [],
    next: null,
    failure: null,
    isLoading: true,
  });
  const [hasMore, setMore] = useState(false);
  const look = useCallback(async () => {
    try {
      const { since, ...query } = JSON.parse(wanted) as RequestFilter;
      const from = since ? Date.now() - since : undefined;
      const { requests, next } = await api.requests({ ...query, since: from });
      setFound({ requests, next, failure: null, isLoading: false });
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      setFound((old) => ({ ...old, failure, isLoading: false }));
    }
  }, [wanted]);
  useEffect(() => {
    setMore(false);
    const first = setTimeout(() => void look(), SETTLE_MS);
    return () => clearTimeout(first);
  }, [look]);
  useEffect(() => {
    if (hasMore) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void look();
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [look, hasMore]);
  const more = async () => {
    if (found.next === null) return;
    setMore(true);
    const page = await api.requests(JSON.parse(wanted), found.next).catch(() => null);
    if (!page) return;
    const requests = [...found.requests, ...page.requests];
    setFound({ ...found, requests, next: page.next });
  };
  return { ...found, more };
}

/** What the filters of the address ask for. */
function queryOf({ method, status, text, server, token, ...rest }: Record<string, string>) {
  return {
    method,
    status: status as RequestStatus,
    tool: text,
    server,
    token,
    slowerThan: rest.slowerThan ? Number(rest.slowerThan) : undefined,
    since: rest.since ? Number(rest.since) : undefined,
  };
}

const COLUMNS = [
  { label: 'Status' },
  { label: 'Time' },
  { label: 'Method' },
  { label: 'About' },
  { label: 'Server' },
  { label: 'Took', isNumber: true },
  { label: 'Client' },
  { label: 'Token' },
  { label: 'Run' },
];

function RequestTable({ requests }: { requests: LoggedRequest[] }) {
  const open = async (id: string) => {
    try {
      openRun(await api.run(id));
    } catch (error) {
      notify('error', error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Table columns={COLUMNS}>
      {requests.map((request) => (
        <tr key={request.id}>
          <td>
            <StatusOf request={request} />
          </td>
          <td>{moment(request.time)}</td>
          <td>{request.method}</td>
          <td>{request.name}</td>
          <td>{request.server}</td>
          <td className="number">{duration(request.durationMs)}</td>
          <td>{request.client}</td>
          <td>{request.token && (request.token.name ?? `${request.token.id}, revoked`)}</td>
          <td>
            {request.run && (
              <button
                type="button"
                className="button quiet link"
                title={`Run ${request.run}`}
                onClick={() => void open(request.run ?? '')}
              >
                Open
              </button>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function StatusOf({ request }: { request: LoggedRequest }) {
  const shown = STATUSES[request.status] ?? { icon: 'dot', tone: '', word: request.status };
  return (
    <span className={`chip ${shown.tone}`}>
      <Icon name={shown.icon} />
      {shown.word}
      {request.code !== undefined && ` ${request.code}`}
    </span>
  );
}
