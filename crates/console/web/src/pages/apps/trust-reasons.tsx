// Why a version has its trust score: each point that is missing, in a sentence.

import type { Schemas } from '#api/types';
import { formatNumber } from '#i18n';
import { t } from './messages';
import { Trust } from './status';
import { explainScore, type TrustFinding } from './trust';

type Version = Pick<Schemas['VersionWithContent'], 'trustScore' | 'trustBand' | 'manifest' | 'files'>;

export function TrustReasons({ version: { trustScore, trustBand, manifest, files } }: { version: Version }) {
  const findings = explainScore(trustScore, manifest, files);
  return (
    <div class="trust">
      <p><Trust score={trustScore} band={trustBand} /> <span class="muted">{t(`bandMeans_${trustBand}`)}</span></p>
      {findings === null && <p class="muted">{t('trustUnknown')}</p>}
      {findings?.length === 0 && <p class="muted">{t('trustFull')}</p>}
      {findings && findings.length > 0 && <ul>{findings.map((finding) => <li key={finding.rule}><b>{formatNumber(-finding.points)}</b> {sentence(finding)}</li>)}</ul>}
    </div>
  );
}

function sentence({ rule, count, example }: TrustFinding): string {
  switch (rule) {
    case 'hosts': return t('trust_hosts', { count });
    case 'hostsWrite': return t('trust_hostsWrite', { count });
    case 'connections': return t('trust_connections', { count });
    case 'secretsClear': return t('trust_secretsClear', { count });
    case 'projectsWrite': return t('trust_projectsWrite', { count });
    case 'projectsWhole': return t('trust_projectsWhole', { count });
    case 'models': return t('trust_models');
    case 'eval': return t('trust_eval', { file: example });
    case 'function': return t('trust_function', { file: example });
    case 'import': return t('trust_import', { file: example });
    case 'proto': return t('trust_proto', { file: example });
    case 'undeclared': return t('trust_undeclared', { count, host: example });
    case 'size': return t('trust_size', { count });
  }
}
