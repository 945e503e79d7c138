import { useState } from 'preact/hooks';
import { api } from '#api/client';
import type { Schemas } from '#api/types';
import { toast, useAction } from '#frame';
import { Button, TextField } from '#ui';
import { memberPrecondition, membersChanged } from './member';
import { t } from './messages';
import { localInput } from './time';

/** Sets when the access of a member ends, or that it does not. */
export function AccessEnd({ ws, member }: { ws: string; member: Schemas['Member'] }) {
  const saved = member.accessEndsAt === null ? '' : localInput(member.accessEndsAt);
  const [end, setEnd] = useState(saved);
  const save = useAction(async () => {
    const accessEndsAt = end === '' ? null : new Date(end).toISOString();
    await api.patch('/v1/workspaces/{ws}/members/{userId}', { path: { ws, userId: member.user.id }, body: { accessEndsAt } }, memberPrecondition(ws, member));
    membersChanged();
    toast(t('accessEndSaved'));
  });
  return (
    <form class="people-form" onSubmit={(event) => { event.preventDefault(); void save.run(); }}>
      <TextField label={t('accessEnds')} hint={t('accessEndsHint')} type="datetime-local" value={end} onInput={setEnd} min={localInput(new Date().toISOString())} />
      <Button type="submit" busy={save.busy} unavailable={end === saved ? t('unchanged') : null}>{t('save')}</Button>
    </form>
  );
}
