// Why a run ended as it did, in words first, then what shows it, then what can be done.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { hasRole, isReadOnly, navigate, useAction } from '#frame';
import { locale } from '#i18n';
import { Button, Loaded, TextField, lineAnchor } from '#ui';
import { t } from './messages';
import { placeQuery } from './original';

type Run = Schemas['Run'];
type Answer = Schemas['RunAnswer'];
interface Place {
  readonly ws: string;
  readonly run: Run;
}

export function Explanation({ ws, run }: Place) {
  const answer = useResource('/v1/runs/{id}/ask', { path: { id: run.id }, query: { locale: locale.value } }, { on: [`run:${run.id}`] });
  const [asked, setAsked] = useState<Answer | null>(null);
  return (
    <section class="why" aria-label={t('why')}>
      <Loaded resource={answer} lines={6}>
        {(given) => (
          <>
            <div class="prose">
              <h2>{given.headline}</h2>
              <p class="why-cause">{given.why}</p>
              <p>{given.next}</p>
            </div>
            <Fixes ws={ws} run={run} answer={given} />
            <Causes answer={given} />
            {asked?.answer && <div class="why-answer" role="status"><p>{asked.answer}</p></div>}
            {given.source !== 'rules' && <Ask run={run} onAnswer={setAsked} />}
          </>
        )}
      </Loaded>
    </section>
  );
}

/** Buttons for what may help. */
function Fixes({ ws, run, answer: { fix, suggestion, whatChanged, why, next, evidence } }: Place & { answer: Answer }) {
  const mayBuild = hasRole('builder') && !isReadOnly.value;
  const plan = useAction(async () => {
    const { changeId } = await api.post('/v1/runs/{id}/change', { path: { id: run.id }, body: {} });
    await navigate(`/w/${ws}/apps/${run.appId}/changes/${changeId}`);
  });
  const app = `/w/${ws}/apps/${run.appId}`;
  const good = whatChanged.lastGood?.version?.number;
  const number = run.version?.number;
  return (
    <div class="why-actions">
      {suggestion && <Button variant="primary" busy={plan.busy} unavailable={mayBuild ? null : t('mayNotBuild')} onClick={() => void plan.run()}>{t('planChange', { host: suggestion.domain })}</Button>}
      {fix?.kind === 'retry' && <Button variant="primary" icon="replay" href={`/w/${ws}/runs/${run.id}/replay`}>{t('retryNow')}</Button>}
      {fix?.kind === 'rollback' && <Button variant="primary" href={`${app}/versions`}>{fix.versionNumber == null ? t('rollBack') : t('rollBackTo', { number: fix.versionNumber })}</Button>}
      {fix?.kind === 'edit_app' && <Button variant="primary" icon="edit" href={`${app}/code?${placeQuery(run.id, [run.errorMessage, why, next, ...evidence])}`}>{t('editApp')}</Button>}
      {fix?.kind === 'reconnect' && <Button variant="primary" href={`/w/${ws}/connections`}>{t('reconnect')}</Button>}
      {good != null && number != null && good !== number && <Button href={`${app}/versions/${number}?compare=${good}`}>{t('compare', { from: good, to: number })}</Button>}
    </div>
  );
}

const EVIDENCE = /^#(\d+) \S+ (.*)$/s;

function Causes({ answer: { evidence, whatChanged } }: { answer: Answer }) {
  if (evidence.length === 0 && whatChanged.lines.length === 0) return null;
  return (
    <details class="why-causes">
      <summary>{t('evidence', { count: evidence.length + whatChanged.lines.length })}</summary>
      {whatChanged.lines.length > 0 && <ul class="why-changes">{whatChanged.lines.map((line) => <li key={line}>{line}</li>)}</ul>}
      <ul class="why-lines">
        {evidence.map((line) => {
          const [, number, text] = EVIDENCE.exec(line) ?? [];
          return <li key={line}>{number === undefined ? line : <a href={`#${lineAnchor(Number(number))}`}>{text}</a>}</li>;
        })}
      </ul>
    </details>
  );
}

function Ask({ run, onAnswer }: { run: Run; onAnswer: (answer: Answer) => void }) {
  const [question, setQuestion] = useState('');
  const ask = useAction(async () => {
    onAnswer(await api.post('/v1/runs/{id}/ask', { path: { id: run.id }, body: { question: question.trim(), locale: locale.value } }));
    setQuestion('');
  });
  return (
    <form class="why-ask" onSubmit={(event) => { event.preventDefault(); if (question.trim() !== '') void ask.run(); }}>
      <TextField label={t('ask')} isLabelHidden placeholder={t('askHint')} value={question} onInput={setQuestion} maxlength={400} />
      <Button type="submit" busy={ask.busy}>{t('ask')}</Button>
    </form>
  );
}
