// The cache of what was read. A component names what it reads and the events that make it old; everything else happens here.

import { signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { send, urlOf, viewAs, type Answer } from './client';
import { asProblem, type Problem } from './problem';
import type { Input, PathOf, Reply } from './types';

export interface State<T> {
  readonly data: T | undefined;
  readonly error: Problem | undefined;
  readonly loading: boolean;
}

export interface Resource<T> extends State<T> {
  /** Reads again. */
  refresh(): void;
  /** Replaces what is cached, for example with the response to a change. */
  set(data: T): void;
}

export interface ResourceOptions {
  /** Events that make the resource old: `run` for every run, `run:run_…` for one. */
  readonly on?: readonly string[];
  /** Milliseconds after which it is read again, for what no event reports. */
  readonly every?: number;
}

/** One cached response. */
class Entry {
  readonly state: Signal<State<unknown>> = signal({ data: undefined, error: undefined, loading: false });
  private readonly topics = new Set<string>();
  readers = 0;
  private isOld = true;
  /** How often it was replaced without a read. */
  private replacements = 0;
  private running: Promise<void> | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private lastStart = 0;

  constructor(readonly url: string) {}

  /** Adds events that make it old. */
  watch(topics: readonly string[]): void {
    for (const topic of topics) this.topics.add(topic);
  }

  dependsOn(topics: readonly string[]): boolean {
    return topics.some((topic) => this.topics.has(topic));
  }

  /** Whether any event makes it old. */
  get isFollowed(): boolean {
    return this.topics.size > 0;
  }

  /** Reads now if nobody has, or if it is old. */
  ensure(): void {
    if (this.isOld) void this.read();
  }

  /** Marks it as old. What somebody looks at is read again, at most once a second. */
  invalidate(): void {
    this.isOld = true;
    if (this.readers === 0 || this.timer !== null) return;
    const wait = Math.max(0, this.lastStart + MIN_INTERVAL - Date.now());
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.readers > 0) void this.read();
    }, wait);
  }

  async read(): Promise<void> {
    if (this.running) return this.running;
    this.isOld = false;
    this.lastStart = Date.now();
    this.state.value = { ...this.state.peek(), loading: true };
    const { replacements } = this;
    const end = (state: Omit<State<unknown>, 'loading'>) => {
      // The response to a change came first: what was read may be older than that.
      if (this.replacements === replacements) this.state.value = { ...state, loading: false };
      else this.isOld = true;
    };
    this.running = send({ method: 'GET', url: this.url, isBackground: true }).then(
      ({ data }: Answer<unknown>) => end({ data, error: undefined }),
      (error: unknown) => end({ data: this.keep(error), error: asProblem(error) }),
    );
    await this.running;
    this.running = null;
    // It changed while it was read.
    if (this.isOld && this.readers > 0) this.invalidate();
  }

  /** Reads again, also if a read is under way: that one may have begun before the change. */
  refresh(): void {
    if (this.running) this.isOld = true;
    else void this.read();
  }

  /** What is gone or forbidden is no longer shown; what could not be read is. */
  private keep(error: unknown): unknown {
    const { status } = asProblem(error);
    return status === 403 || status === 404 ? undefined : this.state.peek().data;
  }

  set(data: unknown): void {
    this.isOld = false;
    this.replacements += 1;
    this.state.value = { data, error: undefined, loading: false };
  }
}

const MIN_INTERVAL = 1_000;
const MAX_UNUSED = 200;
const entries = new Map<string, Entry>();

function keyOf(url: string): string {
  return `${viewAs.value ?? ''} ${url}`;
}

function entryOf(url: string): Entry {
  const key = keyOf(url);
  let entry = entries.get(key);
  if (!entry) {
    entry = new Entry(url);
    entries.set(key, entry);
    dropUnused();
  }
  return entry;
}

function dropUnused(): void {
  if (entries.size <= MAX_UNUSED) return;
  for (const [key, entry] of entries) {
    if (entry.readers === 0) entries.delete(key);
    if (entries.size <= MAX_UNUSED / 2) return;
  }
}

/** `isOwn`: after a change that the person made here. */
type Invalidated = (topics: readonly string[] | 'all', isOwn: boolean) => void;
const listeners = new Set<Invalidated>();

/** Calls `listener` with each invalidation. */
export function onInvalidate(listener: Invalidated): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Marks as old what depends on one of these topics, or everything: after a change of the person's own, or an event. */
export function invalidate(topics: readonly string[] | 'all', by: 'person' | 'event' = 'person'): void {
  for (const entry of entries.values()) {
    if (topics === 'all' || entry.dependsOn(topics)) entry.invalidate();
  }
  for (const listener of listeners) listener(topics, by === 'person' && topics !== 'all');
}

/** Marks as old whatever an event could have made old. */
export function invalidateFollowed(): void {
  for (const entry of entries.values()) if (entry.isFollowed) entry.invalidate();
  for (const listener of listeners) listener('all', false);
}

const IDLE: ReadonlySignal<State<unknown>> = signal({ data: undefined, error: undefined, loading: false });

/** Reads something by its path in the API's description. `null` reads nothing yet. */
export function useResource<P extends PathOf<'get'>>(path: P, input: Input<P, 'get'> | null, options: ResourceOptions = {}): Resource<Reply<P, 'get'>> {
  return useUrl<Reply<P, 'get'>>(input === null ? null : urlOf(path, input as object), options);
}

/** Reads something by its URL, for operations that the description does not name. */
export function useUrl<T>(url: string | null, { on = [], every }: ResourceOptions = {}): Resource<T> {
  const role = viewAs.value;
  const entry = useMemo(() => (url === null ? null : entryOf(url)), [url, role]);
  entry?.watch(on);
  useEffect(() => {
    if (!entry) return undefined;
    entry.readers += 1;
    entry.ensure();
    const timer = every === undefined ? null : setInterval(() => document.hidden || void entry.read(), every);
    return () => {
      entry.readers -= 1;
      if (timer !== null) clearInterval(timer);
    };
  }, [entry, every]);
  const state = (entry?.state ?? IDLE).value as State<T>;
  return {
    ...state,
    loading: state.loading || (entry !== null && state.data === undefined && state.error === undefined),
    refresh: () => entry?.refresh(),
    set: (data) => entry?.set(data),
  };
}
