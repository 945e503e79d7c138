// The versions of an app.

import { useState } from 'preact/hooks';
import { useList } from '#api/list';
import type { RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Empty, List, Time, type Column } from '#ui';
import { AppPage, missingRight, type App } from '../app-page';
import { Current, Trust } from '../status';
import type { Version } from './find';
import { t } from './messages';
import { Rollbacks } from './roll-back';

export default function VersionsPage({ params: { ws, id } }: RouteProps<'/w/:ws/apps/:id/versions'>) {
  return <AppPage ws={ws} id={id} part="versions">{(app) => <Versions ws={ws} app={app} />}</AppPage>;
}

function Versions({ ws, app }: { ws: string; app: App }) {
  const at = `/w/${ws}/apps/${app.id}`;
  const list = useList('/v1/apps/{id}/versions', { path: { id: app.id } }, { on: [`app:${app.id}`] });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const numbers = list.items.filter((version) => chosen.has(version.id)).map((version) => version.number).sort((a, b) => a - b);
  const [earlier, later] = numbers;
  const isPair = numbers.length === 2 && earlier !== undefined && later !== undefined;
  const compare = <Button size="small" href={isPair ? `${at}/versions/${later}?compare=${earlier}` : undefined} unavailable={isPair ? null : t('chooseTwo')}>{isPair ? t('compareTwo', { earlier, later }) : t('compare')}</Button>;
  const write = <Button variant="primary" icon="edit" href={`${at}/code`} unavailable={missingRight(app, 'can_edit')}>{t('writeCode')}</Button>;
  return (
    <>
      <List
        label={t('versions')} list={list} columns={columns()} id={(version) => version.id} href={(version) => `${at}/versions/${version.number}`}
        selection={{ ids: chosen, onChange: setChosen, actions: compare }}
        empty={<Empty title={t('none')} action={write}><p>{t('noneBody')}</p></Empty>}
      />
      <Rollbacks app={app} />
    </>
  );
}

function columns(): readonly Column<Version>[] {
  return [
    { key: 'summary', header: t('version'), isMain: true, cell: (version) => <span class="version-name"><b>{formatNumber(version.number)}</b> {version.summary}</span> },
    { key: 'current', header: t('state'), cell: (version) => (version.isCurrent ? <Current /> : version.runnable ? null : <span class="muted">{t('notRunnable')}</span>) },
    { key: 'trust', header: t('trust'), cell: (version) => <Trust score={version.trustScore} band={version.trustBand} /> },
    { key: 'kind', header: t('origin'), hide: 'tablet', cell: (version) => <span class="muted">{t(`kind_${version.kind}`)}</span> },
    { key: 'by', header: t('by'), hide: 'phone', cell: (version) => <span class="muted">{version.createdByName ?? t('somebodyGone')}</span> },
    { key: 'when', header: t('when'), align: 'end', cell: (version) => <span class="muted"><Time at={version.createdAt} /></span> },
  ];
}
