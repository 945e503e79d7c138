// Importing a workflow: its export, what an app would keep of it, and the app.

import { useMemo, useState } from 'preact/hooks';
import { api } from '#api/client';
import { invalidate } from '#api/resource';
import type { Schemas } from '#api/types';
import { Page, discardUnsaved, navigate, toast, useAction, useUnsaved, type RouteProps } from '#frame';
import { Button, Card, Notice, ProblemView, TextField } from '#ui';
import { fieldErrorOf, type FieldName } from './field-words';
import { t } from './messages';
import { Needs, Overview, Secrets, Warnings } from './report';
import { mayNotImport } from './rights';
import { prepareSource, type Prepared } from './source';
import { SourceField, type TakenFile } from './source-field';
import { Steps } from './steps';

const NAME = { min: 2, max: 60 };

export default function NewImportPage({ params: { ws } }: RouteProps<'/w/:ws/imports/new'>) {
  const refusal = mayNotImport();
  return (
    <Page title={t('importWorkflow')} lead={t('newLead')} crumbs={[{ label: t('apps'), href: `/w/${ws}/apps` }, { label: t('title'), href: `/w/${ws}/imports` }]}>
      {refusal === null ? <Form ws={ws} /> : <Notice tone="warn"><p>{refusal}</p></Notice>}
    </Page>
  );
}

/** A report, and the text that it was made of. */
type Analyzed = Schemas['AnalyzedImport'] & { readonly source: string };

function useForm() {
  const [pasted, setPasted] = useState('');
  const [file, setFile] = useState<TakenFile | null>(null);
  const [analyzed, setAnalyzed] = useState<Analyzed | null>(null);
  const [name, setName] = useState('');
  const text = file?.text ?? pasted;
  const prepared = useMemo(() => prepareSource(text), [text]);
  const source = 'source' in prepared ? prepared.source : null;
  return {
    pasted, file, name, setName, prepared, source, isEmpty: text.trim() === '',
    // A report belongs to the text that it was made of.
    report: analyzed?.source === source ? analyzed : null,
    paste: (next: string) => setPasted(next),
    take: (next: TakenFile | null) => setFile(next),
    show: (next: Analyzed) => {
      setAnalyzed(next);
      setName(next.report.name.trim().slice(0, NAME.max));
    },
  };
}

function sourceProblem(prepared: Prepared): string | null {
  if ('source' in prepared) return null;
  return prepared.problem === 'json' ? t('notJson') : t('tooLong', { length: prepared.length });
}

function Form({ ws }: { ws: string }) {
  const form = useForm();
  const { source, report } = form;
  // An export may have secrets in it, so that no browser keeps it.
  useUnsaved(!form.isEmpty);
  const analyze = useAction(async () => {
    if (source === null) return;
    form.show({ ...(await api.post('/v1/workspaces/{ws}/imports/analyze', { path: { ws }, body: { source } })), source });
  }, { shows: 'inline' });
  const create = useAction(async () => {
    if (source === null) return;
    const name = form.name.trim();
    const made = await api.post('/v1/workspaces/{ws}/imports', { path: { ws }, body: { source, ...(name === '' ? {} : { name }) } });
    discardUnsaved();
    invalidate(['app', 'automation']);
    toast(t('createdNow', { name: made.name }));
    await navigate(`/w/${ws}/imports/${made.id}`);
  }, { shows: 'inline' });
  const problem = create.problem ?? analyze.problem;
  const refused = fieldErrorOf(problem);
  const errorOf = (field: FieldName) => (refused?.field === field ? refused.text : null);
  const broken = sourceProblem(form.prepared);
  const unavailable = form.isEmpty ? t('sourceFirst') : broken;
  const submit = (event: Event) => {
    event.preventDefault();
    if (unavailable === null) void (report === null ? analyze.run() : create.run());
  };
  return (
    <form class="imports-new" noValidate onSubmit={submit}>
      <SourceField pasted={form.pasted} file={form.file} prepared={form.prepared} error={broken ?? errorOf('source')} onPaste={form.paste} onTake={form.take} />
      {report === null
        ? <div class="imports-actions"><Button type="submit" variant="primary" busy={analyze.busy} unavailable={unavailable}>{t('analyze')}</Button><Button variant="plain" href={`/w/${ws}/imports`}>{t('cancel')}</Button></div>
        : <Analysis ws={ws} report={report} name={form.name} onName={form.setName} error={errorOf('name')} busy={create.busy} />}
      {problem && refused === null && <ProblemView problem={problem} />}
    </form>
  );
}

interface AnalysisProps {
  readonly ws: string;
  readonly report: Schemas['AnalyzedImport'];
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly error: string | null;
  readonly busy: boolean;
}

function Analysis({ ws, report: { report, context }, name, onName, error, busy }: AnalysisProps) {
  const unavailable = !report.canCreate ? t('cannotCreate') : name.trim().length === 1 ? t('nameFirst') : null;
  return (
    <>
      <Warnings warnings={report.warnings} tone={report.canCreate ? 'warn' : 'bad'} />
      <div class="imports-cards">
        <Overview report={report} />
        <Needs report={report} context={context} />
        <Secrets report={report} />
      </div>
      <Card title={t('newApp')}>
        <div class="card-body imports-stack">
          <TextField label={t('name')} hint={t('nameHint')} value={name} onInput={onName} error={error} maxlength={NAME.max} autocomplete="off" />
          <p class="muted">{t('createHint')}</p>
          <div class="imports-actions">
            <Button type="submit" variant="primary" busy={busy} unavailable={unavailable}>{t('create')}</Button>
            <Button variant="plain" href={`/w/${ws}/imports`}>{t('cancel')}</Button>
          </div>
        </div>
      </Card>
      <Steps items={report.items} totals={report.totals} />
    </>
  );
}
