// Trying the rules: who does what to which row, and what comes of it.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { useAction } from '#frame';
import { Button, Card, CopyCall, JsonEditor, ProblemView, Select, Status, TextField, parseJson } from '#ui';
import { adminRefusal, type Project, type Table } from '../project/frame';
import { t } from './messages';
import { claimsOf } from './person';
import { ACTIONS, type Action } from './rule';

type Verdict = Schemas['PolicyVerdict'];
type Kind = Schemas['TrialCaller']['kind'];
type Which = 'all' | 'filter' | 'row';

interface TesterProps {
  readonly project: Project;
  readonly table: Table;
  readonly verdict: Verdict | null;
  readonly onVerdict: (verdict: Verdict | null) => void;
}

export function Tester({ project, table, verdict, onVerdict }: TesterProps) {
  const [kind, setKind] = useState<Kind>('visitor');
  const [claims, setClaims] = useState('{\n  "sub": "mia"\n}');
  const [keyId, setKeyId] = useState('');
  const [action, setAction] = useState<Action>('read');
  const [which, setWhich] = useState<Which>('all');
  const [filter, setFilter] = useState('');
  const [row, setRow] = useState('{}');
  const keys = useResource('/v1/backend/projects/{projectId}/keys', project.canAdmin ? { path: { projectId: project.id }, query: { limit: 200 } } : null, { on: ['project_key'] });
  const secretKeys = (keys.data ?? []).filter((key) => key.kind === 'secret' && key.revokedAt === null);
  const chosenKey = secretKeys.some(({ id }) => id === keyId) ? keyId : (secretKeys[0]?.id ?? '');
  // An insert needs the row; an update may have values beside the rows that it is about.
  const needsRow = action === 'insert' || which === 'row';
  const person = claimsOf(claims);
  const values = parseJson(row);
  const as: Schemas['TrialCaller'] = kind === 'visitor' ? { kind } : kind === 'person' ? { kind, claims: (person ?? {}) as Record<string, never> } : { kind, keyId: chosenKey };
  const body: Schemas['PolicyTrial'] = {
    action, as,
    ...(needsRow && 'value' in values ? { row: values.value as Record<string, never> } : {}),
    ...(action !== 'insert' && which === 'filter' && filter !== '' ? { filter } : {}),
  };
  const unavailable = adminRefusal(project)
    ?? (kind === 'person' && person === null ? t('claimsWrong') : kind === 'key' && chosenKey === '' ? t('noSecretKeys') : needsRow && 'error' in values ? values.error : action !== 'insert' && which === 'filter' && filter === '' ? t('filterFirst') : null);
  const test = useAction(async () => {
    onVerdict(null);
    onVerdict(await api.post('/v1/backend/projects/{projectId}/tables/{table}/policy/test', { path: { projectId: project.id, table: table.name }, body }));
  }, { shows: 'inline' });
  if (!project.canAdmin) return null;
  return (
    <Card title={t('tester')} aside={<CopyCall call={{ method: 'POST', url: `/v1/backend/projects/${project.id}/tables/${table.name}/policy/test`, body }} />}>
      <form class="card-body data-form" onSubmit={(event) => { event.preventDefault(); if (unavailable === null) void test.run(); }}>
        <Select<Kind> label={t('who')} value={kind} options={[{ value: 'visitor', label: t('visitor') }, { value: 'person', label: t('person') }, { value: 'key', label: t('secretKey') }]} onChange={setKind} />
        {kind === 'person' && <div class="field"><span class="data-field-label">{t('claims')}</span><JsonEditor label={t('claims')} value={claims} onChange={setClaims} height="short" /></div>}
        {kind === 'key' && secretKeys.length > 0 && <Select label={t('key')} value={chosenKey} options={secretKeys.map(({ id, name }) => ({ value: id, label: name }))} onChange={setKeyId} />}
        <Select<Action> label={t('does')} value={action} options={ACTIONS.map((one) => ({ value: one, label: t(`do_${one}`) }))} onChange={setAction} />
        {action !== 'insert' && <Select<Which> label={t('toWhich')} value={which} options={[{ value: 'all', label: t('anyRow') }, { value: 'filter', label: t('filteredRows') }, { value: 'row', label: action === 'update' ? t('withValues') : t('imaginedRow') }]} onChange={setWhich} />}
        {action !== 'insert' && which === 'filter' && <TextField label={t('filter')} hint={t('filterHint')} value={filter} onInput={setFilter} placeholder="id=eq.…" autocomplete="off" spellcheck={false} />}
        {needsRow && <div class="field"><span class="data-field-label">{t('row')}</span><JsonEditor label={t('row')} value={row} onChange={setRow} height="short" /></div>}
        <div><Button type="submit" variant="primary" icon="play" busy={test.busy} unavailable={unavailable}>{t('try')}</Button></div>
        {test.problem && <ProblemView problem={test.problem} />}
      </form>
      {verdict && <Result verdict={verdict} table={table} />}
    </Card>
  );
}

function Result({ verdict: { decision, reason, rule, rules, rows }, table }: { verdict: Verdict; table: Table }) {
  const sentence = (id: string) => table.rules.find((one) => one.id === id)?.sentence ?? id;
  const isAllowed = decision === 'allow';
  return (
    <div class="card-body data-verdict" role="status">
      <p><Status tone={isAllowed ? 'ok' : 'bad'} icon={isAllowed ? 'check' : 'shield'}>{isAllowed ? t('allowed') : t('denied')}</Status></p>
      <p>{reason}</p>
      {rules.length > 0 && (
        <ul class="data-tried">
          {rules.map(({ id, matched, reason: why, conditions }) => (
            <li key={id} class={id === rule ? 'is-deciding' : ''}>
              <span lang="en">{sentence(id)}</span>
              <small>{id === rule ? t('decides') : (why ?? (matched === null ? t('doesNotApply') : t('matches', { count: matched })))}</small>
              {conditions.map(({ column, finding }, index) => <small key={index} lang="en"><code>{column}</code>: {finding}</small>)}
            </li>
          ))}
        </ul>
      )}
      {rows.length > 0 && (
        <details>
          <summary>{t('rowsTried', { count: rows.length })}</summary>
          <ul class="data-tried-rows">
            {rows.map(({ id, decision: one, rule: by }) => <li key={id}><code>{id}</code><Status tone={one === 'allow' ? 'ok' : 'bad'} icon={one === 'allow' ? 'check' : 'cross'}>{one === 'allow' ? t('allowedBy', { rule: by ?? '' }) : t('denied')}</Status></li>)}
          </ul>
        </details>
      )}
    </div>
  );
}
