// Signing in.

import { useEffect, useState } from 'preact/hooks';
import { session, useTitle } from '#frame';
import { serverMain, typedInto } from '#frame/server-page';
import { CodeForm } from '#frame/sign-in/code-form';
import { Ways } from '#frame/sign-in/ways';
import { t } from './messages';
import { goOn, nextPath } from './next';
import { TownPicture } from './town';

/** On the way to an invite, the server's page says who invites to what: the heading, and the sentences above the form. */
const form = serverMain?.querySelector('form[action="/sign-in/start"]');
const heading = form ? (serverMain?.querySelector('h1')?.textContent ?? null) : null;
const sentences = form ? [...(serverMain?.querySelectorAll<HTMLElement>(':scope > p:not(.mark)') ?? [])].map((paragraph) => paragraph.textContent ?? '') : [];

export default function SignIn() {
  const [email, setEmail] = useState(() => typedInto('/sign-in/start', 'email'));
  const [isSent, setSent] = useState(false);
  const isSignedIn = Boolean(session.value);
  useEffect(() => { if (isSignedIn) goOn(); }, [isSignedIn]);
  useTitle(t('title'));
  if (isSignedIn) return null;
  if (isSent) return <CodeForm email={email} onBack={() => setSent(false)} onDone={goOn} />;
  return (
    <>
      <h1>{heading ?? t('title')}</h1>
      {sentences.length === 0 ? <p class="sign-in-pitch">{t('pitch')}</p> : sentences.map((sentence) => <p key={sentence}>{sentence}</p>)}
      <Ways email={email} onEmail={setEmail} onSent={() => setSent(true)} onDone={goOn} next={nextPath()} />
      {sentences.length === 0 && <TownPicture />}
    </>
  );
}
