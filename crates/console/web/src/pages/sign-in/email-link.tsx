// The link from the mail. Opening it signs nobody in, since programs open links before people do; the button does.

import { api } from '#api/client';
import { query, useAction, useTitle } from '#frame';
import { serverField } from '#frame/server-page';
import { Button, ProblemView } from '#ui';
import { t } from './messages';
import { goOn } from './next';

export default function EmailLink() {
  const token = query.value.get('token') ?? serverField('token');
  useTitle(t('linkTitle'));
  const signIn = useAction(async () => {
    await api.post('/v1/auth/email/link', { body: { token: token ?? '' } });
    goOn();
  }, { shows: 'inline' });
  return (
    <>
      <h1>{t('linkTitle')}</h1>
      <p>{t('linkLead')}</p>
      {signIn.problem && <ProblemView problem={signIn.problem} />}
      {signIn.problem ? <Button href="/sign-in">{t('otherWay')}</Button> : <Button variant="primary" busy={signIn.busy} onClick={() => void signIn.run()} autofocus>{t('signIn')}</Button>}
    </>
  );
}
