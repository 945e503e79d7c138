// The workflows of other tools that were imported.

import { useList } from '#api/list';
import type { Schemas } from '#api/types';
import { Page, type RouteProps } from '#frame';
import { Button, Empty, List, Time, type Column } from '#ui';
import { t } from './messages';
import { mayNotImport } from './rights';
import { Grades, ImportStatus, toolOf } from './status';

export default function Imports({ params: { ws } }: RouteProps<'/w/:ws/imports'>) {
  const list = useList('/v1/workspaces/{ws}/imports', { path: { ws } }, { on: ['app'] });
  const create = <Button variant="primary" icon="plus" href={`/w/${ws}/imports/new`} unavailable={mayNotImport()}>{t('importWorkflow')}</Button>;
  return (
    <Page title={t('title')} lead={t('lead')} crumbs={[{ label: t('apps'), href: `/w/${ws}/apps` }]} actions={create}>
      <List label={t('title')} list={list} columns={columns()} id={({ id }) => id} href={({ id }) => `/w/${ws}/imports/${id}`} empty={<Empty title={t('none')} action={create}><p>{t('noneBody')}</p></Empty>} />
    </Page>
  );
}

function columns(): readonly Column<Schemas['ImportSummary']>[] {
  return [
    { key: 'name', header: t('name'), isMain: true, cell: ({ name }) => name },
    { key: 'tool', header: t('tool'), cell: ({ format }) => <span class="muted">{toolOf(format)}</span> },
    { key: 'status', header: t('status'), cell: ({ status }) => <ImportStatus status={status} /> },
    { key: 'steps', header: t('steps'), hide: 'phone', cell: ({ totals }) => <Grades totals={totals} /> },
    { key: 'created', header: t('created'), align: 'end', cell: ({ createdAt }) => <span class="muted"><Time at={createdAt} /></span> },
  ];
}
