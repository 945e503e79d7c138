// One version: what it is, and how it differs from another.

import { useMemo } from 'preact/hooks';
import { useList } from '#api/list';
import { query, setQuery, useCommands, navigate, type RouteProps } from '#frame';
import { formatNumber } from '#i18n';
import { Button, Card, Copyable, Empty, Facts, Loaded, Select, Time, objectItems } from '#ui';
import { AppPage, missingRight, useApp, type App } from '../app-page';
import { DifferenceList } from '../code/difference-list';
import { differencesBetween } from '../differences';
import { Current, Trust } from '../status';
import { TrustReasons } from '../trust-reasons';
import { useVersion, type VersionWithContent } from './find';
import { FileDiffs } from './file-diffs';
import { useRollBack } from './roll-back';
import { t } from './messages';

type Props = RouteProps<'/w/:ws/apps/:id/versions/:number'>;

export default function VersionPage({ params: { ws, id, number } }: Props) {
  const version = useVersion(id, Number(number));
  const app = useApp(id).data;
  const missing = app ? missingRight(app, 'can_edit') : null;
  const refusal = missing ?? (version.data?.runnable === false ? t('filesDeleted', { number }) : null);
  const at = `/w/${ws}/apps/${id}`;
  const reuse = () => void navigate(`${at}/code?from=${number}`);
  const back = useRollBack(app, version.data, version.refresh);
  const isEarlier = () => version.data !== undefined && !version.data.isCurrent && refusal === null;
  useCommands([{ id: 'apps.reuse', label: t('reuse'), when: isEarlier, run: reuse }, { id: 'apps.rollback', label: t('rollBackTo'), when: isEarlier, run: () => void back.run() }]);
  const items = version.data ? objectItems(`/v1/apps/${id}/versions/${version.data.id}`, version.data) : [];
  return (
    <AppPage
      ws={ws} id={id} part="versions" isWide items={items}
      actions={version.data && !version.data.isCurrent && (
        <>
          <Button unavailable={refusal} onClick={reuse}>{t('reuse')}</Button>
          <Button variant="primary" icon="replay" busy={back.busy} unavailable={refusal} onClick={() => void back.run()}>{t('rollBackTo')}</Button>
        </>
      )}
    >
      {(shown) => (version.error?.code === 'version_not_found'
        ? <Empty title={t('notFound', { number })} action={<Button href={`${at}/versions`}>{t('allVersions')}</Button>} />
        : <Loaded resource={version} lines={10}>{(data) => <Detail ws={ws} app={shown} version={data} />}</Loaded>)}
    </AppPage>
  );
}

function Detail({ ws, app, version }: { ws: string; app: App; version: VersionWithContent }) {
  const compared = comparedNumber(version);
  const other = useVersion(app.id, compared);
  return (
    <>
      <div class="version-head">
        <h2>{t('titleOf', { number: version.number })} {version.isCurrent && <Current />}</h2>
        <p class="version-summary">{version.summary}</p>
        <Facts
          facts={[
            [t('trust'), <Trust score={version.trustScore} band={version.trustBand} />],
            [t('origin'), t(`kind_${version.kind}`)],
            [t('by'), version.createdByName ?? t('somebodyGone')],
            [t('when'), <Time at={version.createdAt} />],
            [t('hash'), <Copyable value={version.bundleHash} shown={version.bundleHash.slice(0, 12)} />],
          ]}
        />
      </div>
      {!version.runnable && <p class="muted"><b>{t('filesDeleted', { number: version.number })}.</b> {t('filesDeletedBody')}</p>}
      {missingRight(app, 'can_edit') === null && !version.isCurrent && version.runnable && <p class="muted">{t('reuseHint')} <a class="link" href={`/w/${ws}/apps/${app.id}/code?from=${version.number}`}>{t('reuse')}</a></p>}
      <CompareWith app={app} version={version} compared={compared} />
      {compared === null
        ? <Sides before={null} after={version} />
        : <Loaded resource={other} lines={8}>{(data) => <Sides before={data} after={version} />}</Loaded>}
    </>
  );
}

/** Returns the number of the version to compare with: that of the address, else the one before. */
function comparedNumber({ number }: VersionWithContent): number | null {
  const wanted = Number(query.value.get('compare'));
  if (Number.isInteger(wanted) && wanted > 0 && wanted !== number) return wanted;
  return number > 1 ? number - 1 : null;
}

function CompareWith({ app, version, compared }: { app: App; version: VersionWithContent; compared: number | null }) {
  const list = useList('/v1/apps/{id}/versions', { path: { id: app.id }, query: { limit: 200 } }, { on: [`app:${app.id}`] });
  const others = list.items.filter(({ number }) => number !== version.number);
  if (compared === null || others.length === 0) return null;
  const options = others.map(({ number, summary }) => ({ value: String(number), label: t('option', { number, summary }) }));
  const known = options.some(({ value }) => value === String(compared)) ? options : [...options, { value: String(compared), label: formatNumber(compared) }];
  return <div class="version-compare"><Select label={t('compareWith')} value={String(compared)} onChange={(value) => setQuery({ compare: value })} options={known} /></div>;
}

function Sides({ before, after }: { before: VersionWithContent | null; after: VersionWithContent }) {
  const differences = useMemo(() => (before === null ? [] : differencesBetween(before.manifest, after.manifest)), [before, after]);
  return (
    <>
      <div class="version-columns">
        {before && <Card title={t('permissions', { from: before.number, to: after.number })}><div class="card-body"><DifferenceList differences={differences} /></div></Card>}
        {after.runnable && <Card title={t('trust')}><div class="card-body"><TrustReasons version={after} /></div></Card>}
      </div>
      <FileDiffs before={before} after={after} />
    </>
  );
}
