// Files of two versions side by side; on phones in one column.

import { Code, Diff, languageOf } from '#ui';
import { useNarrow } from '../narrow';
import { MANIFEST, changesBetween, sourceOf, textsOf, type Files } from '../source';
import type { VersionWithContent } from './find';
import { t } from './messages';

/** Without `before`, the files are shown as they are. */
export function FileDiffs({ before, after }: { before: VersionWithContent | null; after: VersionWithContent }) {
  const deleted = [after, before].find((version) => version?.runnable === false);
  // Of files that are deleted nobody can say how they differ.
  const shown = (version: VersionWithContent) => textsOf(sourceOf(deleted ? { ...version, files: {} } : version));
  const texts = shown(after);
  if (before === null) return <Files texts={texts} />;
  const originals = shown(before);
  const changes = changesBetween(originals, texts);
  if (changes.length === 0) return <p class="muted">{deleted ? t('filesDeleted', { number: deleted.number }) : t('sameFiles')}</p>;
  return (
    <section class="version-files">
      <h2>{t('changedFiles', { count: changes.length })}</h2>
      {deleted && <p class="muted">{t('filesDeleted', { number: deleted.number })}</p>}
      {changes.map(({ path, change }) => (
        <details key={path} open>
          <summary><code>{path}</code> <span class="muted">{t(`change_${change}`)}</span></summary>
          <FileDiff path={path} original={originals[path] ?? ''} changed={texts[path] ?? ''} labels={[t('titleOf', { number: before.number }), t('titleOf', { number: after.number })]} />
        </details>
      ))}
    </section>
  );
}

function FileDiff({ path, original, changed, labels }: { path: string; original: string; changed: string; labels: readonly [string, string] }) {
  const isNarrow = useNarrow();
  if (isNarrow) return <Code label={path} language={languageOf(path)} value={changed} original={original} />;
  return <Diff original={original} changed={changed} language={languageOf(path)} labels={labels} />;
}

function Files({ texts }: { texts: Files }) {
  const paths = Object.keys(texts).sort();
  return (
    <section class="version-files">
      <h2>{t('files')}</h2>
      {paths.map((path) => (
        <details key={path} open={path !== MANIFEST}>
          <summary><code>{path}</code></summary>
          <Code label={path} language={languageOf(path)} value={texts[path] ?? ''} />
        </details>
      ))}
    </section>
  );
}
