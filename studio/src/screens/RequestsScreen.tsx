import { useCallback, useEffect, useState } from 'react';
import { api, messageOf, type RequestFilter } from '../api/client';
import type { LoggedRequest, RequestStatus } from '../api/types';
import { duration, moment } from '../model/format';
import { useKeys } from '../state/keys';
import { useLocation } from '../state/location';
import { notify } from '../state/notices';
import { openRun } from '../state/subject';
import { Empty } from '../ui/Empty';
import { Icon, type IconName } from '../ui/Icon';
import { Table } from '../ui/Table';
import { type Filter, ListPage, SETTLE_MS, SINCE, SLOWER, timesOf } from './ListPage';

/** How often new requests are looked for. */
const LOOK_MS = 2000;

const STATUSES: Record<RequestStatus, { icon: IconName; tone: string; word: string }> = {
  ok: { icon: 'check', tone: 'good', word: 'answered' },
  'tool-error': { icon: 'warning', tone: 'warn', word: 'the tool failed' },
  error: { icon: 'cross', tone: 'bad', word: 'refused' },
  cancelled: { icon: 'stop', tone: '', word: 'cancelled' },
};

const METHODS = [
  'tools/call',
  'tools/list',
  'resources/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
];

const FILTERS: Filter[] = [
  {
    key: 'method',
    label: 'Method',
    choices: [
      { value: '', label: 'any method' },
      ...METHODS.map((method) => ({ value: method, label: method })),
    ],
  },
  {
    key: 'status',
    label: 'Status',
    choices: [
      { value: '', label: 'any status' },
      ...Object.entries(STATUSES).map(([value, { word }]) => ({ value, label: word })),
    ],
  },
  SLOWER,
  SINCE,
  { key: 'text', label: 'Tool, with * for any text', placeholder: 'A tool, such as files__*' },
  { key: 'server', label: 'Server', placeholder: 'Server' },
  { key: 'token', label: 'Token', placeholder: 'Token' },
];

/** Every request of a client, the newest first. */
export function RequestsScreen() {
  const { requests, next, failure, isLoading, more } = useRequests();
  useKeys({ editor: null });
  return (
    <ListPage
      title="Requests"
      noun={['request', 'requests']}
      filters={FILTERS}
      failure={failure === null ? null : { title: 'The log cannot be read', message: failure }}
      isLoading={isLoading}
      none={
        <Empty title="No requests yet">
          <p>
            Every request of an MCP client is listed here: who asked for what, and how it was
            answered.
          </p>
        </Empty>
      }
      onMore={next === null ? null : () => void more()}
    >
      {requests.length > 0 && <RequestTable requests={requests} />}
    </ListPage>
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
  const wanted = useLocation((location) => JSON.stringify(location.filter));
  const [found, setFound] = useState<Found>({
    requests: [],
    next: null,
    failure: null,
    isLoading: true,
  });
  const [hasMore, setMore] = useState(false);
  const look = useCallback(async () => {
    try {
      const { requests, next } = await api.requests(queryOf(wanted));
      setFound({ requests, next, failure: null, isLoading: false });
    } catch (error) {
      const failure = messageOf(error);
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
    const page = await api.requests(queryOf(wanted), found.next).catch(() => null);
    if (!page) return;
    const requests = [...found.requests, ...page.requests];
    setFound({ ...found, requests, next: page.next });
  };
  return { ...found, more };
}

/** What the filters of the address ask for. */
function queryOf(wanted: string): RequestFilter {
  const filter: Record<string, string | undefined> = JSON.parse(wanted);
  const { method, status, text, server, token } = filter;
  return {
    method,
    status: status as RequestStatus,
    tool: text,
    server,
    token,
    ...timesOf(filter),
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
      notify('error', messageOf(error));
    }
  };
  return (
    <Table columns={COLUMNS}>
      {requests.map((request) => (
        <tr key={request.id}>
          <td>
            <StatusOf request={request} />
          </td>
          <td className="moment">{moment(request.time)}</td>
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
