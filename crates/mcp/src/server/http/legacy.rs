//! Legacy requests: they belong to a session, and outlive a broken connection.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};

use super::events::{EventStream, Item, Reader};
use super::respond::{self, Refused, empty, invalid, refuse};
use super::sessions::HttpSession;
use super::{Http, check, no_session, not_allowed, principal, shared};
use crate::cancellation;
use crate::header;
use crate::message::{self, Id, Message, Notification, Request, RpcError, code};
use crate::server::client::Meta;
use crate::server::dispatch::Server;
use crate::server::outlet::Outlet;
use crate::server::saved::SavedSession;
use crate::sse::{self, Event};
use crate::version::Version;

/// A request, in its session.
pub(super) async fn request(
    http: &Arc<Http>,
    parts: &Parts,
    request: Request,
    meta: Meta,
) -> Result<Response<Body>, Refused> {
    if request.method == "initialize" {
        return initialize(http, parts, request).await;
    }
    let session = session(http, parts, Some(&request.id)).await?;
    let stream = session.open_stream(http.server.limits());
    let mut reader = stream.read(None);
    run(http, &session, &stream, vec![(request, meta)])
        .inspect_err(|_| session.forget_stream(stream.id))?;
    let first = match tokio::time::timeout(http.config.stream_after, reader.next()).await {
        Ok(Some(Item::Event(event))) if event.is_response => {
            session.forget_stream(stream.id);
            return Ok(respond::json(StatusCode::OK, event.text.to_string()));
        }
        Ok(Some(item)) => Some(item),
        // The client has withdrawn the request: there is no answer.
        Ok(None) => return Ok(empty(StatusCode::ACCEPTED)),
        Err(_) => None,
    };
    Ok(events(http, reader, first))
}

/// A batch of revision 2025-03-26. Its answers come as they are ready, on one stream.
pub(super) async fn batch(
    http: &Arc<Http>,
    parts: &Parts,
    body: &[u8],
) -> Result<Response<Body>, Refused> {
    let bad = |error| refuse(StatusCode::BAD_REQUEST, None, error);
    if check::names_modern(&parts.headers) {
        return Err(bad(message::no_batches()));
    }
    let session = session(http, parts, None).await?;
    if session.session.client.version != Version::V2025_03_26 {
        return Err(bad(message::no_batches()));
    }
    let messages = Message::batch_from_json(body, http.server.limits().max_batch).map_err(bad)?;
    let messages: Vec<_> = messages.into_iter().collect::<Result<_, _>>().map_err(bad)?;
    let mut requests = Vec::new();
    for message in messages {
        match message {
            Message::Request(request) => {
                let meta = Meta::of(request.params.as_deref()).or_traced_by(&parts.headers);
                requests.push((request, meta));
            }
            Message::Notification(notification) => notify(http, &session, notification).await,
            Message::Response(response) => session.session.answered_anywhere(response).await,
        }
    }
    if requests.is_empty() {
        return Ok(empty(StatusCode::ACCEPTED));
    }
    let stream = session.open_stream(http.server.limits());
    let reader = stream.read(None);
    run(http, &session, &stream, requests).inspect_err(|_| session.forget_stream(stream.id))?;
    Ok(events(http, reader, None))
}

pub(super) async fn notification(
    http: &Arc<Http>,
    parts: &Parts,
    notification: Notification,
) -> Result<Response<Body>, Refused> {
    let session = session(http, parts, None).await?;
    notify(http, &session, notification).await;
    Ok(empty(StatusCode::ACCEPTED))
}

/// An answer to what the server asked, in whichever process.
pub(super) async fn response(
    http: &Arc<Http>,
    parts: &Parts,
    response: message::Response,
) -> Result<Response<Body>, Refused> {
    session(http, parts, None).await?.session.answered_anywhere(response).await;
    Ok(empty(StatusCode::ACCEPTED))
}

/// The stream of what is sent outside of calls, or the rest of a stream that broke.
pub(super) async fn get(http: &Arc<Http>, parts: &Parts) -> Result<Response<Body>, Refused> {
    if check::names_modern(&parts.headers) {
        return Err(not_allowed("POST"));
    }
    check::accepts(&parts.headers, &[sse::CONTENT_TYPE])?;
    let session = session(http, parts, None).await?;
    let Some(last) = parts.headers.get(header::LAST_EVENT_ID) else {
        session.tell_missed();
        let reader = session.standalone.read(None);
        return Ok(events(http, reader, None));
    };
    let last = last.to_str().unwrap_or_default();
    let place = parse_event_id(last);
    match place {
        Some((0, _, instance)) if *instance != *http.instance => {
            // What another process would have told is told as far as it can be: look again.
            session.session.changes.tell_lists();
            Ok(events(http, session.standalone.read(None), None))
        }
        Some((_, _, instance)) if *instance != *http.instance => {
            // The rest is in another process, and coming back may lead there.
            let event = Event { retry: Some(http.config.retry), ..Event::default() };
            let event: Bytes = event.with_id(last.to_owned()).to_bytes().into();
            let once = futures_util::stream::once(std::future::ready(event));
            Ok(respond::events(once, http.config.keep_alive))
        }
        _ => match place.and_then(|(stream, number, _)| Some((session.stream(stream)?, number))) {
            Some((stream, number)) => Ok(events(http, stream.read(Some(number)), None)),
            None => {
                Err(invalid(StatusCode::BAD_REQUEST, "`Last-Event-ID` names no event that is kept"))
            }
        },
    }
}

/// The end of a session.
pub(super) async fn delete(http: &Arc<Http>, parts: &Parts) -> Result<Response<Body>, Refused> {
    if check::names_modern(&parts.headers) {
        return Err(not_allowed("POST"));
    }
    let session = session(http, parts, None).await?;
    let key = check::session_key(&parts.headers)?.unwrap_or_default();
    let ends = match &http.config.sessions {
        Some(store) => store.remove(key).await.map_err(|error| shared::away(None, &error))?,
        None => true,
    };
    let removed = http.sessions.remove(key);
    session.close_here();
    // Of two who end it at once one is told.
    if ends && (removed.is_some() || http.config.sessions.is_some()) {
        http.server.service().closed(&session.session.client).await;
    }
    Ok(empty(StatusCode::NO_CONTENT))
}

async fn initialize(
    http: &Arc<Http>,
    parts: &Parts,
    request: Request,
) -> Result<Response<Body>, Refused> {
    let refused = |status, error| refuse(status, Some(request.id.clone()), error);
    let store = http.config.sessions.as_ref();
    let (session, result) = http
        .server
        .initialize(request.params.as_deref(), principal(parts), store)
        .await
        .map_err(|error| refused(StatusCode::BAD_REQUEST, error))?;
    let (session, removed) = http
        .sessions
        .add(session, &http.stop)
        .map_err(|error| refused(StatusCode::SERVICE_UNAVAILABLE, error))?;
    if let Some(removed) = removed {
        http.let_go(&removed).await;
    }
    let key = session.session.client.session.as_ref().map_or("", |key| key.as_str());
    if let Some(store) = store {
        let added = store.add(key, &SavedSession::of(&session.session.client)).await;
        let error = match added {
            Ok(true) => None,
            Ok(false) => {
                Some(RpcError::unavailable("too many sessions are kept for all processes"))
            }
            Err(error) => Some(RpcError::unavailable(error.to_string())),
        };
        if let Some(error) = error {
            drop(http.sessions.remove(key));
            return Err(refused(StatusCode::SERVICE_UNAVAILABLE, error));
        }
    }
    let answer = message::Response { id: Some(request.id.clone()), outcome: Ok(result) };
    let mut response = respond::answer(StatusCode::OK, answer);
    if let Ok(key) = HeaderValue::from_str(key) {
        response.headers_mut().insert(header::SESSION_ID, key);
    }
    if session.begin_telling() {
        tokio::spawn(session.tell_changes());
    }
    Ok(response)
}

/// The session that a request names.
async fn session(
    http: &Arc<Http>,
    parts: &Parts,
    id: Option<&Id>,
) -> Result<Arc<HttpSession>, Refused> {
    let Some(key) = check::session_key(&parts.headers)? else {
        return Err(no_session(id.cloned()));
    };
    // The session of somebody else is none, whoever knows its key.
    let found = http.find_session(key).await.map_err(|error| shared::away(id, &error))?;
    let own = found.filter(|found| found.session.client.principal == principal(parts));
    let Some(session) = own else {
        return Err(refuse(
            StatusCode::NOT_FOUND,
            id.cloned(),
            RpcError::new(code::INVALID_REQUEST, "there is no such session: send `initialize`"),
        ));
    };
    check::legacy_version(&parts.headers)?;
    Ok(session)
}

/// Lets requests run; their messages and answers go to `stream`, which ends with the last.
fn run(
    http: &Arc<Http>,
    session: &Arc<HttpSession>,
    stream: &Arc<EventStream>,
    requests: Vec<(Request, Meta)>,
) -> Result<(), Refused> {
    let is_batch = requests.len() > 1;
    let mut ready = Vec::with_capacity(requests.len());
    for (request, meta) in requests {
        let id = request.id.clone();
        let place = http.take_place(&id)?;
        let started = session.calls.begin(&id).and_then(|slot| {
            let admitted = Server::admit(
                request,
                meta,
                Some(&session.session),
                session.session.client.principal.clone(),
            );
            admitted.map(|admitted| (admitted, slot)).map_err(|(_, error)| error)
        });
        match started {
            Ok((admitted, slot)) => ready.push(Ok((admitted, slot, place))),
            Err(error) if is_batch => ready.push(Err((id, error))),
            Err(error) => {
                let status = match error.code {
                    code::UNAVAILABLE => StatusCode::SERVICE_UNAVAILABLE,
                    _ => StatusCode::BAD_REQUEST,
                };
                return Err(refuse(status, Some(id), error));
            }
        }
    }
    let (http, session, stream) = (http.clone(), session.clone(), stream.clone());
    tokio::spawn(async move {
        let calls = ready.into_iter().map(async |call| match call {
            Ok((admitted, slot, _place)) => http.server.run(admitted, slot, &stream).await,
            Err((id, error)) => {
                let answer = message::Response { id: Some(id), outcome: Err(error) };
                stream.send(Message::Response(answer)).await;
            }
        });
        futures_util::future::join_all(calls).await;
        session.end_stream(&stream, http.server.limits());
    });
    Ok(())
}

async fn notify(http: &Http, session: &HttpSession, notification: Notification) {
    match notification.method.as_str() {
        cancellation::METHOD => {
            if let Some(id) = cancellation::id_in(notification.params.as_deref())
                && !session.calls.withdraw(&id)
                && let (Some(store), Some(key)) =
                    (&http.config.sessions, &session.session.client.session)
            {
                store.withdraw(key.as_str(), id.as_json()).await;
            }
        }
        "notifications/initialized" => {}
        _ => http.server.service().notified(&session.session.client, notification).await,
    }
}

/// A stream as a response. Where the client knows that it may come back, it is told how at once.
fn events(http: &Http, reader: Reader, first: Option<Item>) -> Response<Body> {
    let start = reader.stream().can_leave().then(|| {
        // An event without data has the client know an id before anything can break.
        let number = match &first {
            Some(Item::Event(event)) => event.number - 1,
            _ => reader.stream().taken(),
        };
        come_back(&http.instance, reader.stream(), number, http.config.retry)
    });
    let rest = Rest { instance: Arc::clone(&http.instance), start, first, reader };
    let shutdown = http.server.shutdown().clone();
    let is_standalone = rest.reader.stream().id == 0;
    let events = futures_util::stream::unfold(rest, move |mut rest| {
        let shutdown = shutdown.clone();
        async move {
            tokio::select! {
                biased;
                event = rest.next() => Some((event?, rest)),
                // Calls may end by themselves; this stream never would.
                () = shutdown.cancelled(), if is_standalone => None,
            }
        }
    });
    respond::events(events, http.config.keep_alive)
}

/// What is left of a stream for one connection.
struct Rest {
    instance: Arc<str>,
    start: Option<Bytes>,
    first: Option<Item>,
    reader: Reader,
}

impl Rest {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(start) = self.start.take() {
            return Some(start);
        }
        let item = match self.first.take() {
            Some(item) => item,
            None => self.reader.next().await?,
        };
        let stream = self.reader.stream();
        Some(match item {
            Item::Event(event) => {
                let id = event_id(&self.instance, stream, event.number);
                Event::message(&*event.text).with_id(id).to_bytes().into()
            }
            // The reader is out already: the next look finds the end.
            Item::Leave(retry) => come_back(&self.instance, stream, stream.taken(), retry),
        })
    }
}

fn come_back(instance: &str, stream: &EventStream, number: u64, retry: Duration) -> Bytes {
    let event = Event { retry: Some(retry), ..Event::default() };
    event.with_id(event_id(instance, stream, number)).to_bytes().into()
}

/// The stream and the number of an event; and the process it is in, where there are several.
fn event_id(instance: &str, stream: &EventStream, number: u64) -> String {
    let id = format!("{}-{number}", stream.id);
    if instance.is_empty() { id } else { format!("{id}-{instance}") }
}

fn parse_event_id(text: &str) -> Option<(u64, u64, &str)> {
    let (stream, rest) = text.split_once('-')?;
    let (number, instance) = rest.split_once('-').unwrap_or((rest, ""));
    Some((stream.parse().ok()?, number.parse().ok()?, instance))
}
