// The address at which calls start an automation: how callers prove themselves, and what they sent last.

import { useResource } from '#api/resource';
import type { Schemas } from '#api/types';
import type { RouteProps } from '#frame';
import { Loaded, Notice } from '#ui';
import { AutomationPage, type Automation } from './automation-page';
import { Deliveries } from './deliveries';
import { FormSettings } from './form-settings';
import { t } from './messages';
import { Modes } from './modes';
import { Samples } from './samples';
import { WebhookSettings } from './webhook-settings';

export type Webhook = Schemas['WebhookWithDeliveries'];

/** Calls that no event reports, such as one whose hidden field was filled, are found by looking again. */
const LOOK_AGAIN = 5_000;

export function useWebhook(id: string) {
  return useResource('/v1/automations/{id}/webhook', { path: { id } }, { on: [`automation:${id}`, `automation-runs:${id}`, `delivery:${id}`], every: LOOK_AGAIN });
}

export default function WebhookPage({ params: { ws, id } }: RouteProps<'/w/:ws/automations/:id/webhook'>) {
  return (
    <AutomationPage ws={ws} id={id}>
      {({ automation, rights }) => (hasCalls(automation)
        ? rights.mayEdit ? <SetUp ws={ws} automation={automation} /> : <Notice>{t('mayNotSeeWebhook')}</Notice>
        : <Notice>{t('notCalled')}</Notice>)}
    </AutomationPage>
  );
}

function hasCalls({ trigger: { type } }: Automation): boolean {
  return type === 'webhook' || type === 'form';
}

function SetUp({ ws, automation }: { ws: string; automation: Automation }) {
  const webhook = useWebhook(automation.id);
  const isMissing = webhook.data === undefined && webhook.error?.status === 404;
  if (isMissing) return <Modes automation={automation} webhook={null} onChange={webhook.refresh} />;
  return (
    <Loaded resource={webhook}>
      {(data) => (
        <div class="automations-columns">
          <div class="automations-stack">
            <WebhookSettings ws={ws} webhook={data} onPatch={(changed) => webhook.set({ ...data, ...changed })} onChange={webhook.refresh} />
            <Deliveries ws={ws} webhook={data} />
            {data.form !== null && <FormSettings key={data.updatedAt} webhook={data} form={data.form} onChange={webhook.refresh} />}
          </div>
          <div class="automations-stack">
            <Samples webhook={data} />
            <Modes key={data.mode} automation={automation} webhook={data} onChange={webhook.refresh} />
          </div>
        </div>
      )}
    </Loaded>
  );
}
