// Names of the roles.

import { t } from './messages';
import type { Role } from './session';

/** Returns the word for a role. */
export function roleText(role: Role): string {
  return t(`role_${role}`);
}
