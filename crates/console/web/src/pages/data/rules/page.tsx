// The rules of a table: who may do what with which rows, and a place to try them.

import { useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import type { Schemas } from '#api/types';
import { discardUnsaved, query, setQuery, toast, useAction, useCommands, useSeen, useUnsaved, type RouteProps } from '#frame';
import { Button, CopyCall, Empty, JsonEditor, Notice, ProblemView, Segments, TextArea, confirm, parseJson } from '#ui';
import { TablePage, adminRefusal, type Project, type Table } from '../project/frame';
import { tablePrecondition } from '../project/precondition';
import { t } from './messages';
import { RuleLine } from './rule-line';
import { MAX_RULES, hasLongNumber, isSameRule, newRule, opensToAnyone, type Rule } from './rule';
import { Tester } from './tester';

type Form = 'menus' | 'sentences' | 'json';
/** What a person has changed, in the form in which they did. */
type Draft = { readonly form: 'menus'; readonly rules: readonly Rule[] } | { readonly form: 'sentences' | 'json'; readonly text: string };

export default function Rules({ params: { ws, project, table } }: RouteProps<'/w/:ws/data/:project/:table/rules'>) {
  return <TablePage ws={ws} id={project} table={table}>{(loaded, found) => <Content project={loaded} table={found} />}</TablePage>;
}

function Content({ project, table }: { project: Project; table: Table }) {
  const [tested, setTested] = useState<Schemas['PolicyVerdict'] | null>(null);
  return (
    <div class="data-rules">
      <Policy project={project} table={table} verdict={tested} />
      <Tester project={project} table={table} verdict={tested} onVerdict={setTested} />
    </div>
  );
}

const plain = ({ sentence: _, migrated: __, ...rule }: Rule) => rule;
const sentencesOf = (rules: readonly Rule[]) => rules.map(({ sentence }) => sentence ?? '').join('\n');
const jsonOf = (rules: readonly Rule[]) => JSON.stringify(rules.map(plain), null, 2);

function formOf(wanted: string | null): Form {
  return wanted === 'sentences' || wanted === 'json' ? wanted : 'menus';
}

function Policy({ project, table, verdict }: { project: Project; table: Table; verdict: Schemas['PolicyVerdict'] | null }) {
  const saved = table.rules;
  const [draft, setDraft] = useState<Draft | null>(null);
  const form = draft?.form ?? formOf(query.value.get('form'));
  const refusal = adminRefusal(project);
  const rules = draft?.form === 'menus' ? draft.rules : saved;
  const text = draft !== null && draft.form !== 'menus' ? draft.text : form === 'sentences' ? sentencesOf(saved) : jsonOf(saved);
  const isDirty = draft !== null && (draft.form === 'menus' ? draft.rules.length !== saved.length || draft.rules.some((rule, index) => { const old = saved[index]; return !old || !isSameRule(rule, old); }) : draft.text !== (draft.form === 'sentences' ? sentencesOf(saved) : jsonOf(saved)));
  const parsed = form === 'json' ? parseJson(text) : null;
  const body = form === 'menus' ? { rules: rules.map(plain) } : form === 'sentences' ? { sentences: text.split('\n').map((line) => line.trim()).filter((line) => line !== '') } : { rules: (parsed && 'value' in parsed ? parsed.value : []) as Rule[] };
  const seen = useSeen({ rules: saved.map(plain), sentences: sentencesOf(saved).split('\n') }, isDirty, table);
  useUnsaved(isDirty, { form: 'rules', value: draft, restore: setDraft, seen });
  const save = useAction(async () => {
    if (!(await seen.mayOverwrite(body, () => setDraft(null)))) return;
    const opened = form === 'sentences' ? [] : opensToAnyone(saved, body.rules as readonly Rule[]);
    if (opened.length > 0 && !(await confirm({ title: t('opensTitle'), body: t('opensBody'), action: t('save'), tone: 'bad', typed: table.name }))) return;
    await api.put('/v1/backend/projects/{projectId}/tables/{table}/policy', { path: { projectId: project.id, table: table.name }, body }, tablePrecondition(project, table, seen.precondition().ifMatch));
    setDraft(null);
    discardUnsaved();
    invalidate(['policy', `project:${project.id}`]);
    toast(t('saved'));
  }, { shows: 'inline' });
  const setRules = (next: readonly Rule[]) => setDraft({ form: 'menus', rules: next });
  const add = () => setRules([...rules, newRule(rules)]);
  useCommands([{ id: 'rules.add', label: t('addRule'), keys: 'n', when: () => refusal === null && form === 'menus' && rules.length < MAX_RULES, run: add }]);
  // Only the sentences have numbers as they were written.
  const invalid = parsed && 'error' in parsed ? parsed.error : form === 'menus' && rules.some((rule) => rule.actions.length === 0) ? t('actionFirst') : form !== 'sentences' && hasLongNumber(body.rules) ? t('longNumber') : null;
  return (
    <section class="data-policy" aria-label={t('rules')}>
      {table.publicRead && <Notice tone="warn"><p>{t('publicNotice')}</p></Notice>}
      {refusal !== null && <Notice><p>{refusal}</p></Notice>}
      <div class="filter-bar">
        <Segments<Form>
          label={t('form')} value={form} options={[{ value: 'menus', label: t('formMenus') }, { value: 'sentences', label: t('formSentences') }, { value: 'json', label: t('formJson') }]}
          onChange={(next) => { if (isDirty) toast(t('saveFirst'), { tone: 'bad' }); else { setDraft(null); setQuery({ form: next === 'menus' ? null : next }); } }}
        />
        {form === 'menus' && refusal === null && <Button size="small" icon="plus" command="rules.add" unavailable={rules.length >= MAX_RULES ? t('rulesMany', { count: MAX_RULES }) : null} onClick={add}>{t('addRule')}</Button>}
      </div>
      {form === 'menus' && (rules.length === 0
        ? <Empty title={t('none')} action={refusal === null && <Button variant="primary" icon="plus" onClick={add}>{t('addRule')}</Button>}><p>{t('noneBody')}</p></Empty>
        : (
          <ol class="data-rule-list">
            {rules.map((rule, index) => (
              <RuleLine
                key={rule.id} rule={rule} columns={table.columns} isReadOnly={refusal !== null} verdict={isDirty ? undefined : verdict?.rules.find(({ id }) => id === rule.id)} isDeciding={!isDirty && verdict?.rule === rule.id}
                onChange={(next) => setRules(next === null ? rules.toSpliced(index, 1) : rules.with(index, next))}
              />
            ))}
          </ol>
        ))}
      {form === 'sentences' && <TextArea label={t('sentences')} hint={t('sentencesHint')} value={text} onInput={(value) => setDraft({ form: 'sentences', text: value })} rows={8} spellcheck={false} readonly={refusal !== null} />}
      {form === 'json' && <JsonEditor label={t('formJson')} value={text} onChange={refusal === null ? (value) => setDraft({ form: 'json', text: value }) : undefined} />}
      {seen.notice(save.busy)}
      {save.problem && <ProblemView problem={save.problem} />}
      {isDirty && (
        <div class="data-savebar">
          <span>{t('unsaved')}</span>
          <CopyCall call={{ method: 'PUT', url: `/v1/backend/projects/${project.id}/tables/${table.name}/policy`, body }} />
          <Button onClick={() => setDraft(null)}>{t('discard')}</Button>
          <Button variant="primary" busy={save.busy} unavailable={refusal ?? invalid} onClick={() => void save.run()}>{t('save')}</Button>
        </div>
      )}
    </section>
  );
}
