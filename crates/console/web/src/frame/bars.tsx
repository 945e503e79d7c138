// Bars above the page: what is the matter with all of it.

import { useEffect, useState } from 'preact/hooks';
import { reached, viewAs } from '#api/client';
import { connected } from '#api/events';
import { invalidate } from '#api/resource';
import { Button } from '#ui/button';
import { Icon } from '#ui/icon';
import { askToSignIn } from './interventions';
import { t } from './messages';
import { navigating } from './router';
import { isSessionOver } from './session';

const PATIENCE = 4_000;
const RETRY_EVERY = 5_000;

/** Says that the server is not reached, after more than a moment. Comes back by itself. */
export function OfflineBar() {
  const isAway = !reached.value || !connected.value;
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isAway) return setShown(false);
    const timer = setTimeout(() => setShown(true), PATIENCE);
    return () => clearTimeout(timer);
  }, [isAway]);
  useEffect(() => {
    if (reached.value) return undefined;
    const timer = setInterval(() => void fetch('/healthz').then(() => { reached.value = true; invalidate('all'); }, () => undefined), RETRY_EVERY);
    return () => clearInterval(timer);
  }, [reached.value]);
  if (!isShown) return null;
  return <div class="bar bar-warn" role="status"><Icon name="warn" /><span>{reached.value ? t('eventsLost') : t('offlineBar')}</span></div>;
}

/** Says that the session has ended, where that interrupts nobody. */
export function SessionBar() {
  if (!isSessionOver.value) return null;
  return (
    <div class="bar bar-warn" role="status">
      <Icon name="key" /><span>{t('sessionOver')}</span>
      <Button size="small" onClick={() => void askToSignIn()}>{t('signIn')}</Button>
    </div>
  );
}

/** Says that the person looks at the workspace as somebody else. */
export function ViewAsBar() {
  const as = viewAs.value;
  if (as === null) return null;
  return (
    <div class="bar bar-ask" role="status">
      <Icon name="eye" /><span>{t('viewingAs', { role: t(`role_${as}`) })}</span>
      <Button size="small" onClick={() => { viewAs.value = null; }}>{t('stopViewing')}</Button>
    </div>
  );
}

/** A line at the top while the next page is loaded. */
export function NavigationProgress() {
  return <div class={`navigation-progress ${navigating.value ? 'is-shown' : ''}`} aria-hidden="true" />;
}
