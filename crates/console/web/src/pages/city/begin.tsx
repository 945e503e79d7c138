// A workspace without apps: a plot with a crane, and three ways to begin.

import type { ComponentProps } from 'preact';
import { api } from '#api/client';
import { hasRole, isReadOnly, navigate, useAction } from '#frame';
import { Icon } from '#ui';
import { Post, Tree } from './art';
import { isometric, polygonPath } from './geometry/projection';
import { corners } from './geometry/town';
import { pathsOfKind } from './building';
import { t } from './messages';

const GROUND = polygonPath(corners({ x: -1, y: -1, w: 5.4, d: 5.6 }).map(isometric));
const STREET = polygonPath(corners({ x: -1, y: 3.7, w: 5.4, d: 0.9 }).map(isometric));
const TREES = [[-0.3, 0.2, 0], [3.9, 0.6, 0], [3.8, 3, 0]] as const;

export function Begin({ ws }: { ws: string }) {
  const mayBuild = hasRole('builder') && !isReadOnly.value;
  const place = (x: number, y: number) => `translate(${isometric([x, y, 0]).join(' ')})`;
  return (
    <section class="card city-begin">
      <svg class="city-plot" viewBox="-200 -110 400 300" aria-hidden="true">
        <path class="city-ground" d={GROUND} /><path class="city-street" d={STREET} />
        <Tree at={isometric(TREES[0])} />
        <g class="city-building">{pathsOfKind('site', false, isometric).map(({ paint, d }, index) => <path key={index} class={`city-${paint}`} d={d} />)}</g>
        {TREES.slice(1).map((tree) => <Tree key={tree[0]} at={isometric(tree)} />)}
        <g transform={place(0.4, 3.3)}><Post kind="webhook" isOff /></g>
      </svg>
      <div class="city-begin-text">
        <h2>{t('emptyTitle')}</h2>
        <p>{mayBuild ? t('emptyBody') : t('emptyWait')}</p>
        {mayBuild && (
          <ul class="city-ways">
            <li><a class="city-way" href={`/w/${ws}/apps/new?from=starter`}><Way icon="plus" title={t('wayStarter')} text={t('wayStarterText')} /></a></li>
            <li><a class="city-way" href={`/w/${ws}/apps/new?from=files`}><Way icon="copy" title={t('wayFiles')} text={t('wayFilesText')} /></a></li>
            <li><WebhookWay ws={ws} /></li>
          </ul>
        )}
      </div>
    </section>
  );
}

function Way({ icon, title, text }: { icon: NonNullable<ComponentProps<typeof Icon>['name']>; title: string; text: string }) {
  return <><Icon name={icon} /><span><b>{title}</b><small>{text}</small></span></>;
}

const RECEIVER = "export default {\n  async scheduled(event) {\n    console.log('Received', event.data);\n  },\n};\n";

/** Makes an app that logs what it receives, and its webhook: an automation needs an app, and there is none yet. */
function WebhookWay({ ws }: { ws: string }) {
  const make = useAction(async () => {
    const name = t('receiver');
    const app = await api.post('/v1/workspaces/{ws}/apps', { path: { ws }, body: { name, archetype: 'kiosk', files: { 'main.js': RECEIVER } } });
    const automation = await api.post('/v1/workspaces/{ws}/automations', { path: { ws }, body: { appId: app.id, name, retries: 0, trigger: { type: 'webhook', catchUp: null, catchUpMinutes: null, overlap: null } } });
    await navigate(`/w/${ws}/automations/${automation.id}/webhook`);
  });
  return (
    <button type="button" class="city-way" aria-busy={make.busy || undefined} aria-disabled={make.busy || undefined} onClick={() => void make.run()}>
      <Way icon="right" title={t('wayWebhook')} text={t('wayWebhookText')} />
    </button>
  );
}
