// The events of a workspace. One stream serves all pages of a browser: the page that holds the lock reads it and tells the others.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { invalidate, invalidateFollowed } from './resource';

/** Kinds of events of the stream; see `docs/events.md`. */
const KINDS = ['run', 'build', 'refusal', 'alert', 'log', 'changed', 'resync'] as const;
export type EventKind = (typeof KINDS)[number];

/** An event with whatever members its kind has. */
export interface WorkspaceEvent {
  readonly type: EventKind;
  readonly seq: string;
  readonly data: Readonly<Record<string, unknown>>;
}

type Message = { readonly event: WorkspaceEvent } | { readonly connected: boolean } | { readonly hello: true };

/** Whether events arrive. */
export const connected = signal(true);

const RETRY_FROM = 2_000;
const RETRY_UP_TO = 30_000;

type Listener = (event: WorkspaceEvent) => void;
const listeners = new Set<Listener>();

/** Returns the topics that an event makes old, as `useResource` names them. */
function topicsOf({ type, data }: WorkspaceEvent): string[] {
  const of = (kind: string, id: unknown) => (typeof id === 'string' ? [kind, `${kind}:${id}`] : [kind]);
  // What happens to an app changes its state.
  const health = typeof data['appId'] === 'string' ? ['health', `health:${data['appId']}`] : ['health'];
  switch (type) {
    case 'run': return [...of('run', data['runId']), ...health, ...(typeof data['roadId'] === 'string' ? [`automation-runs:${data['roadId']}`] : [])];
    case 'build': return [...of('app', data['appId']), 'version'];
    case 'refusal': return [...of('refusal', data['appId']), ...(typeof data['roadId'] === 'string' ? [`delivery:${data['roadId']}`] : []), ...health];
    case 'alert': return ['alert', ...health];
    case 'log': return of('log', data['appId']);
    case 'changed': return changedTopics(String(data['kind']), data);
    case 'resync': return [];
  }
}

/** Returns the topics of a changed object and of what it belongs to. */
function changedTopics(kind: string, { id, appId, roadId, projectId }: WorkspaceEvent['data']): string[] {
  const topics = [kind, `${kind}:${String(id)}`];
  // Rows change often, and nothing but a grid shows them.
  if (kind === 'rows') return topics;
  topics.push('changed');
  for (const [owner, ownerId] of [['app', appId], ['automation', roadId], ['project', projectId]] as const) {
    if (typeof ownerId === 'string' && owner !== kind) topics.push(`${owner}:${ownerId}`);
  }
  return topics;
}

function deliver(event: WorkspaceEvent): void {
  invalidate(event.type === 'resync' ? 'all' : topicsOf(event), 'event');
  for (const listener of listeners) listener(event);
}

/** The stream of one workspace, as this page takes part in it. */
class Hub {
  private readonly channel: BroadcastChannel;
  private readonly release = new AbortController();
  private source: EventSource | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private last: string | null = null;
  private wait = RETRY_FROM;
  private leads = false;
  /** Whether events have arrived, or would have. */
  private isFollowing = false;
  private begin: () => void = () => undefined;
  /** Resolves when the stream is open for the first time. */
  readonly begun = new Promise<void>((resolve) => { this.begin = resolve; });

  constructor(private readonly workspace: string) {
    this.channel = new BroadcastChannel(`qala-events-${workspace}`);
    this.channel.onmessage = ({ data }: MessageEvent<Message>) => this.receive(data);
    this.channel.postMessage({ hello: true } satisfies Message);
    void this.lead();
  }

  private async lead(): Promise<void> {
    const { signal: closing } = this.release;
    const held = () => {
      this.leads = true;
      this.open();
      return new Promise<void>((resolve) => closing.addEventListener('abort', () => resolve()));
    };
    // Locks need a secure context. Without them, each page has a stream of its own.
    if (!('locks' in navigator)) return held();
    return navigator.locks.request(`qala-events-${this.workspace}`, { signal: closing }, held).catch(() => undefined);
  }

  private open(): void {
    if (this.release.signal.aborted) return;
    const since = this.last === null ? '' : `?since=${this.last}`;
    const source = new EventSource(`/v1/workspaces/${this.workspace}/events${since}`);
    this.source = source;
    source.onopen = () => {
      this.wait = RETRY_FROM;
      this.tell(true);
    };
    source.onmessage = ({ lastEventId }) => { this.last = lastEventId; };
    for (const type of KINDS) {
      source.addEventListener(type, (message) => this.take(type, message));
    }
    source.onerror = () => {
      this.tell(false);
      // A browser reconnects by itself, but not after a refusal.
      if (source.readyState === EventSource.CLOSED) this.reopen();
    };
  }

  private reopen(): void {
    this.timer = setTimeout(() => this.open(), this.wait + Math.random() * this.wait);
    this.wait = Math.min(this.wait * 2, RETRY_UP_TO);
  }

  /** Opens the stream again now, where it waits to do so. */
  reconnect(): void {
    if (!this.leads || this.timer === null || this.source?.readyState !== EventSource.CLOSED) return;
    clearTimeout(this.timer);
    this.wait = RETRY_FROM;
    this.open();
  }

  private take(type: EventKind, { data, lastEventId }: MessageEvent<string>): void {
    const event: WorkspaceEvent = { type, seq: lastEventId, data: JSON.parse(data) as Record<string, unknown> };
    this.last = lastEventId || this.last;
    this.channel.postMessage({ event } satisfies Message);
    deliver(event);
  }

  private tell(isConnected: boolean): void {
    this.note(isConnected);
    this.channel.postMessage({ connected: isConnected } satisfies Message);
  }

  private note(isConnected: boolean): void {
    // What happened in between may be lost if the server was restarted from a copy, and is cheap to read again.
    if (isConnected && !connected.peek()) invalidate('all');
    // The stream begins with what happens now: what was read before it may have changed since.
    else if (isConnected && !this.isFollowing) invalidateFollowed();
    this.isFollowing ||= isConnected;
    if (isConnected) this.begin();
    connected.value = isConnected;
  }

  private receive(message: Message): void {
    if ('event' in message) {
      this.last = message.event.seq || this.last;
      deliver(message.event);
    } else if ('connected' in message) {
      this.note(message.connected);
    } else if (this.leads) {
      this.channel.postMessage({ connected: this.source?.readyState === EventSource.OPEN } satisfies Message);
    }
  }

  close(): void {
    this.release.abort();
    this.source?.close();
    this.channel.close();
    if (this.timer !== null) clearTimeout(this.timer);
  }
}

let hub: { readonly workspace: string; readonly hub: Hub } | null = null;

/** Follows the events of a workspace, and of no other. */
export function followWorkspace(workspace: string | null): void {
  if (hub?.workspace === workspace) return;
  hub?.hub.close();
  connected.value = true;
  hub = workspace === null ? null : { workspace, hub: new Hub(workspace) };
}

/** Time that the first reads wait for the stream; with a slow connection they do not. */
const PATIENCE = 150;

/** Resolves when the stream that was asked for is open, so that nothing is read that has to be read again, or soon. */
export function followed(): Promise<void> {
  return hub === null ? Promise.resolve() : Promise.race([hub.hub.begun, new Promise<void>((resolve) => { setTimeout(resolve, PATIENCE); })]);
}

/** Opens a stream that was refused again, after the person has signed in. */
export function reconnect(): void {
  hub?.hub.reconnect();
}

/** Calls `listener` with each event while the component is shown. */
export function useEvents(listener: Listener): void {
  useEffect(() => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [listener]);
}
