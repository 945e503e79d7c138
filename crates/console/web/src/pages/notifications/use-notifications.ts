// The notifications of a workspace, and which of them the person has read.

import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '#api/client';
import { useList, type List } from '#api/list';
import { invalidate } from '#api/resource';
import type { Schemas } from '#api/types';
import { isReadOnly, useNewestNotification } from '#frame';

export type Notification = Schemas['Notification'];

/** Milliseconds after which the list is read again: no event says that an e-mail was sent. */
const REREAD = 15_000;

export function useNotifications(ws: string): List<Notification> {
  const list = useList('/v1/workspaces/{ws}/notifications', { path: { ws } }, { on: ['alert'], every: REREAD, key: keyOf });
  // Whoever comes back comes for what is new, which would be held back.
  useEffect(() => { if (list.isComplete) list.refresh(); }, []);
  return list;
}

export function keyOf({ seq }: Notification): string {
  return String(seq);
}

/** By workspace, the number up to which this client has marked notifications as read: lists that were read before do not know. */
const readUpTo = new Map<string, number>();

/** Marks what is shown as read. Returns what was unread, which stays so as long as the page is shown. */
export function useReading(ws: string, { items, isComplete }: List<Notification>): ReadonlySet<number> {
  const known = useNewestNotification(ws);
  const [readBefore] = useState(() => readUpTo.get(ws) ?? 0);
  const marked = useRef(new Set<number>());
  for (const { seq, unread } of items) if (unread && seq > readBefore) marked.current.add(seq);
  const newest = isComplete ? items[0] : undefined;
  const seq = newest?.seq ?? 0;
  const isUnread = marked.current.has(seq) && seq > (readUpTo.get(ws) ?? 0);
  useEffect(() => {
    if (newest === undefined || !isUnread || isReadOnly.peek()) return;
    readUpTo.set(ws, seq);
    void api.post('/v1/workspaces/{ws}/notifications/read', { path: { ws }, body: { upTo: seq } }).then(({ unread }) => {
      known.set({ items: [{ ...newest, unread: false }], unread, nextCursor: null });
      invalidate(['notification']);
    }, () => {
      // They stay unread, and are marked the next time.
      readUpTo.set(ws, readBefore);
    });
  }, [seq, isUnread]);
  return marked.current;
}
