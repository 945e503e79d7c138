// The latest calls of a webhook.

import type { Schemas } from '#api/types';
import { formatBytes } from '#i18n';
import { Badge, Card, Empty, Status, Table, Time } from '#ui';
import { t } from './messages';
import type { Webhook } from './webhook';

type Delivery = Schemas['Delivery'];

export function Deliveries({ ws, webhook: { deliveries, refused } }: { ws: string; webhook: Webhook }) {
  return (
    <Card title={t('deliveries')} aside={<span>{t('live')}</span>}>
      {refused !== null && (
        <p class="card-body">
          <Status tone="bad" icon="cross">{t('refusedCalls', { count: refused.calls })}</Status>
          <span class="automations-reason muted">{t.find(`refused_${refused.code}`) ?? refused.code} · <Time at={refused.lastAt} /></span>
        </p>
      )}
      {deliveries.length === 0 && refused !== null ? null : deliveries.length === 0
        ? <Empty title={t('noDeliveries')}><p>{t('noDeliveriesBody')}</p></Empty>
        : <Table label={t('deliveries')} head={[t('when'), t('outcome'), t('run'), { text: t('size'), align: 'end' }]}>{deliveries.map((delivery) => <Row key={delivery.id} ws={ws} delivery={delivery} />)}</Table>}
    </Card>
  );
}

function Row({ ws, delivery: { receivedAt, status, code, runId, bytes, sample } }: { ws: string; delivery: Delivery }) {
  const isAccepted = status === 'accepted';
  return (
    <tr>
      <td><Time at={receivedAt} /> {sample && <Badge>{t('test')}</Badge>}</td>
      <td>
        <Status tone={isAccepted ? 'ok' : 'bad'} icon={isAccepted ? 'check' : 'cross'}>{t(`delivery_${status}`)}</Status>
        {code !== null && <p class="automations-reason muted">{t.find(`refused_${code}`) ?? code}</p>}
      </td>
      <td>{runId !== null && <a class="link" href={`/w/${ws}/runs/${runId}`}><code>{runId.slice(-8)}</code></a>}</td>
      <td class="is-end">{formatBytes(bytes)}</td>
    </tr>
  );
}
