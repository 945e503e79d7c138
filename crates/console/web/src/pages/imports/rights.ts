import { hasRole, isReadOnly } from '#frame';
import { t } from './messages';

/** Returns why the person may not import workflows, or `null`. */
export function mayNotImport(): string | null {
  if (isReadOnly.value) return t('readOnly');
  return hasRole('builder') ? null : t('mayNotImport');
}
