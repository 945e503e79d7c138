// The lines of code around the error of a run, and what the run was given.

import { useMemo } from 'preact/hooks';
import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import { Card, Code, Json, languageOf } from '#ui';
import { t } from './messages';
import { placeIn, placeQuery, useOriginal } from './original';

type Run = Schemas['Run'];

/** Lines shown before and after the one with the error. */
const AROUND = 2;

/** Shows the code around the place that the error names, of the version that ran. Nothing, if the person may not read it. */
export function ErrorCode({ ws, run }: { ws: string; run: Run }) {
  const place = useMemo(() => placeIn([run.errorMessage, run.explanation?.why ?? null, run.explanation?.next ?? null]), [run]);
  const id = place === null ? null : run.version?.id ?? null;
  const version = useResource('/v1/apps/{id}/versions/{versionId}', id === null ? null : { path: { id: run.appId, versionId: id } });
  const text = place === null ? undefined : version.data?.files[place.file];
  if (place === null || text === undefined) return null;
  const lines = text.split('\n');
  const from = Math.max(0, place.line - 1 - AROUND);
  const excerpt = lines.slice(from, place.line + AROUND).join('\n');
  const link = <a class="link" href={`/w/${ws}/apps/${run.appId}/code?${placeQuery(run.id, [`${place.file}:${place.line}:${place.column}`])}`}>{t('openEditor')}</a>;
  return (
    <Card title={<code>{place.file}:{place.line}</code>} aside={link}>
      <Code label={place.file} language={languageOf(place.file)} value={excerpt} firstLine={from + 1} problem={{ line: place.line - from, column: place.column, message: run.errorMessage ?? '' }} height="short" />
    </Card>
  );
}

/** Shows the input of a run that failed, as long as its dead letter has it. */
export function RunInput({ ws, run }: { ws: string; run: Run }) {
  const { isKnown, value } = useOriginal(ws, run);
  if (!isKnown) return null;
  return <Card title={t('input')}><div class="card-body"><Json value={value} label={t('input')} /></div></Card>;
}
