// Why a version has its trust score: each point that is missing, in a sentence.

import type { Schemas } from '#api/types';
import { formatNumber } from '#i18n';
import { t } from './messages';
import { Trust } from './status';

type Version = Pick<Schemas['VersionWithContent'], 'trustScore' | 'trustBand' | 'trustReasons'>;

export function TrustReasons({ version: { trustScore, trustBand, trustReasons } }: { version: Version }) {
  return (
    <div class="trust">
      <p><Trust score={trustScore} band={trustBand} /> <span class="muted">{t(`bandMeans_${trustBand}`)}</span></p>
      {trustReasons === null && <p class="muted">{t('trustUnknown')}</p>}
      {trustReasons?.length === 0 && <p class="muted">{t('trustFull')}</p>}
      {trustReasons && trustReasons.length > 0 && <ul>{trustReasons.map((reason) => <li key={reason.rule}><b>{formatNumber(-reason.points)}</b> {sentence(reason)}</li>)}</ul>}
    </div>
  );
}

/** The language of the console may be another one than the browser asks for. */
function sentence({ rule, count, example }: Schemas['TrustReason']): string {
  switch (rule) {
    case 'hosts': return t('trust_hosts', { count });
    case 'hosts_write': return t('trust_hostsWrite', { count });
    case 'credential_headers': return t('trust_credentialHeaders', { count });
    case 'connections': return t('trust_connections', { count });
    case 'secrets_clear': return t('trust_secretsClear', { count });
    case 'projects_write': return t('trust_projectsWrite', { count });
    case 'projects_whole': return t('trust_projectsWhole', { count });
    case 'models': return t('trust_models');
    case 'eval': return t('trust_eval', { file: example ?? '' });
    case 'function': return t('trust_function', { file: example ?? '' });
    case 'import': return t('trust_import', { file: example ?? '' });
    case 'prototypes': return t('trust_proto', { file: example ?? '' });
    case 'undeclared': return t('trust_undeclared', { count, host: example ?? '' });
    case 'size': return t('trust_size', { count });
  }
}
