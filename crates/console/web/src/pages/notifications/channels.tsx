// What the channels made of a notification.

import type { Schemas } from '#api/types';
import { t } from './messages';

type Delivery = Schemas['NotificationDelivery'];

/** Reasons that say no more than that there is no messenger, or not yet whether there is one. */
const UNTOLD: readonly Delivery['reason'][] = ['not_configured', 'pending'];

/** One line for each channel. The list itself is none, and a messenger is named only where there is one. */
export function Channels({ deliveries }: { deliveries: readonly Delivery[] }) {
  const shown = deliveries.filter(({ channel, reason }) => channel === 'email' || (channel === 'messenger' && !UNTOLD.includes(reason)));
  return <span class="notifications-channels">{shown.map((delivery) => <span key={delivery.channel}>{lineOf(delivery)}</span>)}</span>;
}

function lineOf({ channel, reason, recipients }: Delivery): string {
  const outcome = reason === null ? t('told', { count: recipients ?? 0 }) : t(`reason_${reason}`);
  return t(channel === 'messenger' ? 'byMessenger' : 'byEmail', { outcome });
}
